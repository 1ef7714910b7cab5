#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Scans a line from start to end, with bounds checks.
struct ByteScanner {
  let bytes: UnsafeRawBufferPointer
  var index: Int

  init(_ bytes: UnsafeRawBufferPointer, at index: Int = 0) {
    self.bytes = bytes
    self.index = index
  }

  var isAtEnd: Bool { index >= bytes.count }

  /// The next byte; 0 at the end.
  var next: UInt8 { byte(at: index) }

  /// A byte; 0 past the end, which no search looks for.
  func byte(at position: Int) -> UInt8 { position < bytes.count ? bytes[position] : 0 }

  func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[range])
  }

  /// Whether the remaining bytes start with an ASCII text.
  func startsWith(_ text: StaticString) -> Bool {
    guard bytes.count - index >= text.utf8CodeUnitCount, let base = bytes.baseAddress else {
      return false
    }
    return memcmp(base + index, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// Consumes a character; returns false, with nothing consumed, if it is another one.
  mutating func consume(_ character: Unicode.Scalar) -> Bool {
    guard !isAtEnd, UInt32(bytes[index]) == character.value else { return false }
    index += 1
    return true
  }

  /// Consumes spaces and tabs.
  ///
  /// - Returns: whether there were any.
  @discardableResult
  mutating func takeSpaces() -> Bool {
    let start = index
    while Self.isSpace(next) { index += 1 }
    return index > start
  }

  /// Consumes a number of exactly this many digits.
  mutating func number(_ digits: Int) -> Int? {
    guard bytes.count - index >= digits else { return nil }
    var value = 0
    for position in index..<(index + digits) {
      let digit = bytes[position] &- 0x30
      guard digit < 10 else { return nil }
      value = value &* 10 &+ Int(digit)
    }
    index += digits
    return value
  }

  /// Number of digits at this position, up to a limit.
  func digitRun(limit: Int) -> Int {
    var count = 0
    while count < limit, Self.isDigit(byte(at: index + count)) { count += 1 }
    return count
  }

  /// Consumes everything before the next space, tab or end.
  mutating func word() -> Range<Int> {
    let start = index
    while !isAtEnd, !Self.isSpace(bytes[index]) { index += 1 }
    return start..<index
  }

  /// Consumes a quoted string, in which a backslash may escape a quote.
  ///
  /// - Returns: the content; nil without an opening or a closing quote.
  mutating func quoted() -> Range<Int>? {
    guard consume("\"") else { return nil }
    let start = index
    while !isAtEnd {
      switch next {
      case 0x22:
        index += 1
        return start..<(index - 1)
      case 0x5c: index = min(index + 2, bytes.count)
      default: index += 1
      }
    }
    return nil
  }

  /// The next position of a byte within this many bytes.
  func position(of character: Unicode.Scalar, within limit: Int) -> Int? {
    let count = min(limit, bytes.count - index)
    guard count > 0, let base = bytes.baseAddress,
      let found = memchr(base + index, Int32(character.value), count)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

  static func isUpper(_ byte: UInt8) -> Bool { byte &- 0x41 < 26 }
}
