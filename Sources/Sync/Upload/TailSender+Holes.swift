import Platform
import Redaction
import Replica
import SessionLog

/// Sends a log of which a rotated part, or another file that held its bytes, is gone.
extension TailSender {
  /// Expects bytes that the store lacks on this machine, which may have pruned or lost them.
  ///
  /// What follows lost bytes is sent all the same, except what may be the rest of a private key whose
  /// beginning was among them: it stays a hole until that is back. What follows pruned ones is not: the
  /// objects that had them may come back, and hold some of it.
  ///
  /// - Throws: ``ReplicaError`` that names the bytes that are nowhere, or are not sent.
  func expectLocal(_ state: inout SessionState, upTo end: StreamOffset) async throws {
    let log = try state.requireView()
    let local = try beginning(of: log, afterSent: state)
    guard state.entry.sent < local else { return }
    let runs = try state.runs(context)
    let present = try runs.map { try $0.available() }
    var ranges: [Range<StreamOffset>] = []
    for (run, range) in zip(runs, present) {
      let start = try beginning(of: run, state)
      ranges.append(min(start, range.upperBound)..<range.upperBound)
    }
    let holes = holes(upTo: local, besides: ranges, state)
    if let hole = holes.first, present.contains(where: { $0.contains(hole.lowerBound) }) {
      try await send(runs, from: ranges, upTo: end, &state)
      if state.isCutShort { return }
      let text = advice(on: holes, missing: "", isKeyRest: true, state)
      try await failWithLostBytes(text, &state)
    }
    let file = try missingFile(holes, between: ranges, state)
    if !holes.isEmpty, file == nil {
      throw ReplicaError(.missingBytes, advice(on: holes, state))
    }
    try await send(runs, from: ranges, upTo: end, &state)
    if state.isCutShort { return }
    if let file {
      try await failWithLostBytes(advice(on: holes, missing: file, state), &state)
    }
    try passPresent(&state, log)
  }

  /// Fails because bytes are not sent, or gone.
  ///
  /// An ended session has no sidecar in the store until it is sealed, and this one may never be: readers
  /// shall know whose bytes they are.
  ///
  /// - Throws: ``ReplicaError``, always; store errors.
  private func failWithLostBytes(_ text: String, _ state: inout SessionState) async throws {
    if state.entry.revision == 0 { try await writer.putRevision(&state) }
    throw ReplicaError(.lostBytes, text)
  }

  /// Where the log begins that the store's copy can be continued with.
  ///
  /// A part that was sent may be lost all the same, and with it the beginning of a private key that
  /// goes on.
  private func beginning(
    of log: LocalStream, afterSent state: SessionState
  ) throws -> StreamOffset {
    let local = try log.available().lowerBound
    let sent = state.entry.sent
    guard sent >= local else { return try beginning(of: log, state) }
    guard local > 0, sent < local + ByteCount(Redactor.context), !state.isAttached,
      state.replacedLog == nil
    else { return local }
    return try beginning(of: log, state)
  }

  /// Where a part of the log between two holes can begin.
  ///
  /// Pruned bytes end outside keys.
  private func beginning(of run: LocalStream, _ state: SessionState) throws -> StreamOffset {
    let start = try run.available().lowerBound
    let safe = try run.safeBeginning(by: context.redaction.current)
    guard safe > start else { return start }
    let pruned = try DeletionLedger(context.home).prunedParts(of: state.session)
    return pruned.contains { $0.upperBound == start } ? start : safe
  }

  /// Puts what the store lacks of the parts of the log between holes, each from an offset on.
  private func send(
    _ runs: [LocalStream], from ranges: [Range<StreamOffset>], upTo end: StreamOffset,
    _ state: inout SessionState
  ) async throws {
    for (run, range) in zip(runs, ranges) {
      try await send(run, from: range.lowerBound, upTo: min(end, range.upperBound), &state)
    }
  }

  /// Puts what the store lacks of a part of the log between two holes.
  private func send(
    _ run: LocalStream, from first: StreamOffset, upTo end: StreamOffset,
    _ state: inout SessionState
  ) async throws {
    let generation = state.entry.generation
    var start = max(first, state.entry.sent)
    while start < end {
      if let present = writer.remote(state).segment(at: start, of: generation) {
        start = present.range.upperBound
        continue
      }
      guard state.sendsMore(within: writer.budget) else { return }
      let gap = start..<min(end, nextSegment(after: start, state) ?? end)
      start = try await writer.putPlain(gap, of: generation, from: run, &state)
    }
  }

