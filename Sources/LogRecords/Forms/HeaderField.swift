/// One field between the time and the message: a word, or bracketed text.
struct HeaderField {
  /// Its content, without brackets and colon.
  let range: Range<Int>
  let isBracketed: Bool
  /// Whether it ends with a colon.
  let endsWithColon: Bool
  /// Whether a delimiter follows it: ` - `, ` | `, ` : ` or a tab.
  let isDelimited: Bool

  /// Maximum length of a field.
  private static let limit = 256

  /// Whether it ends with something other than a space, as a name does, but not a word of the
  /// message.
  var isMarked: Bool { isBracketed || endsWithColon || isDelimited }

  /// Consumes a field.
  ///
  /// - Returns: nil at the end, and for an unclosed bracket.
  static func read(_ scanner: inout ByteScanner) -> HeaderField? {
    let closing: UInt8
    switch scanner.next {
    case 0x28: closing = 0x29
    case 0x3c: closing = 0x3e
    case 0x5b: closing = 0x5d
    default: return word(&scanner)
    }
    let opening = scanner.next
    var depth = 0
    let end = min(scanner.bytes.count, scanner.index + limit)
    for position in scanner.index..<end {
      let byte = scanner.bytes[position]
      if byte == opening { depth += 1 }
      guard byte == closing else { continue }
      depth -= 1
      guard depth == 0 else { continue }
      let content = (scanner.index + 1)..<position
      scanner.index = position + 1
      let endsWithColon = scanner.consume(":")
      return HeaderField(
        range: content, isBracketed: true, endsWithColon: endsWithColon,
        isDelimited: scanner.isAtMark)
    }
    return nil
  }

  private static func word(_ scanner: inout ByteScanner) -> HeaderField? {
    let start = scanner.index
    let end = min(scanner.bytes.count, start + limit)
    while scanner.index < end, !ByteScanner.isSpace(scanner.next), scanner.next != 0x7c {
      scanner.index += 1
    }
    guard scanner.index > start else { return nil }
    let endsWithColon = scanner.bytes[scanner.index - 1] == 0x3a
    return HeaderField(
      range: start..<(endsWithColon ? scanner.index - 1 : scanner.index), isBracketed: false,
      endsWithColon: endsWithColon, isDelimited: scanner.isAtMark)
  }
}

extension ByteScanner {
  /// Consumes spaces and the delimiters between fields.
  mutating func takeMarks() {
    repeat { takeSpaces() } while takeMark()
  }

  /// Whether a delimiter follows, ignoring spaces.
  fileprivate var isAtMark: Bool {
    if next == 0x09 { return true }
    var ahead = self
    ahead.takeSpaces()
    return ahead.takeMark()
  }

  private mutating func takeMark() -> Bool {
    let mark = next
    guard mark == 0x2d || mark == 0x3a || mark == 0x7c else { return false }
    var end = index
    while byte(at: end) == mark { end += 1 }
    // `-1` and `:8080` are not delimiters; `|` always is one.
    guard mark == 0x7c || end >= bytes.count || Self.isSpace(bytes[end]) else { return false }
    index = end
    return true
  }
}
