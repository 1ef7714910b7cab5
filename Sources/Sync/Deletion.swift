import ObjectStore
import Replica
public import SessionLog

/// Deletes single sessions because somebody asked for it.
public struct Deletion: Sendable {
  /// What became of one object or one session's files.
  public struct Outcome: Sendable {
    /// What it was.
    public let what: String
    /// Why it is still there; nil when it is gone.
    public let error: (any Error)?
  }

  private let home: Home
  private let context: SyncContext?

  /// Makes a deletion.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - context: the store; nil when only local files are meant.
  public init(home: Home, context: SyncContext?) {
    self.home = home
    self.context = context
  }

  /// Deletes a session.
  ///
  /// - Returns: one outcome an object, and one for the local files.
  /// - Throws: ``ObjectStore/StoreError`` when the store cannot be asked at all.
  public func delete(
    _ entry: SessionCatalog.Entry, local: Bool, remote: Bool
  ) async throws -> [Outcome] {
    var outcomes: [Outcome] = []
    let files = LocalSession(home, entry.session)
    if remote, let context, let found = entry.remote {
      outcomes += try await context.store.delete(found.keys).map {
        Outcome(what: $0.key, error: $0.error)
      }
      try context.manifest.forget(entry.session)
      if !local {
        try files.noteRemoteRemoval(
          of: found.keys, in: context.store.location, at: context.now())
      }
    }
    if local, entry.location != .remote {
      do {
        _ = try files.removeFiles()
        try context?.manifest.forget(entry.session)
        try Quarantine(home).release(entry.session)
        outcomes.append(Outcome(what: "\(entry.session) on this machine", error: nil))
      } catch {
        outcomes.append(Outcome(what: "\(entry.session) on this machine", error: error))
      }
    }
    return outcomes
  }
}
