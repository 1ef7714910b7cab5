package import ObjectStore
import Platform
package import SessionLog

/// Parts of a remote stream, chosen by the segments' indexes: the last lines, or the records of a
/// time span.
///
/// Fetches only the indexes and frames it needs, by range requests. So it cannot verify the hash in
/// a segment's name. For a sealed session, it verifies the index by its hash in the seal, and frames
/// by their hashes in the index; it reads a segment whole if the seal lacks the hash of its index.
/// For an open session, and one that version 0.1 sealed, checksums and lengths have to suffice.
///
/// ```swift
/// let parts = try RangedStreamReader(of: remote, upTo: length, in: store, knowing: keys)
/// try await parts.read(try await parts.last(lines: 100)) { offset, bytes in … }
/// ```
package final class RangedStreamReader {
  private let stream: RemoteStream
  private let length: StreamOffset

  /// Prepares to choose parts.
  ///
  /// - Parameters:
  ///   - remote: the session in a listing.
  ///   - length: the end of the stream.
  ///   - store: the store.
  ///   - keys: the keys that revisions must be signed with; nil to skip that check.
  /// - Throws: ``Delta/SegmentError`` if there is not enough memory.
  package init(
    of remote: RemoteSession, upTo length: StreamOffset, in store: any ObjectStore,
    knowing keys: KnownKeys?
  ) throws {
    stream = try RemoteStream(remote, generation: nil, in: store, knowing: keys)
    self.length = length
  }

  /// The end of the stream that contains its last lines, starting with a whole line.
  ///
  /// - Parameters:
  ///   - count: number of lines.
  ///   - levels: count only lines of records of these levels, by their index in the order of
  ///     levels; the range then starts with enough records to show which record the first lines
  ///     belong to.
  /// - Returns: at most one range; it begins at 0, or contains one line more than requested.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func last(lines count: Int, levels: [Int]? = nil) async throws -> [Range<StreamOffset>] {
    try await retrying { [self] in
      var rest = try await cover()[...]
      var ranges: [IndexedRange] = []
      var counted = 0
      var batch = 1
      var start = 0
      repeat {
        let next = Array(rest.suffix(batch))
        rest = rest.dropLast(next.count)
        ranges = try await stream.ranges(of: next) + ranges
        counted = 0
        start = ranges.count
        while start > 0, counted <= count {
          start -= 1
          counted +=
            levels.map { ranges[start].records(of: $0) } ?? ranges[start].lines
        }
        if levels != nil { start = Self.context(before: start, in: ranges) }
        batch = min(batch * 2, 8)
      } while start == 0 && !rest.isEmpty
      guard let first = ranges[start...].first else { return [] }
      return [first.range.lowerBound..<length]
    }
  }

  /// Ranges that contain all records of a time span, of some levels and of some scenarios.
  ///
  /// Parts without times, counts or names may match, and are included. Each range starts with
  /// enough records to show which record the first wanted lines belong to, and ends with a record.
  ///
  /// - Parameters:
  ///   - times: milliseconds since 1970; nil for any.
  ///   - levels: their index in the order of levels; nil for any.
  ///   - scenarios: names as written in the stream; nil for any.
  ///   - start: ignore everything before it; the first range may then begin within a record.
  /// - Returns: ranges in order, with gaps between them.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func span(
    _ times: ClosedRange<Int64>?, levels: [Int]? = nil, scenarios: [[UInt8]]? = nil,
    from start: StreamOffset = .zero
  ) async throws -> [Range<StreamOffset>] {
    let ranges = try await retrying { [self] in
      let segments = try await cover().filter { $0.range.upperBound > start }
      let indexed = try await stream.ranges(of: segments)
      let isWanted = indexed.map { $0.mayHold(times, levels, scenarios) }
      var ranges: [Range<StreamOffset>] = []
      var number = 0
      while let first = isWanted[number...].firstIndex(of: true) {
        let next = isWanted[first...].firstIndex(of: false) ?? isWanted.count
        let start = indexed[Self.context(before: first, in: indexed)].range.lowerBound
        // A record extends to the start of the next one.
        let after = indexed[next...].first { $0.records > 0 }
        let end = min(length, after?.range.upperBound ?? length)
        if let before = ranges.last, start <= before.upperBound {
          ranges[ranges.count - 1] = before.lowerBound..<max(end, before.upperBound)
        } else if start < end {
          ranges.append(start..<end)
        }
        number = next
      }
      return ranges
    }
    return ranges.map { max(start, $0.lowerBound)..<max(start, $0.upperBound) }
      .filter { !$0.isEmpty }
  }

  /// Reads chosen ranges.
  ///
  /// - Parameters:
  ///   - ranges: in order and disjoint.
  ///   - body: called with the bytes in order, each piece with its stream offset.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``, and errors of `body`.
  package func read(
    _ ranges: [Range<StreamOffset>], _ body: (StreamOffset, UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    try await stream.read(ranges) { [stream] part in
      guard case .bytes(let bytes) = part else { return }
      try body(stream.position - ByteCount(bytes.count), bytes)
    }
  }

  /// Expects that the listed segments hold the whole stream, whatever their names claim.
  ///
  /// - Throws: ``ReplicaError`` if bytes are missing, or the seal is not to be believed;
  ///   ``ObjectStore/StoreError``.
  package func expectWhole() async throws {
    try await retrying { [self] in _ = try await cover() }
  }

  /// The segments of the whole stream.
  private func cover() async throws -> [SegmentName] {
    try await stream.obeyRevision()
    let cover = stream.remote.cover(upTo: length, of: stream.generation)
    let end = cover.last?.range.upperBound ?? 0
    guard end >= length else { throw stream.missing(from: end, upTo: length) }
    return cover
  }

  /// The range to start at, so that a reader knows which record the first lines of another one
  /// belong to.
  private static func context(before number: Int, in ranges: [IndexedRange]) -> Int {
    var start = number
    var records = 0
    // The first line may be incomplete.
    while start > 0, records < 2 {
      start -= 1
      records += ranges[start].records
    }
    return start
  }

  /// Chooses again if a segment has disappeared since the listing.
  private func retrying<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let error as StoreError where error.isNotFound {
      try await stream.listAgain(error)
      return try await work()
    }
  }
}
