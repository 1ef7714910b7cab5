import Delta
import Foundation
import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Sends an attached file whose sent bytes have changed as a new generation of its session, as
/// deltas against the one before.
///
/// The old generation counts until a sidecar revision names the new one, which is put once every
/// byte of it is there.
struct GenerationSender {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  private var context: SyncContext { writer.context }

  /// Sends the local log as the next generation, and names it.
  func send(_ state: inout SessionState) async throws {
    guard let end = state.end else { return }
    let log = try state.requireView()
    try log.synchronize()
    var start = StreamOffset.zero
    let begun = writer.remote(state).segments(of: state.generation)
    if try begun.allSatisfy({ try $0.range.upperBound <= end && $0.matches(log) }) {
      start = writer.remote(state).mark(of: state.generation)
    } else {
      // The unfinished generation is of a file that has changed again, or under rules that have.
      try state.beginNextGeneration(redacting: try isRedactedAgain(state))
    }
    let generation = state.generation
    try writer.begin(&state)
    let basis = SentSignature(
      context.home, state.session, generation: state.entry.generation, upTo: state.entry.sent)
    let loose = try await writer.segmentWithoutBasis(state)
    // A generation counts only once it is whole, and a log that is rewritten between passes has to be
    // sent in one of them: so it has the whole time of a pass, from now on.
    let budget = writer.budget.renewed()
    if state.uploadState.generation == generation {
      try await sendChanged(start..<end, of: generation, log, within: budget, &state)
    } else if basis.signature.count == 0 || loose != nil || writer.lostFormerStream(state) != nil {
      try await sendPlain(start..<end, of: generation, log, within: budget, &state)
    } else {
      try await sendDelta(start..<end, of: generation, log, against: basis.signature, &state)
    }
    guard !state.isCutShort || writer.remote(state).mark(of: generation) == end else { return }
    try await name(generation, log, length: end, &state)
  }

  /// Whether an attached session is being redacted, and its file still holds what was sent before:
  /// then not the file has changed, but the rules.
  private func isRedactedAgain(_ state: SessionState) throws -> Bool {
    guard state.isAttached, state.uploadState.generation == state.generation,
      let replaced = state.uploadState.replaced, let log = state.log
    else { return false }
    do {
      let spans = try context.redaction.spans(replaced)
      return try begins(log.redacted(by: spans, state.sidecar.format), with: state)
    } catch let error as ReplicaError {
      // What was sent stays unless the file is known to hold it.
      context.logger.info("\(log.path) cannot be compared with what was sent: \(error)")
      return false
    }
  }

  /// Whether a log begins with the stream that was sent.
  private func begins(_ log: LocalStream, with state: SessionState) throws -> Bool {
    let sent = state.entry.sent
    let cover = writer.remote(state).cover(upTo: sent, of: state.entry.generation)
    return try cover.last?.range.upperBound == sent
      && cover.allSatisfy { try $0.isPart(of: log) }
  }

  private func sendPlain(
    _ range: Range<StreamOffset>, of generation: Int, _ log: LocalStream,
    within budget: PassBudget, _ state: inout SessionState
  ) async throws {
    var start = range.lowerBound
    while start < range.upperBound, state.sendsMore(within: budget) {
      start = try await writer.putPlain(
        start..<range.upperBound, of: generation, from: log, &state)
    }
  }

  /// Sends what another segment held, to its end.
  private func sendWhole(
    _ range: Range<StreamOffset>, of generation: Int, _ log: LocalStream,
    _ state: inout SessionState
  ) async throws {
    var start = range.lowerBound
    while start < range.upperBound {
      start = try await writer.putPlain(
        start..<range.upperBound, of: generation, from: log, &state)
    }
  }

