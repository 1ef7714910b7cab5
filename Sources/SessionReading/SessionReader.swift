package import LogRecords
import ObjectStore
import Platform
import Replica
package import SessionLog

/// Reads a session's log from where it is: the local log where it is complete, else the store and, of
/// a running session, what only the local log has yet.
package struct SessionReader: Sendable {
  /// Which copy is read.
  package enum Side: Sendable {
    /// The local one where it is complete, else that of the store.
    case any
    /// The local one, which must be complete.
    case local
    /// That of the store.
    case remote
  }

  /// What is proven of bytes from the store before they are handed on, and what damage does.
  package enum Mode: Sendable {
    /// The whole stream is read, and each segment compared with the hash in its name.
    case verified
    /// Only the frames that are needed are fetched, and compared with their checksums. Where that is
    /// the whole stream, it is verified.
    case ranged
    /// The whole stream is read; damage is reported and passed over.
    case salvaged
  }

  /// The session.
  package let entry: SessionCatalog.Entry
  /// What was asked for.
  package let side: Side
  package let catalog: SessionCatalog
  private let report: @Sendable (String) -> Void

  /// Whether the local log is read.
  let isLocal: Bool
  /// Whether what the store does not have yet is read here: the parts before it were pruned.
  let isLongerHere: Bool

  /// Chooses the side.
  ///
  /// - Parameters:
  ///   - entry: the session.
  ///   - side: which copy.
  ///   - catalog: where the session was found.
  ///   - report: gets what a person should know of the reading, a line each.
  /// - Throws: ``ReadingError`` when the log is not there, or was not sent.
  package init(
    _ entry: SessionCatalog.Entry, side: Side, in catalog: SessionCatalog,
    report: @escaping @Sendable (String) -> Void
  ) throws {
    self.entry = entry
    self.side = side
    self.catalog = catalog
    self.report = report
    if side == .local && !entry.hasLocalLog {
      let what = entry.location == .remote ? "not" : "not whole"
      throw ReadingError(
        .unfit, "\(entry.session) is \(what) on this machine")
    }
    if side == .remote && entry.remote == nil {
      throw ReadingError(
        .unfit, "\(entry.session) is not in the store yet")
    }
    isLocal = entry.hasLocalLog && side != .remote
    let endsHere = entry.location == .both && entry.sidecar.source == nil && side != .remote
    let remoteEnd = entry.remote.map { $0.seal == nil ? $0.end : .max } ?? .max
    isLongerHere = !isLocal && endsHere && entry.length > remoteEnd
    if !isLocal, !isLongerHere, entry.sidecar.withholdsLog { try reportWhatIsWithheld() }
  }

  /// Says that the store's log is not all there is, and is not what is missing by a fault.
  ///
  /// - Throws: where it has none at all.
  private func reportWhatIsWithheld() throws {
    guard let end = entry.remote?.mark, end > 0 else {
      throw ReadingError(.withheld, "\(entry.session): log not sent (consent: metadata)")
    }
    report("\(entry.session): log sent only up to byte \(end) (consent: metadata)")
  }

  /// Where the reading ends: what comes later does not count.
  package var length: StreamOffset {
    isLocal || isLongerHere ? entry.length : entry.remote?.end ?? .zero
  }

  /// What comes of a stream.
  private enum Piece {
    case bytes(UnsafeRawBufferPointer)
    /// What comes next does not follow on what came before, but stands at this offset.
    case skip(StreamOffset)
    /// What stands for bytes that are lost, up to an offset: a line of its own.
    case gap([UInt8], StreamOffset)
  }

  /// Hands on what is wanted, in pieces of any length.
  ///
  /// - Returns: whether nothing is lost or in doubt.
  package func read(
    _ choice: RecordChoice, _ mode: Mode, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Bool {
    guard choice.admitsAll else {
      return try await readLines(choice, mode) { try body($0.bytes) }
    }
    var last: UInt8 = 0x0a
    return try await pieces(choice, mode, lines: nil) { piece in
      switch piece {
      case .skip: break
      case .bytes(let bytes):
        last = bytes.last ?? last
        try body(bytes)
      case .gap(let line, _):
        try ((last == 0x0a ? [] : [0x0a]) + line).withUnsafeBytes(body)
        last = 0x0a
      }
    }
  }

  /// Hands on the lines that are wanted.
  ///
  /// - Returns: whether nothing is lost or in doubt.
  package func readLines(
    _ choice: RecordChoice, _ mode: Mode, _ body: (RecordLine) throws -> Void
  ) async throws -> Bool {
    guard let count = choice.lastLines else { return try await filtered(choice, mode, nil, body) }
    guard count > 0 else { return true }
    var asked = count
    while true {
      var lines = LastLines(count)
      var isFromStart = true
      let isWhole = try await filtered(choice, mode, asked, skipped: { isFromStart = false }) {
        lines.add(KeptLine($0))
      }
      // An index counts fewer lines than there are, or records that turn out not to be wanted.
      if lines.isFull || isFromStart || choice.times != nil || asked == .max {
        for line in lines.inOrder { try line.with(body) }
        return isWhole
      }
      asked = asked > .max / 4 ? .max : asked * 4
    }
  }

  /// What is wanted, with how the log's lines are read.
  package func filter(_ choice: RecordChoice) -> RecordFilter {
    var filter = choice.filter
    filter.reader = RecordReader(entry.sidecar.format, reference: entry.lastActivity)
    return filter
  }

  private func filtered(
    _ choice: RecordChoice, _ mode: Mode, _ lines: Int?, skipped: () -> Void = {},
    _ body: (RecordLine) throws -> Void
  ) async throws -> Bool {
    var filter = filter(choice)
    var last: UInt8 = 0x0a
    func pass(_ line: RecordLine) throws {
      last = line.bytes.last ?? last
      try body(line)
    }
    let isWhole = try await pieces(choice, mode, lines: lines) { piece in
      switch piece {
      case .bytes(let bytes): try filter.add(bytes, pass)
      case .skip(let offset):
        skipped()
        try filter.finish(pass)
        // Without a filter no line depends on the ones before it.
        if filter.admitsAll {
          filter.position = Int64(offset)
        } else {
          filter.skip(to: Int64(offset))
        }
      case .gap(let line, let end):
        try filter.finish(pass)
        try ((last == 0x0a ? [] : [0x0a]) + line).withUnsafeBytes {
          try pass(
            RecordLine(bytes: $0, head: nil, isStart: true, offset: filter.position))
        }
        filter.position = Int64(end)
      }
    }
    try filter.finish(pass)
    return isWhole
  }

  // MARK: Where it comes from

  /// - Parameter lines: only so many of the last lines are wanted, or a few more; nil for all.
  private func pieces(
    _ choice: RecordChoice, _ mode: Mode, lines: Int?, _ body: (Piece) throws -> Void
  ) async throws -> Bool {
    var remote: (RemoteSession, any ObjectStore)?
    if !isLocal, let session = entry.remote, let store = catalog.context.store {
      remote = (session, store)
    }
    if let remote, mode == .salvaged { return try await salvage(remote.0, in: remote.1, body) }
    if let remote, mode == .verified {
      try await verify(remote.0, in: remote.1, body)
      return true
    }
    let (bytes, ranges) = try await places(choice, lines: lines)
    if let remote, ranges == [0..<length] {
      try await verify(remote.0, in: remote.1, body)
      return true
    }
    var end = StreamOffset.zero
    try await bytes.read(ranges) { offset, bytes in
      if offset != end { try body(.skip(offset)) }
      end = offset + ByteCount(bytes.count)
      try body(.bytes(bytes))
    }
    return true
  }

  private func verify(
    _ remote: RemoteSession, in store: any ObjectStore, _ body: (Piece) throws -> Void
  ) async throws {
    let end = min(length, remote.end)
    try await RemoteReader(store, knowing: catalog.context.keys).read(remote, upTo: end) {
      try body(.bytes($0))
    }
    guard end < length else { return }
    try catalog.openLog(entry).forEachPiece(of: end..<length) { try body(.bytes($0)) }
  }

  private func salvage(
    _ remote: RemoteSession, in store: any ObjectStore, _ body: (Piece) throws -> Void
  ) async throws -> Bool {
    var isWhole = true
    try await RemoteReader(store, knowing: catalog.context.keys).salvage(remote) { part in
      switch part {
      case .bytes(let bytes): try body(.bytes(bytes))
      case .damage(let damage):
        isWhole = false
        report("\(entry.session): \(damage)")
        if damage.isLost { try body(.gap(damage.gapLine, damage.range.upperBound)) }
      }
    }
    return isWhole
  }
}
