import Crypto
package import ObjectStore
import Platform
package import SessionLog

/// Reads a session's stream from the store; verifies every object against its name and every join
/// against its link.
package struct RemoteReader: Sendable {
  let store: any ObjectStore
  let keys: KnownKeys?

  /// Makes a reader.
  ///
  /// - Parameter keys: the keys that revisions must be signed with; nil to skip that check, where a
  ///   home knows a revision by its hash, or the log itself.
  package init(_ store: any ObjectStore, knowing keys: KnownKeys?) {
    self.store = store
    self.keys = keys
  }

  /// Reads the stream, or the rest after a known part.
  ///
  /// For a sealed session, reads the objects that its seal names. Fetches the newest revision for
  /// that, and to verify who signed it, unless the session was accepted already. If the whole
  /// stream is read, its digest is compared with the seal's.
  ///
  /// A segment that was deleted since the listing, because a longer one replaced it, costs one new
  /// listing.
  ///
  /// - Parameters:
  ///   - remote: the session in a listing.
  ///   - generation: the generation to read, by the names of all segments; nil for the one that
  ///     counts.
  ///   - start: the offset to start at.
  ///   - before: the last bytes before that, up to ``Delta/Link/span`` of them, to verify the first
  ///     segment's link; nil if unknown.
  ///   - length: the offset to stop at.
  ///   - body: called with the stream in order, in pieces of at most 2 MiB; zstd's checksum was
  ///     verified before, the segment's hash is verified after its last piece.
  /// - Returns: SHA-256 over the bytes, in lower-case hex.
  /// - Throws: ``ReplicaError`` for anything invalid, ``ObjectStore/StoreError``, and errors of
  ///   `body`.
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

  /// Reads everything readable of the stream; for a sealed session, first the objects that its seal
  /// names.
  ///
  /// - Parameters:
  ///   - remote: the session in a listing.
  ///   - length: the offset to stop at; nil for the seal's length, or the end that any object
  ///     claims, even a damaged one.
  ///   - body: called with the stream in order, and with each loss or doubt.
  /// - Throws: ``ObjectStore/StoreError`` except for a missing object, and errors of `body`.
  package func salvage(
    _ remote: RemoteSession, upTo length: StreamOffset? = nil, _ body: (StreamPart) throws -> Void
  ) async throws {
    let damaged = remote.damagedSegments.lazy
      .filter { $0.name.generation == remote.generation }.map(\.name.range.upperBound).max()
    let length = length ?? remote.seal?.length ?? max(remote.end, damaged ?? 0)
    let stream = try RemoteStream(remote, generation: nil, in: store, knowing: keys, salvages: true)
    // A segment may have very many frames: report consecutive losses with one reason once.
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

  /// Reads one segment, verified against its name.
  ///
  /// - Parameter body: as for the whole stream.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``, and errors of `body`.
  package func read(
    _ segment: SegmentName, in folder: SessionFolder,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    var remote = RemoteSession(folder: folder, session: segment.session, segments: [segment])
    if segment.kind == .delta {
      let listing = try await FolderListing(folder, session: segment.session, in: store)
      remote = listing[segment.session, in: folder]
    }
    try await read(segment, of: remote, body)
  }

  /// The same, where a delta copies from these segments alone.
  package func read(
    _ segment: SegmentName, of remote: RemoteSession,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    let stream = try RemoteStream(
      remote.only(segment), generation: segment.generation, in: store, knowing: keys)
    try await stream.read(
      from: segment.range.lowerBound, after: nil, upTo: segment.range.upperBound
    ) { part in
      if case .bytes(let piece) = part { try body(piece) }
    }
  }

  /// Reads a sidecar revision, verified against its name.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func read(_ revision: RevisionName, in folder: SessionFolder) async throws -> Sidecar {
    try sidecar(try await json(of: revision, in: folder), of: revision, in: folder)
  }

  /// Reads a sidecar revision from bytes that match its name.
  ///
  /// - Throws: ``ReplicaError``, also if they state another session, device or generation than the
  ///   key, because these become file names; and for a revision that is not its device's.
  func sidecar(
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
    // A local sidecar may be ahead of the revision that names the next generation.
    guard sidecar.former?.last.map({ $0.generation < revision.generation }) ?? true else {
      throw ReplicaError(
        .damagedObject, "\(revision.fileName) has a former stream of its own generation or later")
    }
    try keys?.check(json, sidecar, revision, in: folder)
    return sidecar
  }

  /// The bytes of a sidecar revision, verified against its name.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  func json(of revision: RevisionName, in folder: SessionFolder) async throws -> [UInt8] {
    let json = try await store.get(
      folder.key + revision.fileName, atMost: RevisionName.largestObject)
    guard revision.matches(json) else {
      throw ReplicaError(
        .damagedObject, "\(revision.fileName) holds other bytes than its name says")
    }
    return json
  }
}
