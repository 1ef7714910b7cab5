import Platform
import SessionLog
import Sync

/// Deletion on this machine.
extension LogUploads {
  /// Deletes the program's ended sessions from this machine, because its user asks for it; what the
  /// store has of them stays.
  ///
  /// - Returns: how many were deleted; sessions that still run, or cannot be deleted, stay.
  /// - Throws: as ``upload()`` does.
  @discardableResult
  public func clear() async throws -> Int {
    guard
      let lock = try await HomeLock.acquire(home, within: options.patience, pausing: pausing)
    else { return 0 }
    let lived = try LivedClock(home: home, machine: machine)
    let deletion = Deletion(home: home, context: nil, lived: lived, command: "LogUploads.clear()")
    let own = session.id.flatMap { try? Sidecar.load(home.files(for: $0).sidecar).appName }
    var deleted = 0
    for session in try home.days().flatMap(home.sessions) {
      let files = home.files(for: session)
      guard session != self.session.id || self.session.hasEnded,
        let sidecar = try? Sidecar.load(files.sidecar), sidecar.appName == own,
        sidecar.source == nil, sidecar.status != .active || sidecar.recorder != nil,
        let alone = try? FileLock.tryExclusive(files.lock)
      else { continue }
      let outcomes = try await deletion.delete(session, local: true, remote: nil, holding: lock)
      withExtendedLifetime(alone) {}
      if outcomes.allSatisfy({ $0.error == nil }) { deleted += 1 }
    }
    return deleted
  }
}
