package import Platform
import Replica
package import SessionLog

/// What waits after attempts that failed.
package struct Waiting: Sendable {
  /// A session of which attempts failed.
  package struct Session: Sendable {
    /// The session.
    package let session: SessionID
    /// Attempts in a row that failed.
    package let attempts: Int
    /// What the last one failed with.
    package let reason: String
    /// When it is tried again; nil in the next pass.
    package let nextAttempt: Timestamp?
  }

  /// Those not yet sent since, in the order of their ids.
  package let sessions: [Session]
  /// Those whose remote copy was deleted on request, in the order of their ids.
  package let withdrawn: [SessionID]
  /// What is known of the store; nil when the last pass went well.
  package let store: StoreEntry?
}

extension Uploader {
  /// What waits after attempts that failed.
  ///
  /// - Throws: ``Platform/SystemError``; errors of the manifest.
  package func waiting() throws -> Waiting {
    let entry = try context.storeEntry()
    let open = try context.home.openSessions()
    let sessions = try open.compactMap { session -> Waiting.Session? in
      guard let entry = try context.manifest.entry(session), let error = entry.lastError else {
        return nil
      }
      return Waiting.Session(
        session: session, attempts: entry.attempts, reason: error, nextAttempt: entry.nextAttempt)
    }
    let withdrawn = try open.filter {
      try LocalSession(context.home, $0).sentNote()?.withdrawnAt != nil
    }
    return Waiting(
      sessions: sessions, withdrawn: withdrawn, store: entry.lastError == nil ? nil : entry)
  }

  /// Ends the pause of a session that failed, or its withdrawal: the next pass sends it.
  ///
  /// - Throws: ``Platform/SystemError``; errors of the manifest.
  package func retry(_ session: SessionID, holding lock: HomeLock) throws {
    lock.expect(context.home)
    if var entry = try context.manifest.entry(session) {
      entry.attempts = 0
      entry.nextAttempt = nil
      try context.manifest.save(&entry, of: session)
    }
    try LocalSession(context.home, session).readmit()
    try Quarantine(context.home).release(session)
  }

  /// Ends the pause of a store that failed, and forgets how large an object it refused.
  ///
  /// - Throws: errors of the manifest.
  package func retryStore(holding lock: HomeLock) throws {
    lock.expect(context.home)
    var entry = try context.storeEntry()
    entry.attempts = 0
    entry.nextAttempt = nil
    entry.objectLimit = nil
    try context.manifest.save(entry)
  }
}
