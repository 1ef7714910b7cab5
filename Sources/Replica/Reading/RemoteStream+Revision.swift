import Crypto
import ObjectStore
import Platform
import SessionLog

/// Applies the newest revision to the stream being read.
extension RemoteStream {
  /// Reads only a session that is its device's and, if it is sealed, only the objects that its seal
  /// names.
  ///
  /// In salvage, an unreadable or foreign revision leaves all segments.
  func obeyRevision() async throws {
    let reader = RemoteReader(store, knowing: keys)
    guard obeysRevision, reader.mustAccept(remote), revisionProblem == nil else { return }
    do {
      let accepted = try await reader.accept(remote)
      if remote.generation == generation {
        remote = try accepted.session()
      } else {
        // Another generation became current during the reading; keep reading this one.
        remote.isAccepted = true
      }
    } catch let error as StoreError where error.isNotFound {
      do {
        try await listAgain(error)
      } catch let error as StoreError where error.isNotFound && salvages {
        revisionProblem = ReplicaError(.damagedObject, "\(error)")
      }
    } catch let error as ReplicaError where salvages {
      revisionProblem = error
    }
  }

  /// The same, reporting such a revision.
  func obeyRevision(upTo length: StreamOffset, _ body: Body) async throws {
    try await obeyRevision()
    if let revisionProblem, length > 0 { try doubt(0..<length, revisionProblem, body) }
  }

  /// Compares the digest of a completely read stream with its seal's.
  func checkDigest(of range: Range<StreamOffset>, _ body: Body) throws {
    guard let contents = remote.contents, let expected = contents.digest, !hasLost,
      range == 0..<contents.seal.length, generation == contents.seal.generation
    else { return }
    let found = Hex.text((digest ?? SHA256()).finalize())
    guard found != expected else { return }
    try doubt(
      range,
      ReplicaError(
        .damagedObject,
        "\(remote.session) is not the log that it was sealed with: its digest is \(found), and "
          + "\(contents.seal.fileName) says \(expected.prefix(64).debugDescription)"), body)
  }
}