  private func sendDelta(
    _ range: Range<StreamOffset>, of generation: Int, _ log: LocalStream,
    against signature: Signature,
    _ state: inout SessionState
  ) async throws {
    try await context.deltas.withUnits(1) { _ in
      // Another log may have had its turn first.
      let budget = writer.budget.renewed()
      let source = try GenerationSource(
        log, session: state.session, generation: generation, range: range, signature: signature,
        basis: try await sourceMap(state), storedLimit: context.segmentLimit,
        lengthLimit: context.limits.longestSegment,
        frameLength: context.objectLimit.frameLength)
      while let segment = try await source.next() {
        let name = segment.encoded.name
        if segment.copied * 2 < name.length {
          try await sendWhole(name.range, of: generation, log, &state)
        } else {
          try await writer.put(name.range, &state) { _ in segment.encoded }
        }
        if name.range.upperBound < range.upperBound {
          guard state.sendsMore(within: budget) else { return }
        }
      }
      try SentSignature.remove(context.home, state.session, generation: generation)
      var own = SentSignature(context.home, state.session, generation: generation, upTo: 0)
      if range.lowerBound == 0 {
        own.append(await source.takeBlocks())
      } else {
        // Earlier passes sent the beginning.
        let sent = writer.remote(state).cover(upTo: range.upperBound, of: generation)
        _ = try own.catchUp(with: sent, of: log)
      }
    }
  }

  /// Sends a log whose masks have changed: plain those segments that differ, so that nothing
  /// depends on objects with unmasked bytes; the others stay as they are.
  ///
  /// The basis of an attached file's delta may contain more than the delta copies, so it is
  /// replaced too.
  private func sendChanged(
    _ range: Range<StreamOffset>, of generation: Int, _ log: LocalStream,
    within budget: PassBudget, _ state: inout SessionState
  ) async throws {
    let map = try await sourceMap(state)
    var start = range.lowerBound
    for name in writer.remote(state).cover(upTo: state.entry.sent, of: state.entry.generation)
    where name.range.lowerBound == start && name.range.upperBound <= range.upperBound {
      guard state.sendsMore(within: budget) else { return }
      let isBare = name.kind == .delta && state.isAttached
      if try !isBare && name.matches(log) {
        try await writer.put(name.range, &state) { _ in
          try await writer.lane.copy(
            name, of: log, as: generation, from: map.sources(of: Range(name.range)))
        }
      } else {
        try await sendWhole(name.range, of: generation, log, &state)
      }
      start = name.range.upperBound
    }
    if start < range.upperBound {
      try await sendPlain(start..<range.upperBound, of: generation, log, within: budget, &state)
    }
  }

  /// Where the bytes of the sent generation are stored.
  private func sourceMap(_ state: SessionState) async throws -> SourceMap {
    let reader = context.reader
    var map = SourceMap(generation: state.entry.generation)
    for name in writer.remote(state).cover(upTo: state.entry.sent, of: state.entry.generation) {
      switch name.kind {
      case .plain: map.appendOwn(Int64(name.range.upperBound) - map.length)
      case .delta: try map.append(try await reader.instructions(of: name, in: writer.folder))
      }
    }
    return map
  }

  /// Puts the revision that makes a generation count.
  private func name(
    _ generation: Int, _ log: LocalStream, length: StreamOffset, _ state: inout SessionState
  ) async throws {
    guard writer.remote(state).mark(of: generation) == length else {
      throw ReplicaError(
        .missingBytes, "generation \(generation) of \(state.session) was not sent whole")
    }
    let previous = state.entry.generation
    if state.uploadState.generation != generation {
      if let name = try await writer.segmentWithoutBasis(state) {
        context.logger.warning(
          "\(state.session): the store lacks what \(name.fileName) copies from"
        )
      } else if try !begins(log, with: state) {
        // Otherwise the next generation has all of it: for example, an object was damaged.
        try state.keepFormerStream(until: context.now())
      }
    }
    state.entry.generation = generation
    state.entry.sent = length
    state.entry.merged = 0
    state.entry.signed = 0
    state.entry.link = try log.link(before: length)
    var sidecar = state.sidecar
    sidecar.redaction = log.redaction
    try await writer.putRevision(sidecar, &state)
    try SentSignature.remove(context.home, state.session, generation: previous)
  }
}
