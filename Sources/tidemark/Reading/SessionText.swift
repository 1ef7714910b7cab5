import LogRecords
import ObjectStore
import Replica
import SessionLog
import Sync

/// A session's bytes from where they are: the local log where it is complete, else the store and, of
/// a running session, what only the local log has yet.
struct SessionText: Sendable {
  let entry: SessionCatalog.Entry
  let context: SyncContext?
  let catalog: SessionCatalog

  /// Whether the local log is read.
  let isLocal: Bool
  /// Whether what the store does not have yet is read here: the parts before it were pruned.
  let isLongerHere: Bool

  /// Chooses the side.
  ///
  /// - Parameters:
  ///   - entry: the session.
  ///   - side: what the user asked for.
  init(
    _ entry: SessionCatalog.Entry, side: SideOptions, context: SyncContext?,
    catalog: SessionCatalog
  ) throws {
    self.entry = entry
    self.context = context
    self.catalog = catalog
    if side.local && !entry.hasLocalLog {
      let what = entry.location == .remote ? "not" : "not whole"
      throw Failure(.usage, "\(entry.session) is \(what) on this machine; try without --local")
    }
    if side.remote && entry.remote == nil {
      throw Failure(.usage, "\(entry.session) is not in the store yet; try without --remote")
    }
    isLocal = entry.hasLocalLog && !side.remote
    let endsHere = entry.location == .both && entry.sidecar.source == nil && !side.remote
    let remoteEnd = entry.remote.map { $0.seal == nil ? $0.end : .max } ?? .max
    isLongerHere = !isLocal && endsHere && entry.length > remoteEnd
    if !isLocal, !isLongerHere, entry.sidecar.withholdsLog { try tellWhatIsWithheld() }
  }

  /// Says that the store's log is not all there is, and is not what is missing by a fault.
  ///
  /// - Throws: where it has none at all.
  private func tellWhatIsWithheld() throws {
    guard let end = entry.remote?.mark, end > 0 else {
      throw Failure(.authentication, "\(entry.session): log not sent (consent: metadata)")
    }
    Console.complain("\(entry.session): log sent only up to byte \(end) (consent: metadata)")
  }

  /// Where the reading ends: what comes later does not count.
  var length: Int64 { isLocal || isLongerHere ? entry.length : entry.remote?.end ?? 0 }

  /// What comes of a stream.
  private enum Piece {
    case bytes(UnsafeRawBufferPointer)
    /// What comes next does not follow on what came before, but stands at this offset.
    case skip(Int64)
    /// What stands for bytes that are lost, up to an offset: a line of its own.
    case gap([UInt8], Int64)
  }

  /// Hands on what is wanted, in pieces of any length.
  ///
  /// - Returns: whether nothing is lost or in doubt.
  func read(
    _ choice: RecordChoice, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Bool {
    guard choice.admitsAll else { return try await readLines(choice) { try body($0.bytes) } }
    var last: UInt8 = 0x0a
    return try await pieces(choice, lines: nil) { piece in
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
  func readLines(
    _ choice: RecordChoice, _ body: (RecordLine) throws -> Void
  ) async throws -> Bool {
    guard let count = choice.lastLines else { return try await filtered(choice, nil, body) }
    guard count > 0 else { return true }
    var asked = count
    while true {
      var lines = LastLines(count)
      var isFromStart = true
      let isWhole = try await filtered(choice, asked, skipped: { isFromStart = false }) {
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
  func filter(_ choice: RecordChoice) -> RecordFilter {
    var filter = choice.filter
    filter.reader = RecordReader(entry.sidecar.format, reference: entry.lastActivity)
    return filter
  }

  private func filtered(
    _ choice: RecordChoice, _ lines: Int?, skipped: () -> Void = {},
    _ body: (RecordLine) throws -> Void
  ) async throws -> Bool {
    var filter = filter(choice)
    var last: UInt8 = 0x0a
    func pass(_ line: RecordLine) throws {
      last = line.bytes.last ?? last
      try body(line)
    }
    let isWhole = try await pieces(choice, lines: lines) { piece in
      switch piece {
      case .bytes(let bytes): try filter.add(bytes, pass)
      case .skip(let offset):
        skipped()
        try filter.finish(pass)
        // Without a filter no line depends on the ones before it.
        if filter.admitsAll { filter.position = offset } else { filter.skip(to: offset) }
      case .gap(let line, let end):
        try filter.finish(pass)
        try ((last == 0x0a ? [] : [0x0a]) + line).withUnsafeBytes {
          try pass(
            RecordLine(bytes: $0, head: nil, isStart: true, offset: filter.position))
        }
        filter.position = end
      }
    }
    try filter.finish(pass)
    return isWhole
  }

  // MARK: Where it comes from

  /// - Parameter lines: only so many of the last lines are wanted, or a few more; nil for all.
  private func pieces(
    _ choice: RecordChoice, lines: Int?, _ body: (Piece) throws -> Void
  ) async throws -> Bool {
    if !isLocal, choice.salvages, let remote = entry.remote, let context {
      return try await salvage(remote, in: context.store, body)
    }
    let (bytes, ranges) = try await places(choice, lines: lines)
    // What is read whole is compared with its hashes as well.
    if ranges == [0..<length], let remote = entry.remote, let context, !isLocal {
      let end = min(length, remote.end)
      try await RemoteReader(context.store).read(remote, upTo: end) { try body(.bytes($0)) }
      if end < length {
        try catalog.openLog(entry).forEachPiece(of: end..<length) { try body(.bytes($0)) }
      }
      return true
    }
    var end: Int64 = 0
    try await bytes.read(ranges) { offset, bytes in
      if offset != end { try body(.skip(offset)) }
      end = offset + Int64(bytes.count)
      try body(.bytes(bytes))
    }
    return true
  }

  private func salvage(
    _ remote: RemoteSession, in store: any ObjectStore, _ body: (Piece) throws -> Void
  ) async throws -> Bool {
    var isWhole = true
    try await RemoteReader(store).salvage(remote) { part in
      switch part {
      case .bytes(let bytes): try body(.bytes(bytes))
      case .damage(let damage):
        isWhole = false
        Console.complain("\(entry.session): \(damage)")
        if damage.isLost { try body(.gap(damage.gapLine, damage.range.upperBound)) }
      }
    }
    return isWhole
  }
}
