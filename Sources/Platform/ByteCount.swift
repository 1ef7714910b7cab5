/// A number of bytes: a length, a size, or how far one position is from another.
///
/// A type of its own, so that no position is taken for a size. Negative where something is shorter
/// than what it is measured against. The operators trap on overflow, as those of `Int64` do: numbers
/// from outside are checked where they enter, or added with ``addingReportingOverflow(_:)``.
public struct ByteCount: Sendable, Hashable {
  /// The number of bytes.
  public let bytes: Int64

  /// Makes a count.
  @inlinable public init(_ bytes: Int64) { self.bytes = bytes }

  /// Makes a count, of the elements of a buffer for instance.
  @inlinable public init(_ bytes: Int) { self.bytes = Int64(bytes) }

  /// Reads a decimal number; nil for anything else.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Int64(text) else { return nil }
    self.bytes = bytes
  }

  /// The largest count.
  public static let max = ByteCount(Int64.max)

  /// The sum without its bits above 64, and whether there are any.
  public func addingReportingOverflow(
    _ other: ByteCount
  ) -> (partialValue: ByteCount, overflow: Bool) {
    let (sum, isTooMuch) = bytes.addingReportingOverflow(other.bytes)
    return (ByteCount(sum), isTooMuch)
  }
}

extension ByteCount: Comparable {
  /// Less before more.
  @inlinable public static func < (left: ByteCount, right: ByteCount) -> Bool {
    left.bytes < right.bytes
  }
}

extension ByteCount: ExpressibleByIntegerLiteral {
  /// Makes a count.
  @inlinable public init(integerLiteral value: Int64) { bytes = value }
}

extension ByteCount: AdditiveArithmetic {
  /// Both together.
  @inlinable public static func + (left: ByteCount, right: ByteCount) -> ByteCount {
    ByteCount(left.bytes + right.bytes)
  }

  /// What one has more than the other.
  @inlinable public static func - (left: ByteCount, right: ByteCount) -> ByteCount {
    ByteCount(left.bytes - right.bytes)
  }

  /// So many times as much.
  @inlinable public static func * (count: ByteCount, factor: Int) -> ByteCount {
    ByteCount(count.bytes * Int64(factor))
  }

  /// So many doublings: `64 << 10` are 64 KiB.
  @inlinable public static func << (count: ByteCount, doublings: Int) -> ByteCount {
    ByteCount(count.bytes << Int64(doublings))
  }

  /// One of so many equal parts, rounded down.
  @inlinable public static func / (count: ByteCount, parts: Int) -> ByteCount {
    ByteCount(count.bytes / Int64(parts))
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

extension Int {
  /// A count as the length of a buffer.
  @inlinable package init(_ count: ByteCount) { self = Int(count.bytes) }

  /// A count as the length of a buffer, or the nearest number to it.
  @inlinable package init(clamping count: ByteCount) { self = Int(clamping: count.bytes) }
}
