import Crypto
import ObjectStore
import Replica
package import Platform
import SessionLog

/// Whose sessions a pass may go on with, where root sends those of all users of a machine.
///
/// All users' sessions lie below one device's prefix, and anybody can make files in their own home
/// under any session id: ids are no secrets. So each revision states the user whose home it came from,
/// and what the store has of another user's session, or of one that states none, is neither gone on
/// with nor deleted.
///
/// What the manifest says is the user's word, too. To spare a listing it keeps a proof that an earlier
/// pass has looked, made with a key that only root can read.
package struct SessionOwnership: Sendable {
  private let user: Account
  private let store: String
  private let key: SymmetricKey

  /// Describes the owner of a home.
  ///
  /// - Parameters:
  ///   - user: the owner.
  ///   - store: the store's location.
  ///   - key: see ``SessionLog/MachineWide/ownershipKey(on:)``.
  package init(_ user: Account, store: String, key: [UInt8]) {
    (self.user, self.store, self.key) = (user, store, SymmetricKey(data: key))
  }

  /// What a listing shows of a session's owner.
  enum Finding {
    /// It is the owner's, or nothing is there.
    case own
    /// It is another's, or nobody can say whose.
    case foreign
    /// Segments without a sidecar: only whoever has their bytes can have put them.
    case undecided
  }

  /// Finds out whose a session is.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  func finding(_ remote: RemoteSession, in store: any ObjectStore) async throws -> Finding {
    guard !remote.revisions.isEmpty else { return remote.segments.isEmpty ? .own : .undecided }
    for revision in remote.revisions.reversed() {
      do {
        let sidecar = try await RemoteReader(store).read(revision, in: remote.folder)
        return sidecar.uid == user.id ? .own : .foreign
      } catch is ReplicaError {
        // Damaged; the one before says the same.
      }
    }
    return .foreign
  }

  /// The proof that a session is this user's.
  func proof(_ session: SessionID, in folder: SessionFolder) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: statement(session, folder), using: key))
  }

  /// Whether a proof from the manifest is that.
  func proves(_ proof: [UInt8]?, _ session: SessionID, in folder: SessionFolder) -> Bool {
    guard let proof else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(
      proof, authenticating: statement(session, folder), using: key)
  }

  private func statement(_ session: SessionID, _ folder: SessionFolder) -> [UInt8] {
    Array("\(store)\n\(folder.key)\(session)\n\(user.id)".utf8)
  }

  /// Says that a session is another's.
  func refusal(_ session: SessionID, _ log: String) -> ReplicaError {
    ReplicaError(
      .foreignSession,
      "the store has \(session), and not as a session of \(user.name) (uid \(user.id)): nothing of it "
        + "is sent; if the log is to be sent, 'tidemark import \(log)' makes another session of it")
  }
}
