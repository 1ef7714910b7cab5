import Crypto
import Delta
import ObjectStore
import Platform
import SessionLog

/// One reading of a generation of a session's stream: its knowledge of the objects, and its
/// progress.
///
/// Belongs to one task. Memory is bounded: one segment of the stream, and up to ``basisLimit`` for
/// the sources of copies.
final class RemoteStream {
  typealias Body = (StreamPart) throws -> Void

  let store: any ObjectStore
  /// The keys that revisions must be signed with; nil to skip that check.
  let keys: KnownKeys?
  let generation: Int
  let decoder: SegmentDecoder
  /// Whether problems are reported and reading continues; otherwise they are errors.
  let salvages: Bool
  var remote: RemoteSession
  /// Indexes fetched to choose the frames to read.
  var heads: [SegmentName: SegmentHead] = [:]
  /// Segments of earlier generations, the most recently used last.
  var basis: [StoredSegment] = []
  /// Bytes decompressed for copies, and bytes copied.
  var copyWork: (decompressed: ByteCount, copied: ByteCount) = (0, 0)

  /// The stream has been delivered up to this offset.
  private(set) var position = StreamOffset.zero
  /// SHA-256 over the delivered bytes, when reading in order.
  private(set) var digest: SHA256?
  /// The start of reading in order.
  private var origin: StreamOffset?
  /// Whether the current segment's hash is the digest, because nothing was delivered before it.
  private var hashIsDigest = false
  /// The last bytes before ``position``, up to ``Delta/Link/span`` of them; nil if unknown.
  private var tail: [UInt8]?
  /// The position of the last new listing: without progress since, another one cannot help.
  private var relistedAt: StreamOffset?
  /// Damaged segments that others can replace.
  private var excluded: Set<SegmentName> = []
  /// Whether to read the generation and the objects that the newest revision names; otherwise reads
  /// a given generation, by the names of all segments.
  let obeysRevision: Bool
  /// Why the newest revision does not determine the segments to read; in salvage only.
  var revisionProblem: ReplicaError?
  /// Whether bytes were omitted.
  private(set) var hasLost = false
  /// The segment being read in parts, kept for more of them.
  private var current: StoredSegment?

  init(
    _ remote: RemoteSession, generation: Int?, in store: any ObjectStore,
    knowing keys: KnownKeys?, salvages: Bool = false
  ) throws {
    self.remote = remote
    self.generation = generation ?? remote.generation
    obeysRevision = generation == nil
    self.store = store
    self.keys = keys
    self.salvages = salvages
    decoder = try SegmentDecoder()
  }

  // MARK: In order

  /// Reads `[start, length)`; each segment whole, and compared with its name.
  func read(
    from start: StreamOffset, after before: [UInt8]?, upTo length: StreamOffset, _ body: Body
  ) async throws {
    try await obeyRevision(upTo: length, body)
    position = start
    tail = start == 0 ? [] : before
    digest = SHA256()
    origin = start
    try await advance(to: length, body) { segment in [segment.positions] }
    try checkDigest(of: start..<length, body)
  }

  /// Reads some ranges, and of each segment only what they need, as far as its session's seal allows
  /// verifying a part; see ``SealedContents/Verification``.
  ///
  /// - Parameter ranges: in order and disjoint.
  func read(_ ranges: [Range<StreamOffset>], _ body: Body) async throws {
    try await obeyRevision()
    for range in ranges {
      if position != range.lowerBound || position == 0 {
        (position, tail) = (range.lowerBound, nil)
        // Adjacent ranges from the start make up the whole stream, too.
        digest = position == 0 ? SHA256() : nil
      }
      try await advance(to: range.upperBound, body) { segment in
        remote.verification(of: segment) == .whole
          ? [segment.positions] : ranges.map { segment.positions(of: $0) }.filter { !$0.isEmpty }
      }
    }
    if digest != nil { try checkDigest(of: 0..<position, body) }
  }

  private func advance(
    to length: StreamOffset, _ body: Body, wanting parts: (SegmentName) -> [Range<Int64>]
  ) async throws {
    while position < length {
      guard let segment = segment(at: position) else {
        try await passGap(upTo: length, body)
        continue
      }
      let end = min(length, segment.range.upperBound, nextNamed(after: position, besides: segment))
      do {
        try await read(segment, upTo: end, wanting: parts(segment), body)
      } catch let error as StoreError where error.isNotFound {
        heads[segment] = nil
        current = nil
        do {
          try await listAgain(error)
        } catch let error as StoreError where error.isNotFound && salvages {
          try lose(from: position, to: end, error, body)
        }
      }
    }
  }

  /// The segment to read from an offset: of those that contain it, the one that extends furthest.
  private func segment(at offset: StreamOffset) -> SegmentName? {
    if !salvages { return remote.segment(at: offset, of: generation) }
    return candidates.first { $0.contains { $0.range.contains(offset) } }?
      .filter { $0.range.contains(offset) }
      .max { $0.range.upperBound < $1.range.upperBound }
  }

