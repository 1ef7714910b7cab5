import Delta
import Platform
import Replica
import SessionLog

/// The store's copy of a recorded session whose local log no longer holds what was sent: somebody
/// truncated, edited or restored it.
///
/// The session ends with what was sent. The local log stays as it is.
struct SentStream {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  /// Lets the store's copy count in place of the bytes of the local log that were sent; what the log
  /// has after them is still sent if it begins a line.
  ///
  /// Only for an ended session, and only if this home knows each object: it put them, or found them
  /// equal to its log.
  ///
  /// - Returns: false if that is not so: then nothing has changed.
  /// - Throws: ``Replica/ReplicaError`` if the store's copy cannot be read; errors of the store and of
  ///   the log.
  func replaceLog(_ state: inout SessionState) async throws -> Bool {
    guard state.replacedLog == nil, state.verdict != nil, !state.isAttached,
      state.consent == .logs, state.isOfThisGeneration, !state.mustProveOwner,
      state.vanished.isEmpty
    else { return false }
    let generation = state.entry.generation
    let remote = writer.remote(state)
    let end = remote.mark(of: generation)
    // Of a log that is gone nothing may have been sent.
    guard end > 0 || state.log == nil,
      remote.segments(of: generation).allSatisfy({
        state.entry.own.contains($0) && $0.range.upperBound <= end
      })
    else { return false }
    let local = try state.view?.available()
    let (difference, last) = try await compare(
      remote, upTo: end, of: generation, with: state.view, local)
    let isBeginning = difference == nil
    var replaced = ReplacedLog(path: state.local.files.log)
    if let local {
      // Its own bytes are not the cause.
      if isBeginning, local.upperBound >= end { return false }
      guard local.lowerBound <= end else { return false }
      replaced.log = Sidecar.Seal.LogState(length: local.upperBound, modified: state.modified)
      replaced.differs = !isBeginning
      if let difference {
        replaced.files = try Self.files(of: state.local.files, from: difference)
      }
      replaced.hasRest =
        try local.upperBound > end && last.last == 0x0a && canContinue(at: end, state)
    }
    let endedAt: Timestamp? = replaced.hasRest ? nil : state.modified
    let log = try LocalStream(state.local.files, from: end, endedAt: endedAt)
    state.log = log
    try state.openView(writer.context)
    (state.length, state.modified) = try log.status()
    (state.entry.sent, state.entry.link) = (end, Link(before: last[...]))
    (state.end, state.tally, state.replacedLog) = (nil, nil, replaced)
    state.done = [.compare]
    return true
  }

  /// The files of a recorded log that have bytes from an offset on.
  private static func files(
    of files: SessionFiles, from offset: StreamOffset
  ) throws -> [String] {
    let parts = try files.parts()
    let first = parts.lastIndex { $0.start <= offset } ?? 0
    return (parts.dropFirst(first).flatMap { [$0.plain, $0.compressed] } + [files.log])
      .filter(File.exists)
  }

  /// Reads the store's copy.
  ///
  /// - Returns: an offset from which on the local log may differ from it, nil if it is equal as far as
  ///   both go; and its last bytes.
  private func compare(
    _ remote: RemoteSession, upTo end: StreamOffset, of generation: Int, with log: LocalStream?,
    _ local: Range<StreamOffset>?
  ) async throws -> (difference: StreamOffset?, last: [UInt8]) {
    var position = StreamOffset.zero
    var difference: StreamOffset?
    var last: [UInt8] = []
    try await writer.context.reader.read(remote, generation: generation, upTo: end) { piece in
      if difference == nil, let log, let local {
        let range = (position..<position + ByteCount(piece.count)).clamped(to: local)
        let first = Int(range.lowerBound - position)
        let isEqual =
          try range.isEmpty
          || log.has(
            UnsafeRawBufferPointer(rebasing: piece[first..<first + Int(range.byteCount)]), in: range
          )
        if !isEqual { difference = range.lowerBound }
      }
      last = Array((last + piece.suffix(Link.span)).suffix(Link.span))
      position += ByteCount(piece.count)
    }
    return (difference, last)
  }

  /// Whether the local log may be sent from an offset on: there a line begins, and no secret whose
  /// beginning decides what is masked of the rest.
  private func canContinue(at offset: StreamOffset, _ state: SessionState) throws -> Bool {
    let rules = writer.context.redaction.current
    let whole = Sidecar.RedactionEpoch(from: .zero, rules: writer.context.redaction.version)
    func masked(_ log: LocalStream) -> LocalStream {
      log.redacted(by: [RedactionSpan(whole, rules)], state.sidecar.format)
    }
    let rest = masked(try LocalStream(state.local.files, from: offset, endedAt: nil))
    guard try rest.safeBeginning(by: rules) == offset else { return false }
    guard let log = state.log, try log.available().lowerBound < offset else { return true }
    return try log.read(offset - 1..<offset) == [0x0a] && masked(log).canBegin(at: offset)
  }
}
