public import Platform

/// A byte position in a session's log, counted from its first byte.
///
/// Rotation, pruning and redaction do not change it. The length of a stream is the offset at which
/// it ends. Two offsets cannot be added: such code does not compile. The operators trap on
/// overflow, as those of `Int64` do: outside numbers are checked on input.
///
/// A position in a file, or in an object of a store, is not a stream offset.
public struct StreamOffset: Sendable, Hashable {
  /// Number of stream bytes before it.
  public let byteCount: ByteCount

  /// Makes an offset.
  @inlinable public init(_ bytes: Int64) { byteCount = ByteCount(bytes) }

  /// Makes an offset.
  @inlinable public init(_ bytes: Int) { byteCount = ByteCount(bytes) }

  /// Makes the offset that follows this many bytes of the stream.
  @inlinable public init(_ byteCount: ByteCount) { self.byteCount = byteCount }

  /// The start of every stream.
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
  /// Converts an offset for layers that know bytes but not streams.
  @inlinable package init(_ offset: StreamOffset) { self = offset.byteCount.bytes }
}

extension Range<StreamOffset> {
  /// Converts a range from layers that know bytes but not streams.
  package init(_ range: Range<Int64>) {
    self = StreamOffset(range.lowerBound)..<StreamOffset(range.upperBound)
  }
}

extension Range<Int64> {
  /// Converts a range for layers that know bytes but not streams.
  package init(_ range: Range<StreamOffset>) {
    self = Int64(range.lowerBound)..<Int64(range.upperBound)
  }
}
