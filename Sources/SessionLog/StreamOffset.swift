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

  /// Makes the offset behind so many bytes of the stream.
  @inlinable public init(_ byteCount: ByteCount) { self.byteCount = byteCount }

  /// Where every stream begins.
  public static let zero = StreamOffset(Int64(0))

  /// Behind every stream.
  public static let max = StreamOffset(ByteCount.max)

  /// The offset so many bytes later.
  @inlinable public static func + (offset: StreamOffset, count: ByteCount) -> StreamOffset {
    StreamOffset(offset.byteCount + count)
  }

  /// The offset so many bytes earlier.
  @inlinable public static func - (offset: StreamOffset, count: ByteCount) -> StreamOffset {
    StreamOffset(offset.byteCount - count)
  }

  /// How many bytes later the first offset is; negative when it is earlier.
  @inlinable public static func - (later: StreamOffset, earlier: StreamOffset) -> ByteCount {
    later.byteCount - earlier.byteCount
  }

  /// Goes so many bytes further.
  @inlinable public static func += (offset: inout StreamOffset, count: ByteCount) {
    offset = offset + count
  }

  /// Goes so many bytes back.
  @inlinable public static func -= (offset: inout StreamOffset, count: ByteCount) {
    offset = offset - count
  }
}

extension StreamOffset: Comparable {
  /// Earlier before later.
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
  /// How many bytes of the stream are in it.
  @inlinable public var byteCount: ByteCount { upperBound - lowerBound }
}

extension Int64 {
  /// An offset for the layers that know bytes, but no streams.
  @inlinable package init(_ offset: StreamOffset) { self = offset.byteCount.bytes }
}

extension Range<StreamOffset> {
  /// A range from the layers that know bytes, but no streams.
  package init(_ range: Range<Int64>) {
    self = StreamOffset(range.lowerBound)..<StreamOffset(range.upperBound)
  }
}

extension Range<Int64> {
  /// A range for the layers that know bytes, but no streams.
  package init(_ range: Range<StreamOffset>) {
    self = Int64(range.lowerBound)..<Int64(range.upperBound)
  }
}
