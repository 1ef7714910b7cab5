import ObjectStore
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
  package let store: StoreState?
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
      try LocalSession(context.home, $0).loadUploadState()?.withdrawnAt != nil
    }
    return Waiting(
      sessions: sessions, withdrawn: withdrawn, store: entry.lastError == nil ? nil : entry)
  }

  /// Sessions on this machine, sealed or not, whose remote copy was deleted, sorted by id.
  ///
  /// - Parameter isWanted: which sessions to include.
  /// - Throws: ``Platform/SystemError``.
  package func removed(where isWanted: (SessionID) -> Bool) throws -> [SessionID] {
    let home = context.home
    return try home.sessions().filter { session in
      guard isWanted(session) else { return false }
      let local = LocalSession(home, session)
      if try local.loadUploadState()?.withdrawnAt != nil { return true }
      return (try? Sidecar.load(local.files.sidecar))?.remoteReapedAt != nil
    }
  }

  /// Ends a failed session's pause, or its withdrawal: the next pass sends it.
  ///
  /// A sealed session whose remote copy was deleted is sent again.
  ///
  /// - Parameters:
  ///   - session: the session.
  ///   - isNamed: whether a person named it: then its log is sent even if nothing says any more whether
  ///     it may be.
  ///   - lock: the home's lock.
  /// - Returns: false if nothing was changed, because the log is no longer on this machine or the
  ///   consent does not allow sending it.
  /// - Throws: ``Platform/SystemError``; errors of the manifest.
  @discardableResult
  package func retry(
    _ session: SessionID, isNamed: Bool = false, holding lock: HomeLock
  ) throws -> Bool {
    lock.expect(context.home)
    let local = LocalSession(context.home, session)
    if (try? Sidecar.load(local.files.sidecar))?.remoteReapedAt != nil,
      try !Verifier(context).reopen(session, holding: lock)
    {
      return false
    }
    if var entry = try context.manifest.entry(session) {
      entry.attempts = 0
      entry.nextAttempt = nil
      try context.manifest.save(&entry, of: session)
    }
    if isNamed { try allowLog(of: local) }
    try local.readmit()
    try Quarantine(context.home).release(session)
    return true
  }

  /// Records that the log of a session without a sidecar may be sent; a revision in the store that says
  /// otherwise outranks that.
  private func allowLog(of local: LocalSession) throws {
    guard context.consent == .logs, context.home.hasWithheldLogs,
      try local.sidecar(device: context.device).isDamaged
    else { return }
    var uploadState = try local.loadUploadState() ?? UploadState()
    guard uploadState.consent == nil else { return }
    uploadState.consent = .logs
    try local.write(uploadState, isDurable: true)
  }

  /// Makes the next pass send a session that is sealed in another store to the configured one; its
  /// copy there stays.
  ///
  /// - Returns: false if the local log is incomplete or no longer what was sealed, or the consent does
  ///   not allow sending it.
  /// - Throws: ``Platform/SystemError``; errors of the manifest.
  package func sendFromElsewhere(_ session: SessionID, holding lock: HomeLock) throws -> Bool {
    let (local, verifier) = (LocalSession(context.home, session), Verifier(context))
    if let sidecar = try? Sidecar.load(local.files.sidecar) {
      // In this store nothing would show that the former one alone has what was sent.
      do {
        guard try verifier.changedLog(of: local, sidecar) == nil,
          try verifier.editedLog(of: local, sidecar) == nil
        else { return false }
      } catch is ReplicaError {
        // The rules are lost by which it was sent.
        return false
      }
      if let log = try local.openLog(sidecar.source), let seal = sidecar.seal,
        try log.status().length < seal.length
      {
        return false
      }
    }
    return try verifier.reopen(session, holding: lock)
  }

  /// Sealed sessions on this machine whose remote copy is elsewhere, or longer.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func sealedCopies() throws -> SealedCopies {
    try SealedCopies(context.home, store: context.store.location)
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
