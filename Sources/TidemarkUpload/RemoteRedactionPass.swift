import Replica
package import SessionLog
package import Sync

/// Applies the configured rules to what was sent before they were.
package struct RemoteRedactionPass: Sendable {
  private let context: SyncContext

  /// What became of a session.
  package enum Outcome: Sendable {
    /// Segments of it are sent again.
    case resent(RemoteRedaction.Item)
    /// It cannot be sent again, and why.
    case refused(String)
  }

  /// Makes a pass.
  package init(_ context: SyncContext) { self.context = context }

  /// Begins a new generation of each session of which the rules mask more or less, and sends it.
  ///
  /// - Parameters:
  ///   - sessions: which.
  ///   - lock: the home's lock; nil to find out only.
  ///   - report: gets what became of the sessions that are concerned.
  /// - Returns: what was sent; nil where nothing had to be.
  /// - Throws: errors of the store and of the home; what the store failed with.
  package func run(
    _ sessions: [SessionID], holding lock: HomeLock?, report: (SessionID, Outcome) -> Void
  ) async throws -> UploadReport? {
    let redaction = RemoteRedaction(context)
    var hasBegun = false
    for session in sessions {
      do {
        guard let item = try await redaction.plan(session) else { continue }
        if let lock { try redaction.begin(item, holding: lock) }
        hasBegun = true
        report(session, .resent(item))
      } catch let error as ReplicaError {
        report(session, .refused(error.detail))
      }
    }
    guard hasBegun, let lock else { return nil }
    let uploader = Uploader(context)
    let sent = try await uploader.execute(uploader.plan(.all), holding: lock)
    if let error = sent.stoppedBy { throw error }
    return sent
  }
}
