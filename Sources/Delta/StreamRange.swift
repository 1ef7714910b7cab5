/// Bytes of one generation of a stream.
public struct StreamRange: Sendable, Hashable {
  /// The generation, from 1.
  public let generation: Int
  /// Offsets in that generation's stream, in bytes.
  public let range: Range<Int64>

  /// Names some bytes.
  public init(generation: Int, range: Range<Int64>) {
    self.generation = generation
    self.range = range
  }

  /// Number of bytes.
  public var length: Int64 { range.upperBound - range.lowerBound }
}
