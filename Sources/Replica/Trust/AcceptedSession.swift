package import SessionLog

/// A session of a listing whose newest revision is its device's, as far as this reader can know.
///
/// Only ``RemoteReader/accept(_:)`` makes one. Every reader of a session's log or sidecar takes
/// both from it: another writer to the store can add nothing to a session whose device's key is
/// known, unless it seems to have begun before that key, and the key did not come with the device.
package struct AcceptedSession: Sendable {
  private let listed: RemoteSession
  /// The newest revision's content; nil for a session without one.
  package let sidecar: Sidecar?
  /// That content as stored; empty for a session without one.
  package let json: [UInt8]

  fileprivate init(_ listed: RemoteSession, _ sidecar: Sidecar?, _ json: [UInt8]) {
    (self.listed, self.sidecar, self.json) = (listed, sidecar, json)
  }

  /// The session, restricted to the segments that its seal names if it is sealed.
  ///
  /// - Throws: ``ReplicaError`` if the seal's list does not match the stream.
  package func session() throws -> RemoteSession {
    var session = try sidecar.map(listed.restricted) ?? listed
    session.isAccepted = true
    return session
  }
}

extension RemoteReader {
  /// Reads a session's newest revision, and verifies that its device wrote it.
  ///
  /// - Throws: ``ReplicaError``, also for a session without a revision whose device signs them;
  ///   ``ObjectStore/StoreError``.
  package func accept(_ remote: RemoteSession) async throws -> AcceptedSession {
    guard let revision = remote.revision else {
      try keys?.checkMissingRevision(of: remote)
      return AcceptedSession(remote, nil, [])
    }
    let json = try await json(of: revision, in: remote.folder)
    return AcceptedSession(
      remote, try sidecar(json, of: revision, in: remote.folder), json)
  }

  /// Whether a session's newest revision still has to be read before its log: not if it was
  /// accepted, and not if it can neither name objects nor be compared with a key.
  package func mustAccept(_ remote: RemoteSession) -> Bool {
    !remote.isAccepted && (remote.seal != nil || keys != nil)
  }
}
