import Crypto
package import ObjectStore
import Platform
package import SessionLog

/// Reads a session's stream back from the store, checking every object against its name and every
/// join against its link.
package struct RemoteReader: Sendable {
  let store: any ObjectStore
  let keys: KnownKeys?

  /// Makes a reader.
  ///
  /// - Parameter keys: what seals are signed with; nil where that is not asked.
  package init(_ store: any ObjectStore, knowing keys: KnownKeys? = nil) {
    self.store = store
    self.keys = keys
  }

  /// Reads the stream, or what comes after a part of it that is known.
  ///
  /// Of a sealed session the objects are read that its seal names. The seal is fetched for that
  /// unless the session has been restricted to it already. When all of the stream is read, its
  /// digest is compared with the seal's.
  ///
  /// A segment that was deleted since the listing, because a longer one took its place, costs one
  /// new listing.
  ///
  /// - Parameters:
  ///   - remote: what a listing showed.
  ///   - generation: the generation to read, by the names of all segments; nil for the one that
  ///     counts.
  ///   - start: where to begin.
  ///   - before: the last bytes before that, up to ``Delta/Link/span`` of them, to compare the first
  ///     segment's link with; nil where they are not known.
  ///   - length: where to stop.
  ///   - body: gets the stream in order, in pieces of at most 2 MiB; zstd's checksum has been
  ///     compared, the segment's hash is compared when its last piece has been handed on.
  /// - Returns: SHA-256 over the bytes, in lower-case hex.
  /// - Throws: ``ReplicaError`` for anything unlawful, ``ObjectStore/StoreError``, and what `body`
  ///   throws.
  @discardableResult
  package func read(
    _ remote: RemoteSession, generation: Int? = nil, from start: StreamOffset = 0,
    after before: [UInt8]? = nil, upTo length: StreamOffset,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> String {
    let stream = try RemoteStream(
      remote, generation: generation, in: store, knowing: keys)
    try await stream.read(from: start, after: before, upTo: length) { part in
      if case .bytes(let piece) = part { try body(piece) }
    }
    return Hex.text((stream.digest ?? SHA256()).finalize())
  }

  /// Reads what can be read of the stream, of a sealed session first what its seal names.
  ///
  /// - Parameters:
  ///   - remote: what a listing showed.
  ///   - length: where to stop; nil for the seal's length, or as far as any object
  ///     says that it reaches, a damaged one too.
  ///   - body: gets the stream in order, and is told of what is lost or in doubt.
  /// - Throws: ``ObjectStore/StoreError`` but for an object that is gone, and what `body` throws.
  package func salvage(
    _ remote: RemoteSession, upTo length: StreamOffset? = nil, _ body: (StreamPart) throws -> Void
  ) async throws {
    let damaged = remote.damagedSegments.lazy
      .filter { $0.name.generation == remote.generation }.map(\.name.range.upperBound).max()
    let length = length ?? remote.seal?.length ?? max(remote.end, damaged ?? 0)
    let stream = try RemoteStream(remote, generation: nil, in: store, knowing: keys, salvages: true)
    // A segment may have very many frames: what is lost for one reason is told once.
    var lost: StreamDamage?
    func tell() throws {
      if let damage = lost { try body(.damage(damage)) }
      lost = nil
    }
    try await stream.read(from: 0, after: nil, upTo: length) { part in
      guard case .damage(let next) = part, next.isLost else {
        try tell()
        return try body(part)
      }
      if let joined = lost?.joined(with: next) { return lost = joined }
      try tell()
      lost = next
    }
    try tell()
  }

  /// Reads one segment, checked against its name.
  ///
  /// - Parameter body: as for the whole stream.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``, and what `body` throws.
  package func read(
    _ segment: SegmentName, in folder: SessionFolder,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    var remote = RemoteSession(folder: folder, session: segment.session, segments: [segment])
    if segment.kind == .delta {
      let listing = try await FolderListing(folder, session: segment.session, in: store)
      remote = listing[segment.session, in: folder].only(segment)
    }
    let stream = try RemoteStream(remote, generation: segment.generation, in: store)
    try await stream.read(
      from: segment.range.lowerBound, after: nil, upTo: segment.range.upperBound
    ) { part in
      if case .bytes(let piece) = part { try body(piece) }
    }
  }

  /// Reads a sidecar revision, checked against its name.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func read(_ revision: RevisionName, in folder: SessionFolder) async throws -> Sidecar {
    try sidecar(try await json(of: revision, in: folder), of: revision, in: folder)
  }

  /// Reads a sidecar revision's bytes, which match its name.
  ///
  /// - Throws: ``ReplicaError`` also when they are of another session, device or generation than the
  ///   key says: what they say is used in file names; and for a seal that is not its device's.
  package func sidecar(
    _ json: [UInt8], of revision: RevisionName, in folder: SessionFolder
  ) throws -> Sidecar {
    let sidecar = try naming(revision) { try Sidecar(json: json) }
    guard sidecar.sessionId == revision.session, sidecar.deviceId == folder.device else {
      throw ReplicaError(
        .damagedObject,
        "\(folder.key)\(revision.fileName) holds the sidecar of session \(sidecar.sessionId) of "
          + "device \(sidecar.deviceId.prefix(64).debugDescription)")
    }
    guard sidecar.generation ?? 1 == revision.generation else {
      throw ReplicaError(
        .damagedObject,
        "\(revision.fileName) speaks of generation \(sidecar.generation ?? 1)")
    }
    try keys?.check(json, sidecar, revision, in: folder)
    return sidecar
  }

  /// The bytes of a sidecar revision, checked against its name.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func json(of revision: RevisionName, in folder: SessionFolder) async throws -> [UInt8] {
    let json = try await store.get(
      folder.key + revision.fileName, atMost: RevisionName.largestObject)
    guard revision.matches(json) else {
      throw ReplicaError(
        .damagedObject, "\(revision.fileName) holds other bytes than its name says")
    }
    return json
  }
}