  /// The ranges before an offset that neither the store nor this machine has.
  private func holes(
    upTo end: StreamOffset, besides runs: [Range<StreamOffset>], _ state: SessionState
  ) -> [Range<StreamOffset>] {
    let remote = writer.remote(state)
    var holes: [Range<StreamOffset>] = []
    var offset = state.entry.sent
    while offset < end {
      if let present = remote.segment(at: offset, of: state.entry.generation) {
        offset = present.range.upperBound
      } else if let run = runs.first(where: { $0.contains(offset) }) {
        offset = run.upperBound
      } else {
        let next = runs.first { $0.lowerBound > offset }?.lowerBound ?? end
        holes.append(offset..<min(end, next, nextSegment(after: offset, state) ?? end))
        offset = holes[holes.count - 1].upperBound
      }
    }
    return holes
  }

  /// Names the bytes that are nowhere, and why, as far as this home knows.
  ///
  /// - Parameters:
  ///   - file: the file that had them, and what became of it; nil if they were pruned, empty if they
  ///     are here.
  ///   - isKeyRest: whether they are here, and not sent, because the beginning of a key was lost.
  private func advice(
    on holes: [Range<StreamOffset>], missing file: String? = nil, isKeyRest: Bool = false,
    _ state: SessionState
  ) -> String {
    let session = state.session
    let lost = state.vanished.filter { name in
      name.generation == state.entry.generation && holes.contains { $0.overlaps(name.range) }
    }.sorted { $0.range.lowerBound < $1.range.lowerBound }
    let names = lost.map { writer.folder.key + $0.fileName }.joined(separator: ", ")
    let formers = FormerCopy(writer).devices(state)
    let whose =
      formers.isEmpty
      ? ""
      : ", neither of this device, \(writer.folder.device), nor of "
        + "\(formers.joined(separator: " or ")), as which this home sent before,"
    let ranges = holes.prefix(Self.mostNamed).map { "\($0.lowerBound) to \($0.upperBound)" }
    let others = holes.count > ranges.count ? " and \(holes.count - ranges.count) more ranges" : ""
    let place =
      isKeyRest
      ? "are not sent" : "are neither in the store\(whose) nor on this machine"
    let keyRest = "because they may be the rest of a private key whose beginning is lost"
    let why =
      isKeyRest
      ? "\(keyRest); what follows is sent"
      : file.map { "where \($0); what follows is sent, but no rest of a private key" }
        ?? "which pruned them once they were stored"
    let source =
      file == nil || !names.isEmpty
      ? "the objects back from a backup or the bucket's versions" : "it back from a backup"
    return
      "bytes \(ranges.joined(separator: ", "))\(others) of \(session) \(place), \(why)"
      + (names.isEmpty ? "" : ": somebody deleted \(names)")
      + ". Put \(source), then run 'tidemark retry \(session)'; or keep what is left with 'tidemark show "
      + "--salvage \(session) > FILE'"
      + (file == nil
        ? "" : " and, of what the store has, 'tidemark show --salvage --remote \(session) > FILE2'")
      + ", and only then run 'tidemark delete "
      + "\(file == nil ? "--remote " : "")\(session)'"
  }

  /// Maximum number of ranges to name.
  private static let mostNamed = 5

  /// The file that had the bytes of the first hole, and what became of it; nil if there is none, or
  /// this home pruned it.
  private func missingFile(
    _ holes: [Range<StreamOffset>], between runs: [Range<StreamOffset>], _ state: SessionState
  ) throws -> String? {
    guard let hole = holes.first else { return nil }
    let isMissing = "is missing, which this home did not delete"
    if let source = state.sidecar.source { return "\(source.path) \(isMissing)" }
    let start = runs.last { $0.upperBound <= hole.lowerBound }?.upperBound ?? 0
    let end = runs.first { $0.lowerBound >= hole.upperBound }?.lowerBound ?? .max
    let pruned = try DeletionLedger(context.home).prunedParts(of: state.session)
      .filter { (start..<end).contains($0.lowerBound) }
    guard !pruned.contains(where: { $0.overlaps(hole) }) else { return nil }
    if let problem = try damagedFile(at: hole.lowerBound, of: state.local.files) { return problem }
    let before = pruned.map(\.upperBound).filter { $0 <= hole.lowerBound }.max()
    let part = state.local.files.part(at: before ?? start)
    return "the rotated part \(part.plain), or \(part.compressed), \(isMissing)"
  }

  /// The file of a rotated part that is there and should have an offset, and what became of it.
  private func damagedFile(at offset: StreamOffset, of files: SessionFiles) throws -> String? {
    guard let part = try files.parts().last(where: { $0.start <= offset }),
      let path = [part.plain, part.compressed].first(where: File.exists)
    else { return nil }
    let length = (try? files.open(part).length) ?? 1
    if part.start + length > offset { return "\(path) cannot be read" }
    return files.isCut(part, at: length) ? "\(path) was cut after \(length) bytes" : nil
  }
}
