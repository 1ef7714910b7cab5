import Crypto
import ObjectStore
package import Platform
import Replica
package import SessionLog

/// Which sessions a pass may continue when root sends those of all users of a machine.
///
/// All users' sessions are below one device's prefix, and users can create files in their own homes
/// under any session id: ids are not secret. So root records whose home had a session first, see
/// ``SessionLog/SessionClaims``, and each revision states the user whose home it came from. If the
/// record or the store says another user's, or the store has one that states no user, the session is
/// neither continued nor deleted. If both say a user, but not the same, a revision that the device
/// signed counts: the session was sent for that user before the record began.
///
/// The manifest, too, is under the user's control. To save a listing, it contains a proof that an
/// earlier pass has checked, made with a key that only root can read. The proof stays valid because
/// neither a claim nor a signed revision ever passes to another user.
package struct SessionOwnership: Sendable {
  private let user: Account
  private let store: String
  private let key: SymmetricKey
  private let claims: SessionClaims

  /// Describes the owner of a home.
  ///
  /// - Parameters:
  ///   - user: the owner.
  ///   - store: the store's location.
  ///   - key: see ``SessionLog/MachineWide/ownershipKey(on:)``.
  ///   - claims: the sessions that the user has claimed.
  package init(_ user: Account, store: String, key: [UInt8], claims: SessionClaims) {
    (self.user, self.store, self.key) = (user, store, SymmetricKey(data: key))
    self.claims = claims
  }

  /// Whether a session has been claimed, by this or another user: until then it waits.
  ///
  /// - Throws: ``Platform/SystemError`` if it cannot be.
  func isClaimed(_ session: SessionID) throws -> Bool {
    if claims.isOwn(session) != nil { return true }
    if let problem = claims.problem(of: session) { throw problem }
    return false
  }

  /// Whether the user has claimed a session.
  func hasClaimed(_ session: SessionID) -> Bool { claims.isOwn(session) == true }

  /// A session's owner according to a listing.
  enum Finding {
    /// It is the owner's, as a revision states that the device signed.
    case proven
    /// It is the owner's, if the owner has claimed it, or the store has nothing of it.
    case own
    /// It is another user's, or its user is unknown.
    case foreign
    /// Segments without a sidecar: only someone with their bytes can have put them.
    case undecided

    /// Whether the store does not contradict the owner.
    var isOwn: Bool { self == .proven || self == .own }
  }

  /// Finds out who owns a session.
  ///
  /// - Parameter reader: verifies who signed a revision.
  /// - Throws: ``ObjectStore/StoreError``.
  func finding(_ remote: RemoteSession, by reader: RemoteReader) async throws -> Finding {
    guard !remote.revisions.isEmpty else { return remote.segments.isEmpty ? .own : .undecided }
    guard let user = try await reader.user(of: remote), user.id == self.user.id else {
      return .foreign
    }
    return user.isProven ? .proven : .own
  }

  /// The grounds of a proof.
  private enum Ground: String {
    /// The user has claimed the session, which has to be looked up each time: a pass may have proven
    /// it before another user did.
    case claimed
    /// A revision that the device signed.
    case signed
  }

  /// The proof that a session is this user's.
  func proof(
    _ session: SessionID, in folder: SessionFolder, by finding: Finding = .own
  ) -> [UInt8] {
    let statement = statement(session, folder, finding == .proven ? .signed : .claimed)
    return Array(HMAC<SHA256>.authenticationCode(for: statement, using: key))
  }

  /// Whether a proof from the manifest is valid.
  func proves(_ proof: [UInt8]?, _ session: SessionID, in folder: SessionFolder) -> Bool {
    guard let proof else { return false }
    let grounds: [Ground] = hasClaimed(session) ? [.signed, .claimed] : [.signed]
    return grounds.contains { ground in
      HMAC<SHA256>.isValidAuthenticationCode(
        proof, authenticating: statement(session, folder, ground), using: key)
    }
  }

  private func statement(
    _ session: SessionID, _ folder: SessionFolder, _ ground: Ground
  ) -> [UInt8] {
    Array("\(ground.rawValue)\n\(store)\n\(folder.key)\(session)\n\(user.id)".utf8)
  }

  /// The error for a session that is another user's.
  func refusal(_ session: SessionID, _ log: String) -> ReplicaError {
    ReplicaError(
      .foreignSession,
      "\(session) is not known as a session of \(user.name) (uid \(user.id)): nothing of it "
        + "is sent; if the log is to be sent, 'tidemark import \(log)' makes another session of it")
  }
}
