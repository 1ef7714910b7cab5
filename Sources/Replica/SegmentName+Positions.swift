package import Delta
import Platform
package import SessionLog

/// Converts between stream offsets and positions in a segment.
///
/// A position counts from the segment's first stream byte, as in its index.
extension SegmentName {
  /// All positions.
  var positions: Range<Int64> { 0..<length.bytes }

  /// The positions of a range of the stream, clamped to the segment.
  func positions(of range: Range<StreamOffset>) -> Range<Int64> {
    let part = range.clamped(to: self.range)
    let start = self.range.lowerBound
    return (part.lowerBound - start).bytes..<(part.upperBound - start).bytes
  }

  /// The stream offset of a position.
  func offset(of position: Int64) -> StreamOffset { range.lowerBound + ByteCount(position) }
}

extension StreamRange {
  /// Bytes of a generation.
  package init(generation: Int, _ offsets: Range<StreamOffset>) {
    self.init(generation: generation, range: Range(offsets))
  }

  /// Stream offsets.
  package var offsets: Range<StreamOffset> { Range(range) }
}
