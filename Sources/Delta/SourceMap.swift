/// Where the bytes of one generation of a stream are stored: in its own segments, plain or as
/// literals, or in those of an earlier generation.
///
/// A delta that copies through such a map names the place where the bytes are stored rather than
/// another copy of them, so a reader never has to follow a chain of copies.
package struct SourceMap: Sendable, Equatable {
  private struct Extent: Sendable, Equatable {
    var end: Int64
    var source: StreamRange
  }

  /// The generation described.
  package let generation: Int
  private var extents: [Extent] = []

  /// Makes the map of an empty stream.
  package init(generation: Int) { self.generation = generation }

  /// Length of the stream so far in bytes.
  package var length: Int64 { extents.last?.end ?? 0 }

  /// Adds bytes in the generation's own segments: all of a plain one.
  package mutating func appendOwn(_ count: Int64) {
    append(StreamRange(generation: generation, range: length..<length + count))
  }

  /// Adds the bytes of a delta segment.
  ///
  /// - Throws: ``SegmentError`` if a copy is not from an earlier generation.
  package mutating func append(_ instructions: DeltaInstructions) throws(SegmentError) {
    for instruction in instructions.list {
      switch instruction {
      case .literal(let count): appendOwn(count)
      case .copy(let source):
        guard source.generation < generation else {
          throw SegmentError(
            .corrupt,
            "a delta of generation \(generation) copies from generation \(source.generation)")
        }
        append(source)
      }
    }
  }

  /// Where a range of the generation's stream is stored, in order.
  ///
  /// - Throws: ``SegmentError`` if the range extends beyond the stream.
  package func sources(of range: Range<Int64>) throws(SegmentError) -> [StreamRange] {
    guard range.lowerBound >= 0, range.upperBound <= length else {
      throw SegmentError(
        .corrupt,
        "generation \(generation) has \(length) bytes and none at \(range.upperBound)")
    }
    var found: [StreamRange] = []
    var offset = range.lowerBound
    var next = extents.partitionPoint { $0.end > offset }
    while offset < range.upperBound {
      let extent = extents[next]
      let end = min(extent.end, range.upperBound)
      let shift = extent.source.range.upperBound - extent.end
      found.append(
        StreamRange(
          generation: extent.source.generation, range: offset + shift..<end + shift))
      offset = end
      next += 1
    }
    return found
  }

  private mutating func append(_ source: StreamRange) {
    guard source.length > 0 else { return }
    let end = length + source.length
    if let last = extents.last?.source, last.generation == source.generation,
      last.range.upperBound == source.range.lowerBound
    {
      extents[extents.count - 1] = Extent(
        end: end,
        source: StreamRange(
          generation: last.generation, range: last.range.lowerBound..<source.range.upperBound))
    } else {
      extents.append(Extent(end: end, source: source))
    }
  }
}
