package import ObjectStore
import Platform
package import SessionLog

/// Parts of a remote stream, chosen by what the segments' indexes tell: the last lines, or the
/// records of a time span.
///
/// Only the indexes that are looked at and the frames that are read are fetched, by range requests.
/// So the hash in a segment's name cannot be compared; the checksums and lengths of frames are. Of a
/// sealed session only the objects are read that its seal names.
///
/// ```swift
/// let parts = try RemoteParts(of: remote, upTo: length, in: store)
/// try await parts.read(try await parts.last(lines: 100)) { offset, bytes in … }
/// ```
package final class RemoteParts {
  private let stream: RemoteStream
  private let length: StreamOffset

  /// Chooses nothing yet.
  ///
  /// - Parameters:
  ///   - remote: what a listing showed.
  ///   - length: where the stream ends.
  ///   - store: where it is.
  ///   - keys: what seals are signed with; nil where that is not asked.
  /// - Throws: ``Delta/SegmentError`` when there is no memory.
  package init(
    of remote: RemoteSession, upTo length: StreamOffset, in store: any ObjectStore,
    knowing keys: KnownKeys? = nil
  ) throws {
    stream = try RemoteStream(remote, generation: nil, in: store, knowing: keys)
    self.length = length
  }

  /// The end of the stream that holds its last lines, the first of them whole.
  ///
  /// - Parameters:
  ///   - count: lines.
  ///   - levels: only lines of records of these levels count, by their places in the order of
  ///     levels; then the end begins with records enough to tell what the first lines belong to.
  /// - Returns: one range, or none; it begins at 0, or holds a line more than was asked for.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func last(lines count: Int, levels: [Int]? = nil) async throws -> [Range<StreamOffset>] {
    try await retrying { [self] in
      var rest = try await cover()[...]
      var stretches: [Stretch] = []
      var counted = 0
      var batch = 1
      var start = 0
      repeat {
        let next = Array(rest.suffix(batch))
        rest = rest.dropLast(next.count)
        stretches = try await stream.stretches(of: next) + stretches
        counted = 0
        start = stretches.count
        while start > 0, counted <= count {
          start -= 1
          counted +=
            levels.map { stretches[start].records(of: $0) } ?? stretches[start].lines
        }
        if levels != nil { start = Self.context(before: start, in: stretches) }
        batch = min(batch * 2, 8)
      } while start == 0 && !rest.isEmpty
      guard let first = stretches[start...].first else { return [] }
      return [first.range.lowerBound..<length]
    }
  }

  /// Ranges that hold all records of a time span and of some levels.
  ///
  /// What has no times or no counts may match, and is in. Each range begins with records enough to tell what the
  /// first wanted lines belong to, and ends where the last record does.
  ///
  /// - Parameters:
  ///   - times: milliseconds since 1970; nil for any.
  ///   - levels: their places in the order of levels; nil for any.
  ///   - start: nothing before it is looked at; the first range may begin within a record then.
  /// - Returns: ranges in order, with a gap between each two.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func span(
    _ times: ClosedRange<Int64>?, levels: [Int]? = nil, from start: StreamOffset = .zero
  ) async throws -> [Range<StreamOffset>] {
    let ranges = try await retrying { [self] in
      let segments = try await cover().filter { $0.range.upperBound > start }
      let stretches = try await stream.stretches(of: segments)
      let isWanted = stretches.map { $0.mayHold(times, levels) }
      var ranges: [Range<StreamOffset>] = []
      var number = 0
      while let first = isWanted[number...].firstIndex(of: true) {
        let next = isWanted[first...].firstIndex(of: false) ?? isWanted.count
        let start = stretches[Self.context(before: first, in: stretches)].range.lowerBound
        // A record goes on until the next one begins.
        let after = stretches[next...].first { $0.records > 0 }
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

  /// Reads ranges that were chosen.
  ///
  /// - Parameters:
  ///   - ranges: in order and disjoint.
  ///   - body: gets the bytes in order, each piece with its offset in the stream.
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``, and what `body` throws.
  package func read(
    _ ranges: [Range<StreamOffset>], _ body: (StreamOffset, UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    try await stream.read(ranges) { [stream] part in
      guard case .bytes(let bytes) = part else { return }
      try body(stream.position - ByteCount(bytes.count), bytes)
    }
  }

  /// The segments of the whole stream.
  private func cover() async throws -> [SegmentName] {
    try await stream.obeySeal()
    let cover = stream.remote.cover(upTo: length, of: stream.generation)
    let end = cover.last?.range.upperBound ?? 0
    guard end >= length else { throw stream.missing(from: end, upTo: length) }
    return cover
  }

  /// The stretch to begin with for a reader to know what the first lines of another one belong to.
  private static func context(before number: Int, in stretches: [Stretch]) -> Int {
    var start = number
    var records = 0
    // The first line may be a part of one.
    while start > 0, records < 2 {
      start -= 1
      records += stretches[start].records
    }
    return start
  }

  /// Chooses anew when a segment has gone since the listing.
  private func retrying<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let error as StoreError where error.isNotFound {
      try await stream.lookAgain(error)
      return try await work()
    }
  }
}
