public import Platform

/// A line of a log as delivered by a reader, newline included.
///
/// A line that is too long comes in pieces; only the first starts the line.
public struct RecordLine {
  /// The bytes; valid only during the call that delivers them.
  public let bytes: UnsafeRawBufferPointer
  /// The head of the record that it starts; nil for a continuation line.
  public let head: RecordHead?
  /// Whether a line starts here.
  public let isStart: Bool
  /// Its stream offset in bytes.
  public let offset: Int64

  /// Makes a line.
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

/// A copy of a line, for later use.
public struct KeptLine: Sendable {
  /// The bytes, newline included.
  public let bytes: [UInt8]
  private let head: RecordHead?
  /// Whether a line starts here.
  public var startsLine: Bool { isStart }
  private let isStart: Bool
  private let offset: Int64

  /// Copies a line.
  public init(_ line: RecordLine) {
    bytes = Array(line.bytes)
    head = line.head
    isStart = line.isStart
    offset = line.offset
  }

  /// When its record was written; nil if it does not state that.
  public var time: Timestamp? { head?.time }
  /// Whether it starts a record.
  public var startsRecord: Bool { head != nil }

  /// Passes the line to a closure.
  public func with<Value>(_ body: (RecordLine) throws -> Value) rethrows -> Value {
    try bytes.withUnsafeBytes {
      try body(RecordLine(bytes: $0, head: head, isStart: isStart, offset: offset))
    }
  }
}
