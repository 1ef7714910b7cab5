import Replica
package import SessionLog
package import Sync

/// Sends again, from the local logs, the bytes that the remote copies of sessions lack.
package struct Repair: Sendable {
  private let context: SyncContext

  /// Makes a repair.
  package init(_ context: SyncContext) { self.context = context }

  /// Repairs sessions, and sends what is waiting of recorded ones.
  ///
  /// - Parameters:
  ///   - sessions: the sessions with incomplete remote copies.
  ///   - lock: the home's lock.
  ///   - refused: called with each session that cannot be sent again, and the reason.
  ///   - givenUp: called with each former stream of a session that is lost for good.
  /// - Returns: the result; ``Sync/UploadReport/stoppedBy`` is set if the store failed.
  /// - Throws: as ``Sync/Uploader/execute(_:within:holding:report:)`` does.
  package func run(
    _ sessions: [SessionID], holding lock: HomeLock, refused: (SessionID, String) -> Void,
    givenUp: (SessionID, String) -> Void = { _, _ in }
  ) async throws -> UploadReport {
    let verifier = Verifier(context)
    for session in sessions {
      let (sidecar, _) = try LocalSession(context.home, session).sidecar(device: context.device)
      let folder = SessionFolder(device: sidecar.deviceId, session: session)
      let listing = try await FolderListing(folder, session: session, in: context.store)
      let remote = listing[session, in: folder]
      if let obstacle = try verifier.obstacle(to: remote) {
        refused(session, obstacle)
        continue
      }
      let isReopened = try await verifier.reopen(session, having: remote, holding: lock) {
        givenUp(session, $0)
      }
      if !isReopened { refused(session, try refusal(of: session)) }
    }
    let uploader = Uploader(context)
    var plan = try uploader.plan(.all)
    plan.leaveAttached(besides: sessions)
    return try await uploader.execute(plan, holding: lock)
  }

  /// Why a session cannot be sent again.
  private func refusal(of session: SessionID) throws -> String {
    guard context.consent == .logs else { return "consent is 'metadata'" }
    guard try Trash(context.home).sidecarPath(of: session) != nil else {
      return "no local log to re-send: put the objects back from a backup, or accept the loss with "
        + "'tidemark delete \(session)'"
    }
    return "its local log is in the trash: 'tidemark restore \(session)' puts it back, and then "
      + "'tidemark verify --repair \(session)' sends what the store lacks"
  }
}
