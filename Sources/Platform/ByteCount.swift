/// A number of bytes: a length, a size, or the distance between two positions.
///
/// A separate type, so that a position cannot be used as a size. A distance may be negative. The
/// operators trap on overflow, as those of `Int64` do: outside numbers are checked on input.
public struct ByteCount: Sendable, Hashable {
  /// The number of bytes.
  public let bytes: Int64

  /// Makes a count.
  @inlinable public init(_ bytes: Int64) { self.bytes = bytes }

  /// Makes a count, of the elements of a buffer for instance.
  @inlinable public init(_ bytes: Int) { self.bytes = Int64(bytes) }

  /// Parses a decimal number; nil for anything else.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Int64(text) else { return nil }
    self.bytes = bytes
  }

  /// The largest count.
  public static let max = ByteCount(Int64.max)
}

extension ByteCount: Comparable {
  /// Orders counts by size.
  @inlinable public static func < (left: ByteCount, right: ByteCount) -> Bool {
    left.bytes < right.bytes
  }
}

extension ByteCount: ExpressibleByIntegerLiteral {
  /// Makes a count.
  @inlinable public init(integerLiteral value: Int64) { bytes = value }
}

extension ByteCount: AdditiveArithmetic {
  /// The sum, or the nearest count if it is beyond all: sizes come from files and stores that others
  /// may have made.
  @inlinable public static func + (left: ByteCount, right: ByteCount) -> ByteCount {
    let (sum, overflows) = left.bytes.addingReportingOverflow(right.bytes)
    return ByteCount(overflows ? (left.bytes < 0 ? .min : .max) : sum)
  }

  /// The difference, negative when the second count is larger, or the nearest count.
  @inlinable public static func - (left: ByteCount, right: ByteCount) -> ByteCount {
    let (difference, overflows) = left.bytes.subtractingReportingOverflow(right.bytes)
    return ByteCount(overflows ? (left.bytes < 0 ? .min : .max) : difference)
  }

  /// The count multiplied by a factor.
  @inlinable public static func * (count: ByteCount, factor: Int) -> ByteCount {
    ByteCount(count.bytes * Int64(factor))
  }

  /// The count shifted left: `64 << 10` is 64 KiB.
  @inlinable public static func << (count: ByteCount, bits: Int) -> ByteCount {
    ByteCount(count.bytes << Int64(bits))
  }

  /// The count divided by a number, rounded toward zero.
  @inlinable public static func / (count: ByteCount, divisor: Int) -> ByteCount {
    ByteCount(count.bytes / Int64(divisor))
  }
}

extension ByteCount: Codable {
  /// Reads a bare integer.
  public init(from decoder: any Decoder) throws {
    bytes = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes a bare integer.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bytes)
  }
}

extension ByteCount: CustomStringConvertible {
  /// The number alone.
  public var description: String { String(bytes) }
}

extension Sequence<ByteCount> {
  /// The sum, or the largest count if the sum is larger than that.
  package var total: ByteCount { reduce(0, +) }
}

extension Int {
  /// A count as the length of a buffer.
  @inlinable package init(_ count: ByteCount) { self = Int(count.bytes) }

  /// A count as the length of a buffer, or the nearest number to it.
  @inlinable package init(clamping count: ByteCount) { self = Int(clamping: count.bytes) }
}
