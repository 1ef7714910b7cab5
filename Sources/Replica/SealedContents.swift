package import SessionLog

/// What a seal says the stream of its session is made of.
///
/// Anyone who may write to a store can add a segment that reaches further than the lawful ones. Of a
/// sealed session readers therefore take the objects that its seal names, and no others.
package struct SealedContents: Sendable, Equatable {
  /// The seal.
  package let seal: RevisionName
  /// The segments that hold the stream, and those that they copy from; nil for a session without a
  /// log of which the seal names none.
  let names: Set<SegmentName>?
  /// SHA-256 of the stream in lower-case hex; nil where the log was not sent, or not whole.
  package let digest: String?

  /// Reads a seal's list of objects.
  ///
  /// - Parameters:
  ///   - seal: the seal's name.
  ///   - sidecar: what it holds.
  /// - Throws: ``ReplicaError`` when the list cannot be that of the stream.
  init(_ seal: RevisionName, _ sidecar: Sidecar) throws {
    self.seal = seal
    digest = sidecar.digest
    guard sidecar.withholdsLog || sidecar.digest != nil else {
      throw Self.damaged(seal, "seals the session without a digest")
    }
    guard let objects = sidecar.objects else {
      guard sidecar.digest == nil else {
        throw Self.damaged(seal, "seals the session without naming its objects")
      }
      names = nil
      return
    }
    let stream = try Self.names(objects, of: seal) { $0 == seal.generation }
    let basis = try Self.names(sidecar.basis ?? [], of: seal) { $0 < seal.generation }
    var end = StreamOffset.zero
    for name in stream.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      guard name.range.lowerBound <= end else { break }
      end = max(end, name.range.upperBound)
    }
    guard end >= seal.length else {
      throw Self.damaged(seal, "names no object for bytes \(end) to \(seal.length)")
    }
    names = Set(stream + basis)
  }

  private static func names(
    _ list: [String], of seal: RevisionName, _ isLawful: (Int) -> Bool
  ) throws -> [SegmentName] {
    try list.map { text in
      guard let name = SegmentName(text), name.session == seal.session, isLawful(name.generation)
      else {
        throw damaged(seal, "names an object that cannot be one of the stream: \(text.prefix(120))")
      }
      return name
    }
  }

  private static func damaged(_ seal: RevisionName, _ what: String) -> ReplicaError {
    ReplicaError(.damagedObject, "\(seal.fileName) \(what)")
  }
}

extension RemoteSession {
  /// The session as its seal describes it: with the segments that the seal names, and no others.
  ///
  /// Itself where it is not sealed.
  ///
  /// - Parameter sidecar: the newest revision's content.
  /// - Throws: ``ReplicaError`` when the seal's list cannot be that of the stream.
  package func restricted(to sidecar: Sidecar) throws -> RemoteSession {
    guard let seal else { return self }
    return try restricted(to: SealedContents(seal, sidecar))
  }

  /// The session as a seal that was read before describes it.
  func restricted(to contents: SealedContents) -> RemoteSession {
    var copy = contents.names.map { names in keeping(names.contains) } ?? self
    copy.contents = contents
    return copy
  }
}
