import Delta
import ObjectStore
import Platform
import SessionLog

extension RemoteStream {
  /// Maximum memory of segments of earlier generations, except the last, in bytes.
  static let basisLimit = 12 << 20

  /// Bytes that may be decompressed for copies, plus a multiple of the bytes copied: a delta of a
  /// few kilobytes could request one byte of each of 32768 frames, over and over.
  private static let (copyBase, copyFactor): (ByteCount, Int64) = (1 << 30, 64)

  /// Counts a frame that was decompressed for a copy.
  ///
  /// - Throws: ``ReplicaError`` for deltas made to exhaust a reader.
  private func count(_ frame: Int, copied: ByteCount, for delta: SegmentName) throws {
    copyWork.decompressed += ByteCount(frame)
    copyWork.copied += copied
    let limit = Self.copyBase + ByteCount(copyWork.copied.bytes * Self.copyFactor)
    guard copyWork.decompressed <= limit else {
      throw ReplicaError(
        .damagedObject,
        "\(delta.fileName) copies from so many places that reading it takes too long: no writer makes "
          + "such a delta")
    }
  }

  /// Reads bytes of an earlier generation from where they are stored plain, not as copies.
  ///
  /// - Parameters:
  ///   - source: the bytes.
  ///   - offset: their stream offset.
  ///   - end: stream offset after which nothing is wanted.
  ///   - delta: the segment that copies them.
  ///   - body: called for damage.
  ///   - give: called with each piece and its stream offset.
  /// - Returns: whether all were there; outside salvage, missing bytes are an error.
  func copy(
    _ source: StreamRange, to offset: StreamOffset, upTo end: StreamOffset, of delta: StoredSegment,
    _ body: Body, _ give: (UnsafeRawBufferPointer, StreamOffset) throws -> Void
  ) async throws -> Bool {
    let shift = offset - source.offsets.lowerBound
    var isWhole = true
    var from = source.offsets.lowerBound
    while from < source.offsets.upperBound {
      let rest = StreamRange(generation: source.generation, from..<source.offsets.upperBound)
      do {
        let (segment, _, pieces) = try await plain(rest, copiedBy: delta.name) { name in
          let segment = try await openBasis(name, for: delta)
          return (segment, segment.layout)
        }
        for piece in pieces {
          guard case .frame(let number, let part) = piece.source else { break }
          let isNew = !segment.isOpen(number)
          let frame = try await segment.frame(number)
          try count(isNew ? frame.count : 0, copied: ByteCount(part.count), for: delta.name)
          try frame.withUnsafeBytes {
            try give(
              .init(rebasing: $0[part]),
              segment.name.offset(of: piece.range.lowerBound) + shift)
          }
          from = segment.name.offset(of: piece.range.upperBound)
        }
        shrinkBasis()
      } catch let error as StoreError where error.isNotFound {
        basis = []
        do {
          try await listAgain(error)
        } catch let error as StoreError where error.isNotFound && salvages {
          try lose(
            from: from + shift, to: min(end, source.offsets.upperBound + shift), error, body)
          return false
        }
      } catch let error as ReplicaError where salvages {
        // As far as is known, the next frame or the next segment may be undamaged.
        let next = nextStart(after: from, of: rest)
        try lose(from: from + shift, to: min(end, next + shift), error, body)
        isWhole = false
        from = next
      }
    }
    return isWhole
  }

  /// The segment that stores, plain, the bytes that a delta copies.
  ///
  /// - Parameter open: opens a candidate.
  /// - Returns: the opened segment, its layout, and the first of the bytes in it.
  func plain<Opened>(
    _ source: StreamRange, copiedBy delta: SegmentName,
    _ open: (SegmentName) async throws -> (Opened, SegmentLayout)
  ) async throws -> (Opened, SegmentLayout, [SegmentLayout.Piece]) {
    let candidates = remote.segments(of: source.generation)
      .filter { $0.range.contains(source.offsets.lowerBound) }
      .sorted { $0.range.upperBound > $1.range.upperBound }
    for name in candidates {
      let (opened, layout) = try await open(name)
      let pieces = layout.pieces(of: name.positions(of: source.offsets))
      if case .frame = pieces.first?.source { return (opened, layout, pieces) }
    }
    let bytes =
      "bytes \(source.range.lowerBound) to \(source.range.upperBound) of generation "
      + "\(source.generation), which \(delta.fileName) copies,"
    if let name = candidates.first {
      throw ReplicaError(.damagedObject, "\(bytes) are copies themselves in \(name.fileName)")
    }
    let cause = damagedSegment(at: source.offsets.lowerBound, of: source.generation).map {
      ": \($0.name.fileName) has \($0.found) bytes"
    }
    throw ReplicaError(.missingBytes, "\(bytes) are not there\(cause ?? "")")
  }

  private func openBasis(
    _ name: SegmentName, for delta: StoredSegment
  ) async throws -> StoredSegment {
    if let known = basis.firstIndex(where: { $0.name == name }) {
      basis.append(basis.remove(at: known))
      return basis[basis.count - 1]
    }
    let parts = delta.copies.filter { $0.generation == name.generation }
      .map { name.positions(of: $0.offsets) }.filter { !$0.isEmpty }
      .sorted { $0.lowerBound < $1.lowerBound }
    let wanted = parts.reduce(0) { $0 + ByteCount($1.count) }
    var head = heads[name]
    if head == nil {
      head = try await .fetch(
        name, in: remote.folder, from: store, remote.verification(of: name),
        whole: wanted * 2 > name.length)
    }
    guard let head else { preconditionFailure("a head was fetched") }
    let segment = StoredSegment(
      head, wanting: parts, in: remote.folder, from: store, with: decoder)
    basis.append(segment)
    return segment
  }

  private func shrinkBasis() {
    while basis.count > 1, basis.reduce(0, { $0 + $1.cost }) > Self.basisLimit {
      basis.removeFirst()
    }
  }

  /// The offset at which bytes after a damaged one may be readable again.
  private func nextStart(after offset: StreamOffset, of source: StreamRange) -> StreamOffset {
    let open = basis.last {
      $0.name.generation == source.generation && $0.name.range.contains(offset)
    }
    let limit = source.offsets.upperBound
    if let open {
      let piece = open.layout.pieces(of: open.name.positions(of: offset..<limit)).first
      return min(limit, piece.map { open.name.offset(of: $0.range.upperBound) } ?? limit)
    }
    let bounds = remote.segments(of: source.generation).flatMap {
      [$0.range.lowerBound, $0.range.upperBound]
    }
    return bounds.filter { offset < $0 && $0 < limit }.min() ?? limit
  }
}
