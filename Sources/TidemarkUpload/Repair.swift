import Replica
package import SessionLog
package import Sync

/// Sends again, from the local logs, what the remote copies of sessions lack.
package struct Repair: Sendable {
  private let context: SyncContext

  /// Makes a repair.
  package init(_ context: SyncContext) { self.context = context }

  /// Repairs sessions, and sends what else is waiting.
  ///
  /// - Parameters:
  ///   - sessions: those whose remote copies are not whole.
  ///   - lock: the home's lock.
  ///   - refused: gets each session that cannot be sent again, with the reason.
  /// - Returns: what was sent; ``Sync/UploadReport/stoppedBy`` says whether the store failed.
  /// - Throws: as ``Sync/Uploader/execute(_:holding:report:)`` does.
  package func run(
    _ sessions: [SessionID], holding lock: HomeLock, refused: (SessionID, String) -> Void
  ) async throws -> UploadReport {
    let why =
      context.consent == .logs ? "no local log to re-send" : "consent is 'metadata'"
    let verifier = Verifier(context)
    for session in sessions {
      let folder = SessionFolder(device: context.device.deviceId, session: session)
      let listing = try await FolderListing(folder, session: session, in: context.store)
      if let obstacle = try verifier.obstacle(to: listing[session, in: folder]) {
        refused(session, obstacle)
      } else if try !verifier.reopen(session, holding: lock) {
        refused(session, why)
      }
    }
    let uploader = Uploader(context)
    return try await uploader.execute(uploader.plan(.all), holding: lock)
  }
}
