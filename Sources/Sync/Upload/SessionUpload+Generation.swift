import Delta
import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog

/// An attached file of which bytes have changed that were sent already becomes a new generation of
/// its session, sent as deltas against the one before.
///
/// The remote keeps to the old one until a sidecar revision names the new one, which happens when
/// every byte of it is there.
extension SessionUpload {
  /// The generation of which the local log is.
  func wantedGeneration() throws -> Int {
    guard sidecar.source != nil else { return try local.generation(sidecar) }
    // The attacher's, and changed by this pass.
    return try local.generation(
      local.sidecar(device: context.device).sidecar)
  }

  /// Says that the local log is another generation than what was sent.
  func wantNextGeneration(after entry: ManifestEntry) throws {
    var (sidecar, _) = try local.sidecar(device: context.device)
    let highest = entry.segments.keys.map(\.generation).max() ?? 1
    let next = max(highest, entry.generation) + 1
    guard sidecar.source != nil else {
      return try local.note(local.redaction(sidecar) ?? [], generation: next)
    }
    sidecar.generation = next
    try sidecar.save(local.files.sidecar)
  }

  /// Sends the local log as the generation after the one that was sent, and names it.
  ///
  /// - Parameter end: where it ends for now, in stream bytes.
  func sendGeneration(
    _ log: LocalStream, upTo end: StreamOffset, _ entry: inout ManifestEntry
  ) async throws {
    var start = StreamOffset.zero
    let begun = remote(entry).segments(of: try wantedGeneration())
    if try begun.allSatisfy({ try $0.range.upperBound <= end && $0.matches(log) }) {
      start = remote(entry).mark(of: try wantedGeneration())
    } else {
      // What was begun is of a file that has changed again.
      try wantNextGeneration(after: entry)
    }
    let generation = try wantedGeneration()
    try begin(&entry)
    let basis = SentSignature(
      context.home, session, generation: entry.generation, upTo: entry.sent)
    if try local.sentNote()?.generation == generation {
      try await sendChanged(start..<end, of: generation, log, &entry)
    } else if basis.signature.count == 0 {
      try await sendPlain(start..<end, of: generation, log, &entry)
    } else {
      try await sendDelta(start..<end, of: generation, log, against: basis.signature, &entry)
    }
    try await name(generation, log, length: end, &entry)
  }

  private func sendPlain(
    _ range: Range<StreamOffset>, of generation: Int, _ log: LocalStream,
    _ entry: inout ManifestEntry
  ) async throws {
    var start = range.lowerBound
    while start < range.upperBound {
      let rest = start..<range.upperBound
      let segment = try await put(of: log, rest, &entry) { _ in
        try await lane.encode(
          log, session: session, generation: generation, range: rest,
          storedLimit: context.segmentLimit, frameLength: context.objectLimit.frameLength,
          format: sidecar.format)
      }
      start = segment.name.range.upperBound
    }
  }

  private func sendDelta(
    _ range: Range<StreamOffset>, of generation: Int, _ log: LocalStream,
    against signature: Signature,
    _ entry: inout ManifestEntry
  ) async throws {
    try await context.deltas.hold(1) { _ in
      let source = try GenerationSource(
        log, session: session, generation: generation, range: range, signature: signature,
        basis: try await sourceMap(entry), storedLimit: context.segmentLimit,
        frameLength: context.objectLimit.frameLength)
      while let segment = try await source.next() {
        let name = segment.encoded.name
        if segment.copied * 2 < name.length {
          try await sendPlain(name.range, of: generation, log, &entry)
        } else {
          try await put(of: log, name.range, &entry) { _ in segment.encoded }
        }
      }
      guard range.lowerBound == 0 else { return }
      try SentSignature.remove(context.home, session, generation: generation)
      var own = SentSignature(context.home, session, generation: generation, upTo: 0)
      own.append(await source.takeBlocks())
    }
  }

  /// Sends a log of which other bytes are masked than before: plain those segments in which they are,
  /// so that nothing needs the objects any more that have them bare, and of the others that they are
  /// as they were.
  ///
  /// What a delta of an attached file copies from may hold more than the copy shows: it goes too.
  private func sendChanged(
    _ range: Range<StreamOffset>, of generation: Int, _ log: LocalStream,
    _ entry: inout ManifestEntry
  ) async throws {
    let map = try await sourceMap(entry)
    var start = range.lowerBound
    for name in remote(entry).cover(upTo: entry.sent, of: entry.generation)
    where name.range.lowerBound == start && name.range.upperBound <= range.upperBound {
      let isBare = name.kind == .delta && sidecar.source != nil
      if try !isBare && name.matches(log) {
        try await put(of: log, name.range, &entry) { _ in
          try await lane.copy(
            name, of: log, as: generation, from: map.sources(of: Range(name.range)))
        }
      } else {
        try await sendPlain(name.range, of: generation, log, &entry)
      }
      start = name.range.upperBound
    }
    if start < range.upperBound {
      try await sendPlain(start..<range.upperBound, of: generation, log, &entry)
    }
  }

  /// Where the bytes of the generation that was sent are stored.
  private func sourceMap(_ entry: ManifestEntry) async throws -> SourceMap {
    let reader = RemoteReader(context.store)
    var map = SourceMap(generation: entry.generation)
    for name in remote(entry).cover(upTo: entry.sent, of: entry.generation) {
      switch name.kind {
      case .plain: map.appendOwn(Int64(name.range.upperBound) - map.length)
      case .delta: try map.append(try await reader.instructions(of: name, in: folder))
      }
    }
    return map
  }

  /// Segments of earlier generations that these copy from.
  func basis(of objects: [SegmentName], _ entry: ManifestEntry) async throws -> [SegmentName] {
    let reader = RemoteReader(context.store)
    var basis: Set<SegmentName> = []
    for name in objects where name.kind == .delta {
      basis.formUnion(try await reader.basis(of: name, in: remote(entry)))
    }
    return basis.sorted { $0.fileName < $1.fileName }
  }

  /// Puts the revision from which on a generation counts.
  private func name(
    _ generation: Int, _ log: LocalStream, length: StreamOffset, _ entry: inout ManifestEntry
  ) async throws {
    guard remote(entry).mark(of: generation) == length else {
      throw ReplicaError(.missingBytes, "generation \(generation) of \(session) was not sent whole")
    }
    let previous = entry.generation
    entry.generation = generation
    entry.sent = length
    entry.merged = 0
    entry.signed = 0
    entry.link = try log.link(before: length)
    var sidecar = sidecar
    // Only the seal says how it ended.
    sidecar.status = .active
    sidecar.cause = nil
    sidecar.endedAt = nil
    sidecar.redaction = log.redaction
    try await putRevision(sidecar, length: length, &entry)
    try SentSignature.remove(context.home, session, generation: previous)
  }
}
