import SessionLog

/// The objects of a session's stream according to its seal.
///
/// Anyone with write access to a store can add a segment that extends further than the valid ones.
/// For a sealed session readers therefore use only the objects that its seal names.
package struct SealedContents: Sendable, Equatable {
  /// The seal.
  package let seal: RevisionName
  /// The segments that hold the stream, and those that they copy from; nil for a session without a
  /// log whose seal names none.
  let names: Set<SegmentName>?
  /// SHA-256 of the stream in lower-case hex; nil if the log was not sent, or only in part.
  package let digest: String?
  /// Hashes of the segments' indexes, in lower-case hex; nil for a seal that names none.
  private let indexes: [SegmentName: String]?
  /// Whether deltas may copy from a segment whose index has no hash.
  private let hasUnknownBasis: Bool

  /// Reads a seal's list of objects.
  ///
  /// - Parameters:
  ///   - seal: the seal's name.
  ///   - sidecar: the seal's content.
  /// - Throws: ``ReplicaError`` if the list does not match the stream.
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
      (names, indexes, hasUnknownBasis) = (nil, nil, false)
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
    guard let hashes = sidecar.indexes else {
      (indexes, hasUnknownBasis) = (nil, false)
      return
    }
    guard hashes.count == stream.count + basis.count else {
      throw Self.damaged(seal, "does not list one index for each object")
    }
    let known = zip(stream + basis, hashes).compactMap { name, hash in hash.map { (name, $0) } }
    indexes = Dictionary(known) { first, _ in first }
    hasUnknownBasis = hashes.suffix(basis.count).contains(nil)
  }

  /// How a segment's content is verified if not all of it is read.
  enum Verification: Equatable {
    /// By its index, which has this hash, and by the hashes of its frames in the index.
    case index(String)
    /// By the hash in its name: all of it has to be read.
    case whole
    /// By the checksums of its index and frames alone: its seal, of version 0.1, names no indexes.
    case checksums
  }

  /// How a segment is verified.
  func verification(of name: SegmentName) -> Verification {
    guard let indexes, names?.contains(name) == true else { return .checksums }
    guard let hash = indexes[name], name.kind == .plain || !hasUnknownBasis else { return .whole }
    return .index(hash)
  }

  private static func names(
    _ list: [String], of seal: RevisionName, _ isLawful: (Int) -> Bool
  ) throws -> [SegmentName] {
    try list.map { text in
      guard let name = SegmentName(text), name.session == seal.session, isLawful(name.generation)
      else {
        throw damaged(
          seal, "names an object that cannot be one of the stream: '\(ReplicaError.name(text))'")
      }
      return name
    }
  }

  private static func damaged(_ seal: RevisionName, _ what: String) -> ReplicaError {
    ReplicaError(.damagedObject, "\(seal.fileName) \(what)")
  }
}

extension RemoteSession {
  /// How a segment is verified if not all of it is read; see ``SealedContents/Verification``.
  func verification(of segment: SegmentName) -> SealedContents.Verification {
    contents?.verification(of: segment) ?? .checksums
  }

  /// The session restricted to the segments that its seal names.
  ///
  /// Unchanged if it is not sealed.
  ///
  /// - Parameter sidecar: the newest revision's content.
  /// - Throws: ``ReplicaError`` if the seal's list does not match the stream.
  func restricted(to sidecar: Sidecar) throws -> RemoteSession {
    guard let seal else { return self }
    return try restricted(to: SealedContents(seal, sidecar))
  }

  /// The session restricted to a seal that was read before.
  func restricted(to contents: SealedContents) -> RemoteSession {
    var copy = contents.names.map { names in keeping(names.contains) } ?? self
    copy.contents = contents
    return copy
  }
}
