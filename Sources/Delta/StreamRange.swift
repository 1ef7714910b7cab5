/// Bytes of one generation of a stream.
package struct StreamRange: Sendable, Hashable {
  /// The generation, from 1.
  package let generation: Int
  /// Offsets in that generation's stream, in bytes.
  package let range: Range<Int64>

  /// Makes a range.
  package init(generation: Int, range: Range<Int64>) {
    self.generation = generation
    self.range = range
  }

  /// Number of bytes.
  package var length: Int64 { range.upperBound - range.lowerBound }
}