  /// Start of the next segment that the seal names, while reading one that it does not name.
  private func nextNamed(after offset: StreamOffset, besides segment: SegmentName) -> StreamOffset {
    guard salvages, remote.unnamed.contains(segment) else { return .max }
    return candidates[0].map(\.range.lowerBound).filter { $0 > offset }.min() ?? .max
  }

  /// The segments to read in salvage: those that the seal names and, failing them, the others.
  private var candidates: [[SegmentName]] {
    [remote.segments, remote.unnamed].map {
      $0.filter { $0.generation == generation && !excluded.contains($0) }
    }
  }

  private func read(
    _ segment: SegmentName, upTo end: StreamOffset, wanting parts: [Range<Int64>], _ body: Body
  ) async throws {
    let isWhole = parts == [segment.positions]
    let stored: StoredSegment
    do {
      stored = try await open(segment, wanting: parts)
    } catch let error as ReplicaError where salvages {
      return try await readAround(error, segment, upTo: end, body)
    }
    if segment.range.lowerBound == position, let tail {
      try check(stored.layout.index.link, of: segment, after: tail, body)
    }
    var hasher = SHA256()
    hashIsDigest = isWhole && position == origin && segment.range == position..<end
    defer {
      if hashIsDigest { (digest, hashIsDigest) = (hasher, false) }
    }
    var isComplete = isWhole
    let part = isWhole ? segment.positions : segment.positions(of: position..<end)
    // A reader that stops within a segment has had bytes that only its end proves.
    let mustFinish = isWhole && !salvages && !stored.provesFrames
    var stop: (any Error)?
    for piece in stored.layout.pieces(of: part) {
      let offset = segment.offset(of: piece.range.lowerBound)
      func give(_ bytes: UnsafeRawBufferPointer, _ offset: StreamOffset) throws {
        if isWhole { hasher.update(bufferPointer: bytes) }
        guard stop == nil else { return }
        try checkJoin(bytes, at: offset, of: segment, body)
        do {
          try hand(bytes, at: offset, upTo: end, body)
        } catch  where mustFinish {
          stop = error
        }
      }
      do {
        switch piece.source {
        case .frame(let number, let part):
          let frame = try await stored.frame(number)
          try frame.withUnsafeBytes { try give(.init(rebasing: $0[part]), offset) }
        case .copy(let source):
          let isThere = try await copy(source, to: offset, upTo: end, of: stored, body, give)
          isComplete = isComplete && isThere
        }
      } catch let error as ReplicaError where salvages {
        if excludeIfReplaceable(for: segment) { return try doubt(position..<end, error, body) }
        isComplete = false
        try lose(
          from: offset, to: min(end, segment.offset(of: piece.range.upperBound)), error, body)
      }
    }
    if isWhole, !isComplete, segment.kind == .delta {
      // Literals have their frames' checksums, but copies only this hash.
      try doubt(
        segment.range,
        ReplicaError(
          .damagedObject, "\(segment.fileName) lacks bytes, so its hash cannot be compared"), body)
    }
    if salvages, remote.unnamed.contains(segment) {
      try doubt(
        segment.range.clamped(to: 0..<end),
        ReplicaError(.damagedObject, "the seal does not name \(segment.fileName)"), body)
    }
    if isComplete, NameField.hash16(hasher.finalize()) != segment.hash {
      try doubt(
        segment.range,
        ReplicaError(
          .damagedObject, "\(segment.fileName) holds other bytes than its name says"), body)
    }
    if let stop { throw stop }
  }

  private func open(
    _ segment: SegmentName, wanting parts: [Range<Int64>]
  ) async throws -> StoredSegment {
    if let current, current.name == segment { return current }
    current = nil
    let isWhole = parts == [segment.positions]
    var head = heads[segment]
    if head == nil {
      head = try await .fetch(
        segment, in: remote.folder, from: store, remote.verification(of: segment), whole: isWhole)
    }
    guard let head else { preconditionFailure("a head was fetched") }
    let stored = StoredSegment(
      head, wanting: parts, in: remote.folder, from: store, with: decoder)
    if !isWhole { current = stored }
    return stored
  }

  /// Delivers the part of some bytes that comes next, up to `end`.
  private func hand(
    _ bytes: UnsafeRawBufferPointer, at offset: StreamOffset, upTo end: StreamOffset, _ body: Body
  ) throws {
    let from = Int(max(0, position - offset))
    let to = Int(min(end - offset, ByteCount(bytes.count)))
    guard from < to else { return }
    let wanted = UnsafeRawBufferPointer(rebasing: bytes[from..<to])
    tail = Array(((tail ?? []) + wanted.suffix(Link.span)).suffix(Link.span))
    position = offset + ByteCount(to)
    if !hashIsDigest { digest?.update(bufferPointer: wanted) }
    try body(.bytes(wanted))
  }

  /// Lists again after an object that a listing showed is gone.
  ///
  /// - Throws: the error, if nothing has been read since the last listing.
  func listAgain(_ error: StoreError) async throws {
    guard relistedAt.map({ $0 < position }) ?? true else { throw error }
    relistedAt = position
    let (folder, session) = (remote.folder, remote.session)
    let listed = try await FolderListing(folder, session: session, in: store)[session, in: folder]
    remote = remote.listedAgain(as: listed)
    try await obeyRevision()
  }

