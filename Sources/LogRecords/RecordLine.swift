public import Platform

/// A line of a log as a reader hands it on, newline included.
///
/// A line that is too long to keep comes in pieces, of which only the first starts it.
public struct RecordLine {
  /// The bytes; they last as long as the call that hands them on.
  public let bytes: UnsafeRawBufferPointer
  /// What it says of the record that it starts; nil where it goes on with the one before.
  public let head: RecordHead?
  /// Whether a line begins here.
  public let isStart: Bool
  /// Where in the stream it stands, in bytes.
  public let offset: Int64

  /// A line.
  public init(
    bytes: UnsafeRawBufferPointer, head: RecordHead?, isStart: Bool, offset: Int64
  ) {
    self.bytes = bytes
    self.head = head
    self.isStart = isStart
    self.offset = offset
  }

  /// The bytes without the newline.
  public var text: UnsafeRawBufferPointer {
    bytes.last == 0x0a ? UnsafeRawBufferPointer(rebasing: bytes.dropLast()) : bytes
  }
}

/// A line that is kept for later.
public struct KeptLine: Sendable {
  /// The bytes, newline included.
  public let bytes: [UInt8]
  private let head: RecordHead?
  /// Whether a line begins here.
  public var startsLine: Bool { isStart }
  private let isStart: Bool
  private let offset: Int64

  /// Keeps a line.
  public init(_ line: RecordLine) {
    bytes = Array(line.bytes)
    head = line.head
    isStart = line.isStart
    offset = line.offset
  }

  /// When its record was written; nil where it does not tell.
  public var time: Timestamp? { head?.time }
  /// Whether it starts a record.
  public var startsRecord: Bool { head != nil }

  /// Hands the line on.
  public func with<Value>(_ body: (RecordLine) throws -> Value) rethrows -> Value {
    try bytes.withUnsafeBytes {
      try body(RecordLine(bytes: $0, head: head, isStart: isStart, offset: offset))
    }
  }
}
