public import Platform

/// A byte position in a session's log, counted from its first byte.
///
/// It never moves, whatever is rotated, pruned or redacted. The length of a stream is the offset at
/// which it ends. Two offsets cannot be added: such code does not compile. The operators trap on
/// overflow, as those of `Int64` do: numbers from outside are checked where they enter.
///
/// A position in a file, or in an object of a store, is not a stream offset.
public struct StreamOffset: Sendable, Hashable {
  /// How many bytes of the stream come before it.
  public let byteCount: ByteCount

  /// Makes an offset.
  @inlinable public init(_ bytes: Int64) { byteCount = ByteCount(bytes) }

  /// Makes an offset.
  @inlinable public init(_ bytes: Int) { byteCount = ByteCount(bytes) }

  /// Makes the offset that follows this many bytes of the stream.
  @inlinable public init(_ byteCount: ByteCount) { self.byteCount = byteCount }

  /// Where every stream begins.
  public static let zero = StreamOffset(Int64(0))

  /// An offset beyond every stream.
  public static let max = StreamOffset(ByteCount.max)

  /// The offset this many bytes later.
  @inlinable public static func + (offset: StreamOffset, count: ByteCount) -> StreamOffset {
    StreamOffset(offset.byteCount + count)
  }

  /// The offset this many bytes earlier.
  @inlinable public static func - (offset: StreamOffset, count: ByteCount) -> StreamOffset {
    StreamOffset(offset.byteCount - count)
  }

  /// The distance between two offsets; negative when the first is earlier.
  @inlinable public static func - (later: StreamOffset, earlier: StreamOffset) -> ByteCount {
    later.byteCount - earlier.byteCount
  }

  /// Advances the offset.
  @inlinable public static func += (offset: inout StreamOffset, count: ByteCount) {
    offset = offset + count
  }

  /// Moves the offset back.
  @inlinable public static func -= (offset: inout StreamOffset, count: ByteCount) {
    offset = offset - count
  }
}

extension StreamOffset: Comparable {
  /// Orders offsets by position.
  @inlinable public static func < (left: StreamOffset, right: StreamOffset) -> Bool {
    left.byteCount < right.byteCount
  }
}

extension StreamOffset: ExpressibleByIntegerLiteral {
  /// Makes an offset.
  @inlinable public init(integerLiteral value: Int64) { self.init(value) }
}

extension StreamOffset: Codable {
  /// Reads a bare integer.
  public init(from decoder: any Decoder) throws {
    byteCount = try ByteCount(from: decoder)
  }

  /// Writes a bare integer.
  public func encode(to encoder: any Encoder) throws { try byteCount.encode(to: encoder) }
}

extension StreamOffset: CustomStringConvertible {
  /// The number alone.
  public var description: String { byteCount.description }
}

extension Range<StreamOffset> {
  /// The number of stream bytes in the range.
  @inlinable public var byteCount: ByteCount { upperBound - lowerBound }
}

extension Int64 {
  /// Converts an offset for the layers that know bytes but no streams.
  @inlinable package init(_ offset: StreamOffset) { self = offset.byteCount.bytes }
}

extension Range<StreamOffset> {
  /// Converts a range from the layers that know bytes but no streams.
  package init(_ range: Range<Int64>) {
    self = StreamOffset(range.lowerBound)..<StreamOffset(range.upperBound)
  }
}

extension Range<Int64> {
  /// Converts a range for the layers that know bytes but no streams.
  package init(_ range: Range<StreamOffset>) {
    self = Int64(range.lowerBound)..<Int64(range.upperBound)
  }
}
