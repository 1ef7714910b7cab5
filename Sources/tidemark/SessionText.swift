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

  /// Hands on the stream in order.
  func read(_ body: (UnsafeRawBufferPointer) throws -> Void) async throws {
    if isLocal {
      let log = try catalog.openLog(entry)
      try log.forEachPiece(of: 0..<log.status().length, body)
    } else if let remote = entry.remote, let context {
      let length = remote.seal?.length ?? remote.mark
      try await RemoteReader(context.store).read(remote, upTo: length, body)
      guard endsHere, remote.seal == nil, entry.length > length else { return }
      try catalog.openLog(entry).forEachPiece(of: length..<entry.length, body)
    }
  }

  /// Hands on what a filter admits, in pieces of any length.
  func read(
    _ filter: RecordFilter, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    if filter.admitsAll { return try await read(body) }
    try await readLines(filter) { line, _ in try body(line) }
  }

  /// Hands on the lines that a filter admits.
  func readLines(
    _ filter: RecordFilter, _ body: (UnsafeRawBufferPointer, RecordHead?) throws -> Void
  ) async throws {
    var filter = filter
    filter.reader = RecordReader(entry.sidecar.format, reference: entry.lastActivity)
    try await read { try filter.add($0, body) }
    try filter.finish(body)
  }
}
