import ObjectStore
package import Replica
package import SessionLog

/// Deletes single sessions because somebody asked for it.
package struct Deletion: Sendable {
  /// What became of one object or one session's files.
  package struct Outcome: Sendable {
    /// What it was.
    package let what: String
    /// Why it is still there; nil when it is gone.
    package let error: (any Error)?
  }

  private let home: Home
  private let context: SyncContext?

  /// Makes a deletion.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - context: the store; nil when only local files are meant.
  package init(home: Home, context: SyncContext?) {
    self.home = home
    self.context = context
  }

  /// Deletes a session.
  ///
  /// - Parameters:
  ///   - session: which.
  ///   - isLocal: whether its files on this machine go.
  ///   - remote: its objects, where those go too.
  ///   - lock: the home's lock.
  /// - Returns: one outcome an object, and one for the local files.
  /// - Throws: ``ObjectStore/StoreError`` when the store cannot be asked at all.
  package func delete(
    _ session: SessionID, local isLocal: Bool, remote: RemoteSession?, holding lock: HomeLock
  ) async throws -> [Outcome] {
    lock.expect(home)
    var outcomes: [Outcome] = []
    let files = LocalSession(home, session)
    if let context, let remote {
      outcomes += try await context.store.delete(remote.keys).map {
        Outcome(what: $0.key, error: $0.error)
      }
      try context.manifest.forget(session)
      if !isLocal {
        try files.noteRemoteRemoval(
          of: remote.keys, in: context.store.location, at: context.now())
      }
    }
    if isLocal {
      do {
        _ = try files.removeFiles()
        try context?.manifest.forget(session)
        try Quarantine(home).release(session)
        outcomes.append(Outcome(what: "\(session) on this machine", error: nil))
      } catch {
        outcomes.append(Outcome(what: "\(session) on this machine", error: error))
      }
    }
    return outcomes
  }
}
