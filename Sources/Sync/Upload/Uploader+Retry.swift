package import Platform
import Replica
package import SessionLog

/// The store and sessions that wait after failed attempts.
package struct Waiting: Sendable {
  /// A session with failed attempts.
  package struct Session: Sendable {
    /// The session.
    package let session: SessionID
    /// Consecutive failed attempts.
    package let attempts: Int
    /// The last failure.
    package let reason: String
    /// Time of the next attempt; nil for the next pass.
    package let nextAttempt: Timestamp?
  }

  /// Sessions not yet sent since, sorted by id.
  package let sessions: [Session]
  /// Sessions whose remote copy was deleted on request, sorted by id.
  package let withdrawn: [SessionID]
  /// The state of the store; nil if the last pass succeeded.
  package let store: StoreEntry?
}

extension Uploader {
  /// The store and sessions that wait after failed attempts.
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

  /// Ends a failed session's pause, or its withdrawal: the next pass sends it.
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

  /// Ends a failed store's pause, and forgets the size of objects it refused.
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
