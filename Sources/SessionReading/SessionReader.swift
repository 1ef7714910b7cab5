package import LogRecords
import ObjectStore
import Platform
import Replica
package import SessionLog

/// Reads a session's log: the local log if it is complete, else the store's and, for a running
/// session, the bytes after it from the local log.
package struct SessionReader: Sendable {
  /// The copy to read.
  package enum Side: Sendable {
    /// The local one if it is complete, else the store's.
    case any
    /// The local one, which must be complete.
    case local
    /// The store's.
    case remote
  }

  /// How the store's bytes are verified before delivery, and how damage is handled.
  package enum Mode: Sendable {
    /// Read the whole stream, and compare each segment with the hash in its name.
    case verified
    /// Fetch only the frames needed, and compare them with their checksums. If that is the whole
    /// stream, it is verified.
    case ranged
    /// Read the whole stream; report and skip damage.
    case salvaged
  }

  /// The session.
  package let entry: SessionCatalog.Entry
  /// The requested copy.
  package let side: Side
  package let catalog: SessionCatalog
  private let report: @Sendable (String) -> Void

  /// What the file held before it was rewritten, if that is to be read; nil for the newest stream.
  package let former: Sidecar.FormerStream?
  /// Whether to read the local log.
  let isLocal: Bool
  /// Whether the local log lacks parts between others.
  private let hasHoles: Bool
  /// Whether to read the bytes that the store lacks from the local log, whose earlier parts were
  /// pruned.
  let isLongerLocally: Bool

  /// Chooses the side.
  ///
  /// - Parameters:
  ///   - entry: the session.
  ///   - side: the copy to read.
  ///   - generation: a former stream's generation, which only the store has; nil for the newest.
  ///   - catalog: the catalog that found the session.
  ///   - report: called with messages for a person, one line each.
  /// - Throws: ``ReadingError`` if the log is missing, or was not sent.
  package init(
    _ entry: SessionCatalog.Entry, side: Side, generation: Int? = nil, in catalog: SessionCatalog,
    report: @escaping @Sendable (String) -> Void
  ) throws {
    former = try generation.flatMap { try Self.former($0, of: entry) }
    let side = former == nil ? side : .remote
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
    let holes = entry.hasLocalLog ? entry.endOfHoles ?? catalog.endOfHoles(entry) : 0
    hasHoles = holes > 0
    let fillsHoles = hasHoles && side == .any && entry.remote?.mark ?? 0 >= holes
    isLocal = entry.hasLocalLog && side != .remote && !fillsHoles
    let endsHere = entry.location == .both && entry.sidecar.source == nil && side != .remote
    let remoteEnd = entry.remote.map { $0.seal == nil ? $0.end : .max } ?? .max
    isLongerLocally = !isLocal && endsHere && entry.length > remoteEnd
    if former == nil, !isLocal, !isLongerLocally, entry.sidecar.withholdsLog {
      try reportWhatIsWithheld()
    }
  }

  /// A former stream; nil if the generation is that of the newest.
  private static func former(
    _ generation: Int, of entry: SessionCatalog.Entry
  ) throws -> Sidecar.FormerStream? {
    let streams = entry.sidecar.former ?? []
    if let stream = streams.first(where: { $0.generation == generation }) { return stream }
    let newest = entry.sidecar.generation ?? 1
    if generation == newest { return nil }
    let known = (streams.map(\.generation) + [newest]).map(String.init).joined(separator: ", ")
    throw ReadingError(
      .unfit, "\(entry.session) has no generation \(generation); it has \(known)")
  }

  /// Reports that the store's log is incomplete on purpose.
  ///
  /// - Throws: if the store has none of it.
  private func reportWhatIsWithheld() throws {
    guard let end = entry.remote?.mark, end > 0 else {
      throw ReadingError(.withheld, "\(entry.session): log not sent (consent: metadata)")
    }
    report("\(entry.session): log sent only up to byte \(end) (consent: metadata)")
  }

  /// The end of the reading: later growth is ignored.
  package var length: StreamOffset {
    if let former { return former.length }
    return isLocal || isLongerLocally ? entry.length : entry.remote?.end ?? .zero
  }

  /// Minimum number of bytes that reading the whole stream yields; 0 if only reading shows that: names
  /// in the store may claim anything.
  var promisedBytes: ByteCount {
    guard !isLocal, let remote = entry.remote else { return length.byteCount }
    let isDoubtful =
      UnpackLimit().refusal(of: length.byteCount, from: remote.storedBytes) != nil
    return isDoubtful ? 0 : length.byteCount
  }

  /// A part of a stream.
  private enum Piece {
    case bytes(UnsafeRawBufferPointer)
    /// The next bytes do not follow the previous ones, but begin at this offset.
    case skip(StreamOffset)
    /// A line that replaces lost bytes, up to an offset.
    case gap([UInt8], StreamOffset)
  }

  /// Delivers the chosen bytes, in pieces of any length.
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

  /// Delivers the chosen lines.
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
      // An index may count fewer lines than there are, or records that the filter rejects.
      if lines.isFull || isFromStart || choice.times != nil || asked == .max {
        for line in lines.inOrder { try line.with(body) }
        return isWhole
      }
      asked = asked > .max / 4 ? .max : asked * 4
    }
  }

  /// The filter for a choice, which reads lines in the log's format.
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
        // Without a filter, lines do not depend on the ones before.
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

  // MARK: Sources

  /// - Parameter lines: only this number of last lines is needed, or a few more; nil for all.
  private func pieces(
    _ choice: RecordChoice, _ mode: Mode, lines: Int?, _ body: (Piece) throws -> Void
  ) async throws -> Bool {
    var remote: (RemoteSession, any ObjectStore)?
    if !isLocal, let session = entry.remote, let store = catalog.context.store {
      remote = (session, store)
    }
    if let former {
      guard let remote else { return false }
      try await verify(former, of: remote.0, in: remote.1, body)
      return true
    }
    if let remote, mode == .salvaged {
      if let doubt = doubtAboutSeal { report(doubt) }
      return try await salvage(remote.0, in: remote.1, body) && doubtAboutSeal == nil
    }
    if remote == nil, mode == .salvaged || hasHoles {
      var isWhole = true
      try catalog.openLog(entry).salvage(upTo: entry.length) {
        try pass($0, isWhole: &isWhole, body)
      }
      return isWhole
    }
    try expectSeal()
    if let remote, mode == .verified {
      try await verify(remote.0, in: remote.1, body)
      return true
    }
    let (bytes, extent) = try await ranges(choice, lines: lines)
    if let remote, case .whole = extent {
      try await verify(remote.0, in: remote.1, body)
      return true
    }
    var end = StreamOffset.zero
    try await bytes.read(extent.ranges) { offset, bytes in
      if offset != end { try body(.skip(offset)) }
      end = offset + ByteCount(bytes.count)
      try body(.bytes(bytes))
    }
    return true
  }

  /// Why the store's copy may not be the one that this home sealed; nil if nothing suggests that.
  private var doubtAboutSeal: String? {
    guard !isLocal, entry.location == .both, let seal = entry.sidecar.seal,
      let remote = entry.remote, entry.sidecar.remoteReapedAt == nil,
      seal.store == catalog.context.store?.location
    else { return nil }
    // An earlier one, even a genuine one, may have been put back.
    let number = RevisionName(seal.revision)?.number ?? 0
    guard remote.seal.map({ $0.number < number }) ?? true else { return nil }
    return
      "\(entry.session): this home sealed it with \(seal.revision), which is not in the store any "
      + "more: somebody has deleted it, and may have written what is there now; 'tidemark verify "
      + "--repair \(entry.session)' sends and seals the local log again"
  }

  /// Expects the seal that this home put.
  ///
  /// - Throws: ``ReadingError`` if the store has none.
  func expectSeal() throws {
    if let doubt = doubtAboutSeal { throw ReadingError(.damaged, doubt) }
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

  private func verify(
    _ former: Sidecar.FormerStream, of remote: RemoteSession, in store: any ObjectStore,
    _ body: (Piece) throws -> Void
  ) async throws {
    try expectSeal()
    let reader = RemoteReader(store, knowing: catalog.context.keys)
    let accepted = try await reader.accept(remote).session()
    try await reader.read(accepted, generation: former.generation, upTo: former.length) {
      try body(.bytes($0))
    }
  }

  private func salvage(
    _ remote: RemoteSession, in store: any ObjectStore, _ body: (Piece) throws -> Void
  ) async throws -> Bool {
    var isWhole = true
    try await RemoteReader(store, knowing: catalog.context.keys).salvage(remote) {
      try pass($0, isWhole: &isWhole, body)
    }
    return isWhole
  }

  /// Delivers a salvaged part; reports damage, with a line in the place of lost bytes.
  private func pass(
    _ part: StreamPart, isWhole: inout Bool, _ body: (Piece) throws -> Void
  ) throws {
    switch part {
    case .bytes(let bytes): try body(.bytes(bytes))
    case .damage(let damage):
      isWhole = false
      report("\(entry.session): \(damage)")
      if damage.isLost { try body(.gap(damage.gapLine, damage.range.upperBound)) }
    }
  }
}
