import Crypto
import ObjectStore
import Platform
import SessionLog

/// Applies the seal to the stream being read.
extension RemoteStream {
  /// Restricts the reading of a sealed session to what its seal names.
  ///
  /// In salvage, an unreadable seal leaves all segments.
  func obeySeal() async throws {
    guard obeysSeal, remote.contents == nil, let seal = remote.seal, seal.generation == generation
    else { return }
    do {
      let sidecar = try await RemoteReader(store, knowing: keys).read(seal, in: remote.folder)
      remote = try remote.restricted(to: sidecar)
    } catch let error as StoreError where error.isNotFound {
      do {
        try await lookAgain(error)
      } catch let error as StoreError where error.isNotFound && salvages {
        sealProblem = ReplicaError(.damagedObject, "\(error)")
      }
    } catch let error as ReplicaError where salvages {
      sealProblem = error
    }
  }

  /// The same, reporting an unreadable seal.
  func obeySeal(upTo length: StreamOffset, _ body: Body) async throws {
    try await obeySeal()
    if let sealProblem, length > 0 { try doubt(0..<length, sealProblem, body) }
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
