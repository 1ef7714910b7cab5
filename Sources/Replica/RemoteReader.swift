import Crypto
import Delta
public import ObjectStore
public import SessionLog

/// Reads a session's stream back from the store, checking every object against its name and every
/// join against its link.
public struct RemoteReader: Sendable {
  private let store: any ObjectStore

  /// Makes a reader.
  public init(_ store: any ObjectStore) { self.store = store }

  /// Reads the stream, or what comes after a part of it that is known.
  ///
  /// A segment that was deleted since the listing, because a longer one took its place, costs one
  /// new listing.
  ///
  /// - Parameters:
  ///   - remote: what a listing showed.
  ///   - start: where to begin, in stream bytes.
  ///   - before: the last bytes before that, up to ``Delta/Link/span`` of them, to compare the first
  ///     segment's link with; nil where they are not known.
  ///   - length: where to stop, in stream bytes.
  ///   - body: gets the stream in order, in pieces of at most 2 MiB; zstd's checksum has been
  ///     compared, the segment's hash is compared when its last piece has been handed on.
  /// - Returns: SHA-256 over the bytes, in lower-case hex.
  /// - Throws: ``ReplicaError`` for anything unlawful, ``ObjectStore/StoreError``, and what `body`
  ///   throws.
  @discardableResult
  public func read(
    _ remote: RemoteSession, from start: Int64 = 0, after before: [UInt8]? = nil,
    upTo length: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> String {
    if let (outer, inner) = remote.overlaps.first {
      throw ReplicaError(
        .damagedObject, "\(outer.fileName) and \(inner.fileName) overlap; neither holds the other")
    }
    let decoder = try SegmentDecoder()
    var remote = remote
    var listedAgain = false
    var digest = SHA256()
    var offset = start
    var tail = start == 0 ? [] : before
    while offset < length {
      guard let segment = remote.segment(at: offset) else {
        throw Self.missing(remote, from: offset, to: length)
      }
      let object: [UInt8]
      do {
        object = try await store.get(remote.folder.key + segment.fileName)
      } catch let error as StoreError where error.isNotFound && !listedAgain {
        listedAgain = true
        let folder = remote.folder
        remote = try await FolderListing(folder, session: remote.session, in: store)[
          remote.session, in: folder]
        continue
      }
      try Self.check(object, of: segment, tail: offset == segment.range.lowerBound ? tail : nil)
      var position = segment.range.lowerBound
      try Self.decode(object, of: segment, with: decoder) { piece in
        let from = Int(max(offset, position) - position)
        let to = Int(min(length - position, Int64(piece.count)))
        position += Int64(piece.count)
        guard from < to else { return }
        let wanted = UnsafeRawBufferPointer(rebasing: piece[from..<to])
        digest.update(bufferPointer: wanted)
        tail = Array(((tail ?? []) + wanted.suffix(Link.span)).suffix(Link.span))
        try body(wanted)
      }
      offset = min(length, segment.range.upperBound)
    }
    return NameField.hex(digest.finalize())
  }

  /// Reads one segment, checked against its name.
  ///
  /// - Parameter body: as for the whole stream.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``, and what `body` throws.
  public func read(
    _ segment: SegmentName, in folder: SessionFolder,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    let object = try await store.get(folder.key + segment.fileName)
    try Self.check(object, of: segment, tail: nil)
    try Self.decode(object, of: segment, with: SegmentDecoder(), body)
  }

  private static func decode(
    _ object: [UInt8], of segment: SegmentName, with decoder: SegmentDecoder,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var hasher = SHA256()
    let rawLength = Int(segment.range.upperBound - segment.range.lowerBound)
    _ = try naming(segment) {
      try decoder.decode(object, rawLength: rawLength) { piece in
        hasher.update(bufferPointer: piece)
        try body(piece)
      }
    }
    guard NameField.hash16(hasher.finalize()) == segment.hash else {
      throw ReplicaError(
        .damagedObject, "\(segment.fileName) holds other bytes than its name says")
    }
  }

  /// Reads a sidecar revision, checked against its name.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  public func read(_ revision: RevisionName, in folder: SessionFolder) async throws -> Sidecar {
    try Self.sidecar(try await json(of: revision, in: folder), of: revision)
  }

  /// Reads a sidecar revision's bytes, which match its name.
  ///
  /// - Throws: ``ReplicaError`` also when they speak of another generation than the name.
  public static func sidecar(_ json: [UInt8], of revision: RevisionName) throws -> Sidecar {
    let sidecar = try naming(revision) { try Sidecar(json: json) }
    guard sidecar.generation ?? 1 == revision.generation else {
      throw ReplicaError(
        .damagedObject,
        "\(revision.fileName) speaks of generation \(sidecar.generation ?? 1)")
    }
    return sidecar
  }

  /// The bytes of a sidecar revision, checked against its name.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  public func json(of revision: RevisionName, in folder: SessionFolder) async throws -> [UInt8] {
    let json = try await store.get(folder.key + revision.fileName)
    guard revision.matches(json) else {
      throw ReplicaError(
        .damagedObject, "\(revision.fileName) holds other bytes than its name says")
    }
    return json
  }

  /// The size and the join, which cost nothing to look at before a byte is handed on.
  private static func check(_ object: [UInt8], of segment: SegmentName, tail: [UInt8]?) throws {
    guard Int64(object.count) == segment.stored else {
      throw ReplicaError(
        .damagedObject, "\(segment.fileName) has \(object.count) bytes, not what its name says")
    }
    guard let tail else { return }
    let link = try naming(segment) { try SegmentIndex.decode(endOf: object[...]).index.link }
    // Where the writer no longer had the bytes before, its link covers fewer of them.
    guard link.covered <= tail.count, link == Link(before: tail.suffix(link.covered)) else {
      throw ReplicaError(
        .damagedObject, "\(segment.fileName) does not continue the stream that stands before it")
    }
  }

  /// Gives errors of the layers below the name of the object that they are about.
  private static func naming<Value>(
    _ object: any CustomStringConvertible, _ work: () throws -> Value
  ) throws -> Value {
    do {
      return try work()
    } catch let error as SegmentError {
      throw ReplicaError(.damagedObject, "\(object): \(error)")
    } catch let error as DecodingError {
      throw ReplicaError(.damagedObject, "\(object) is not a sidecar: \(error)")
    }
  }

  private static func missing(
    _ remote: RemoteSession, from offset: Int64, to length: Int64
  ) -> ReplicaError {
    let generation = remote.generation
    let next = remote.segments(of: generation).first { $0.range.lowerBound > offset }
    let damaged = remote.damagedSegments.first {
      $0.name.generation == generation && $0.name.range.contains(offset)
    }
    let cause = damaged.map { ": \($0.name.fileName) has \($0.found) bytes" } ?? ""
    return ReplicaError(
      .missingBytes,
      "bytes \(offset) to \(min(next?.range.lowerBound ?? length, length)) of \(remote.session) are not there\(cause)"
    )
  }
}