  private func check(_ link: Link, of segment: SegmentName, after tail: [UInt8], _ body: Body)
    throws
  {
    // When reading from the middle, fewer bytes may be known than the link covers.
    guard link.covered <= tail.count || StreamOffset(tail.count) == position else { return }
    // If the writer no longer had all bytes before, its link covers fewer of them.
    let covered = tail.suffix(link.covered)
    guard link.covered <= tail.count, link == Link(before: covered) else {
      return try doubt(
        segment.range,
        ReplicaError(
          .damagedObject,
          "\(segment.fileName) does not continue the stream that stands before it"), body)
    }
  }

  /// Compares a segment's bytes before the position, which another segment delivered, with those.
  private func checkJoin(
    _ bytes: UnsafeRawBufferPointer, at offset: StreamOffset, of segment: SegmentName, _ body: Body
  ) throws {
    guard offset < position, let tail else { return }
    let known = max(offset, position - ByteCount(tail.count))
    let end = min(position, offset + ByteCount(bytes.count))
    guard known < end else { return }
    let own = bytes[Int(known - offset)..<Int(end - offset)]
    let first = Int(known - (position - ByteCount(tail.count)))
    guard own.elementsEqual(tail[first..<first + own.count]) else {
      return try doubt(
        segment.range.clamped(to: 0..<position),
        ReplicaError(
          .damagedObject,
          "\(segment.fileName) overlaps the stream that stands before it, and differs from it"),
        body)
    }
  }

  // MARK: Damage

  /// Reports bytes that are delivered but may be wrong; an error outside salvage.
  func doubt(_ range: Range<StreamOffset>, _ error: ReplicaError, _ body: Body) throws {
    guard salvages else { throw error }
    try body(.damage(StreamDamage(range: range, isLost: false, reason: error.detail)))
  }

  /// Skips and reports bytes that cannot be read; an error outside salvage.
  func lose(from lower: StreamOffset, to upper: StreamOffset, _ error: any Error, _ body: Body)
    throws
  {
    guard salvages else { throw error }
    let lower = max(position, lower)
    guard lower < upper else { return }
    hasLost = true
    position = upper
    tail = nil
    try body(.damage(StreamDamage(range: lower..<upper, isLost: true, reason: "\(error)")))
  }

  /// Excludes a damaged segment from further reading if another one has the next bytes.
  private func excludeIfReplaceable(for segment: SegmentName) -> Bool {
    excluded.insert(segment)
    if self.segment(at: position) != nil { return true }
    excluded.remove(segment)
    return false
  }

  /// Reads everything readable of a segment without its index.
  private func readAround(
    _ error: ReplicaError, _ segment: SegmentName, upTo end: StreamOffset, _ body: Body
  ) async throws {
    if excludeIfReplaceable(for: segment) { return try doubt(position..<end, error, body) }
    try await salvage(segment, upTo: end, error, body)
    try lose(from: position, to: end, error, body)
  }

  /// A truncated upload whose name includes an offset.
  func damagedSegment(at offset: StreamOffset, of generation: Int) -> RemoteSession.ObjectDamage? {
    remote.damagedSegments.first {
      $0.name.generation == generation && $0.name.range.contains(offset)
    }
  }

  /// The error for bytes that are in no complete segment.
  func missing(from offset: StreamOffset, upTo length: StreamOffset) -> ReplicaError {
    let cause = damagedSegment(at: offset, of: generation).map {
      ": \($0.name.fileName) has \($0.found) bytes"
    }
    return ReplicaError(
      .missingBytes,
      "bytes \(offset) to \(length) of \(remote.session) are not there\(cause ?? "")")
  }

  private func passGap(upTo length: StreamOffset, _ body: Body) async throws {
    let next = candidates.joined().map(\.range.lowerBound).filter { $0 > position }.min()
    let end = min(length, next ?? length)
    let damaged = damagedSegment(at: position, of: generation)
    if salvages, let damaged {
      let end = min(end, damaged.name.range.upperBound)
      let cut = ReplicaError(
        .damagedObject,
        "\(damaged.name.fileName) has \(damaged.found) bytes, not what its name says")
      try await salvage(damaged.name, upTo: end, cut, body)
    }
    try lose(from: position, to: end, missing(from: position, upTo: end), body)
  }

  /// Delivers the leading frames of a plain segment, as bytes in doubt.
  private func salvage(
    _ segment: SegmentName, upTo end: StreamOffset, _ error: ReplicaError, _ body: Body
  ) async throws {
    guard segment.kind == .plain else { return }
    let object: [UInt8]
    do {
      object = try await store.get(
        remote.folder.key + segment.fileName, atMost: SegmentName.largestObject)
    } catch let error as StoreError where error.isNotFound {
      return
    }
    let before = position
    var offset = segment.range.lowerBound
    try decoder.salvage(object, upTo: segment.length.bytes) { frame in
      try hand(frame, at: offset, upTo: end, body)
      offset += ByteCount(frame.count)
    }
    if position > before { try doubt(before..<position, error, body) }
  }
}
