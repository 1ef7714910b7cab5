import ObjectStore
import SessionLog

extension RemoteReader {
  /// The user from whose home a session was sent, according to its newest readable revision, and
  /// whether this device's signature proves it.
  ///
  /// Below the prefix of one device are the sessions of all users of a machine.
  ///
  /// - Parameter remote: the session in a listing.
  /// - Returns: nil if there is no readable revision, or it states no user.
  /// - Throws: ``ObjectStore/StoreError``.
  package func user(of remote: RemoteSession) async throws -> (id: UInt32, isProven: Bool)? {
    for revision in remote.revisions.reversed() {
      do {
        let sidecar = try await read(revision, in: remote.folder)
        let isSigned = sidecar.signature != nil && keys?.isOwn(remote.folder.device) == true
        return sidecar.uid.map { ($0, isSigned) }
      } catch is ReplicaError {
        // Damaged, or another writer's; the revision before states the same user.
      }
    }
    return nil
  }
}
