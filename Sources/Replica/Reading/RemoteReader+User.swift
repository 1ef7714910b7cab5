import ObjectStore
import SessionLog

extension RemoteReader {
  /// The user from whose home a session was sent, according to its newest readable revision; nil if
  /// none states one.
  ///
  /// Below the prefix of one device are the sessions of all users of a machine.
  ///
  /// - Parameter remote: the session in a listing.
  /// - Throws: ``ObjectStore/StoreError``.
  package func user(of remote: RemoteSession) async throws -> UInt32? {
    for revision in remote.revisions.reversed() {
      do {
        return try await read(revision, in: remote.folder).uid
      } catch is ReplicaError {
        // Damaged, or another writer's; the revision before states the same user.
      }
    }
    return nil
  }
}
