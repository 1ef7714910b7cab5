public import Platform
public import SessionLog

/// What waits after attempts that failed.
public struct Waiting: Sendable {
  /// A session of which attempts failed.
  public struct Session: Sendable {
    /// The session.
    public let session: SessionID
    /// Attempts in a row that failed.
    public let attempts: Int
    /// What the last one failed with.
    public let reason: String
    /// When it is tried again; nil in the next pass.
    public let nextAttempt: Timestamp?
  }

  /// Those not yet sent since, in the order of their ids.
  public let sessions: [Session]
  /// What is known of the store; nil when the last pass went well.
  public let store: StoreEntry?
}

extension Uploader {
  /// What waits after attempts that failed.
  ///
  /// - Throws: ``Platform/SystemError``; errors of the manifest.
  public func waiting() throws -> Waiting {
    let entry = try context.storeEntry()
    let sessions = try context.home.openSessions().compactMap { session -> Waiting.Session? in
      guard let entry = try context.manifest.entry(session), let error = entry.lastError else {
        return nil
      }
      return Waiting.Session(
        session: session, attempts: entry.attempts, reason: error, nextAttempt: entry.nextAttempt)
    }
    return Waiting(sessions: sessions, store: entry.lastError == nil ? nil : entry)
  }

  /// Ends the pause of a session that failed: the next pass tries it again.
  ///
  /// - Throws: ``Platform/SystemError``; errors of the manifest.
  public func retry(_ session: SessionID) throws {
    if var entry = try context.manifest.entry(session) {
      entry.attempts = 0
      entry.nextAttempt = nil
      try context.manifest.save(&entry, of: session)
    }
    try Quarantine(context.home).release(session)
  }

  /// Ends the pause of a store that failed, and forgets how large an object it refused.
  ///
  /// - Throws: errors of the manifest.
  public func retryStore() throws {
    var entry = try context.storeEntry()
    entry.attempts = 0
    entry.nextAttempt = nil
    entry.objectLimit = nil
    try context.manifest.save(entry)
  }
}
