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
  private let endsHere: Bool

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
    endsHere = entry.location == .both && entry.sidecar.source == nil && !side.remote
  }

  /// What comes of a stream.
  private enum Piece {
    case bytes(UnsafeRawBufferPointer)
    /// What comes next does not follow on what came before.
    case skip
    /// What stands for bytes that are lost: a line of its own.
    case gap([UInt8])
  }

  /// Hands on what is wanted, in pieces of any length.
  ///
  /// - Returns: whether nothing is lost or in doubt.
  func read(
    _ choice: RecordChoice, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Bool {
    guard choice.admitsAll else { return try await readLines(choice) { line, _ in try body(line) } }
    var last: UInt8 = 0x0a
    return try await pieces(choice, lines: nil) { piece in
      switch piece {
      case .skip: break
      case .bytes(let bytes):
        last = bytes.last ?? last
        try body(bytes)
      case .gap(let line):
        try ((last == 0x0a ? [] : [0x0a]) + line).withUnsafeBytes(body)
        last = 0x0a
      }
    }
  }

  /// Hands on the lines that are wanted.
  ///
  /// - Returns: whether nothing is lost or in doubt.
  func readLines(
    _ choice: RecordChoice, _ body: (UnsafeRawBufferPointer, RecordHead?) throws -> Void
  ) async throws -> Bool {
    guard let count = choice.lastLines else { return try await filtered(choice, nil, body) }
    guard count > 0 else { return true }
    var asked = count
    while true {
      var lines = LastLines(count)
      var isFromStart = true
      let isWhole = try await filtered(choice, asked, skipped: { isFromStart = false }) {
        lines.add($0, $1)
      }
      // An index counts fewer lines than there are, or records that turn out not to be wanted.
      if lines.isFull || isFromStart || choice.times != nil || asked == .max {
        try lines.forEach(body)
        return isWhole
      }
      asked = asked > .max / 4 ? .max : asked * 4
    }
  }

  private func filtered(
    _ choice: RecordChoice, _ lines: Int?, skipped: () -> Void = {},
    _ body: (UnsafeRawBufferPointer, RecordHead?) throws -> Void
  ) async throws -> Bool {
    var filter = choice.filter
    filter.reader = RecordReader(entry.sidecar.format, reference: entry.lastActivity)
    var last: UInt8 = 0x0a
    func pass(_ line: UnsafeRawBufferPointer, _ head: RecordHead?) throws {
      last = line.last ?? last
      try body(line, head)
    }
    let isWhole = try await pieces(choice, lines: lines) { piece in
      switch piece {
      case .bytes(let bytes): try filter.add(bytes, pass)
      case .skip:
        skipped()
        try filter.finish(pass)
        // Without a filter no line depends on the ones before it.
        if !filter.admitsAll { filter.skip() }
      case .gap(let line):
        try filter.finish(pass)
        try ((last == 0x0a ? [] : [0x0a]) + line).withUnsafeBytes { try pass($0, nil) }
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
    if isLocal {
      let log = try catalog.openLog(entry)
      let length = try log.status().length
      var start: Int64 = 0
      if let lines, choice.filter.admitsAll {
        start = try Self.start(ofLast: lines, in: log, length: length)
      }
      if start > 0 { try body(.skip) }
      try log.forEachPiece(of: start..<length) { try body(.bytes($0)) }
      return true
    }
    guard let remote = entry.remote, let context else { return true }
    if choice.salvages { return try await salvage(remote, in: context.store, body) }
    let isLongerHere = endsHere && remote.seal == nil && entry.length > remote.end
    if lines != nil || choice.times != nil, !isLongerHere {
      try await parts(of: remote, in: context.store, choice, lines, body)
      return true
    }
    try await RemoteReader(context.store).read(remote, upTo: remote.end) { try body(.bytes($0)) }
    if isLongerHere {
      try catalog.openLog(entry).forEachPiece(of: remote.end..<entry.length) {
        try body(.bytes($0))
      }
    }
    return true
  }

  private func salvage(
    _ remote: RemoteSession, in store: any ObjectStore, _ body: (Piece) throws -> Void
  ) async throws -> Bool {
    var isWhole = true
    let damaged = remote.damagedSegments.lazy
      .filter { $0.name.generation == remote.generation }.map(\.name.range.upperBound).max()
    let end = remote.seal?.length ?? max(remote.end, damaged ?? 0)
    try await RemoteReader(store).salvage(remote, upTo: end) { part in
      switch part {
      case .bytes(let bytes): try body(.bytes(bytes))
      case .damage(let damage):
        isWhole = false
        Console.complain("\(entry.session): \(damage)")
        guard damage.isLost else { return }
        let count = damage.range.upperBound - damage.range.lowerBound
        try body(.gap(Array("\(GapLine.text(count, damage.reason))\n".utf8)))
      }
    }
    return isWhole
  }

  private func parts(
    of remote: RemoteSession, in store: any ObjectStore, _ choice: RecordChoice, _ lines: Int?,
    _ body: (Piece) throws -> Void
  ) async throws {
    let parts = try RemoteParts(of: remote, upTo: remote.end, in: store)
    let ranges: [Range<Int64>]
    if let times = choice.times {
      ranges = try await parts.span(widened(times))
    } else {
      ranges = try await parts.last(
        lines: lines ?? .max, level: choice.filter.minimumLevel.map { Int($0.rawValue) })
    }
    var end: Int64 = 0
    try await parts.read(ranges) { offset, bytes in
      if offset != end { try body(.skip) }
      end = offset + Int64(bytes.count)
      try body(.bytes(bytes))
    }
  }

  /// Where the file of another machine has times without a zone, its index has them in that
  /// machine's zone, and we read them in ours.
  private func widened(_ times: ClosedRange<Int64>) -> ClosedRange<Int64> {
    let isForeign =
      entry.sidecar.format == .asIs && entry.sidecar.deviceId != context?.device.deviceId
    let slack: Int64 = isForeign ? 26 * 3_600_000 : 0
    let (first, last) = (times.lowerBound, times.upperBound)
    return
      (first < .min + slack ? .min : first - slack)...(last > .max - slack ? .max : last + slack)
  }

  /// Where the last lines begin, or a line or two before.
  private static func start(
    ofLast lines: Int, in log: LogFile, length: Int64
  ) throws -> Int64 {
    var start = length
    var found = 0
    while start > 0, found <= lines {
      let end = start
      start = max(0, end - 65_536)
      found += try log.read(start..<end).reduce(0) { $0 + ($1 == 0x0a ? 1 : 0) }
    }
    return start
  }
}
