/// Android's logcat: `01-22 14:30:05.123  1702  2395 E Tag: message` (threadtime, with or without
/// year, zone and uid), `01-22 14:30:05.123 E/Tag( 1702): message` (time), `E/Tag( 1702): message`
/// (brief), `[ 01-22 14:30:05.123  1702: 2395 E/Tag ]` (long).
enum AndroidForm {
  static func read(_ line: ByteScanner) -> RecordHead? {
    var scanner = line
    if scanner.consume("[") {
      return scanner.takeSpaces() ? long(&scanner) : nil
    }
    var time: WrittenTime?
    if ByteScanner.isDigit(scanner.next) {
      guard scanner.byte(at: 2) == 0x2d || scanner.byte(at: 4) == 0x2d else { return nil }
      time = scanner.time()
      guard time != nil, scanner.takeSpaces() else { return nil }
    }
    var numbers = 0
    while numbers < 3, time != nil, takeNumber(&scanner) {
      guard scanner.takeSpaces() else { return nil }
      numbers += 1
    }
    guard let level = level(&scanner) else { return nil }
    if numbers == 0 { return slashed(&scanner, time, level) }
    // The tag may be empty and may contain colons, spaces and brackets.
    guard numbers > 1, scanner.consume(" "), let tag = tag(&scanner, until: ":") else { return nil }
    scanner.takeSpaces()
    return RecordHead(time, level, category: tag, before: scanner)
  }

  /// `/Tag( 1702): message`.
  private static func slashed(
    _ scanner: inout ByteScanner, _ time: WrittenTime?, _ level: Level
  ) -> RecordHead? {
    guard scanner.consume("/"), let tag = tag(&scanner, until: "(") else { return nil }
    scanner.takeSpaces()
    guard takeNumber(&scanner), scanner.consume(")"), scanner.consume(":") else { return nil }
    scanner.takeSpaces()
    return RecordHead(time, level, category: tag, before: scanner)
  }

  /// The head of a message on the following lines.
  private static func long(_ scanner: inout ByteScanner) -> RecordHead? {
    guard let time = scanner.time(), scanner.takeSpaces(), takeNumber(&scanner),
      scanner.consume(":")
    else { return nil }
    scanner.takeSpaces()
    guard takeNumber(&scanner), scanner.takeSpaces(), let level = level(&scanner),
      scanner.consume("/"), let tag = tag(&scanner, until: "]")
    else { return nil }
    return RecordHead(time, level, category: tag, before: scanner)
  }

  /// Consumes a tag and its terminator; the tag may be padded with spaces.
  private static func tag(
    _ scanner: inout ByteScanner, until mark: Unicode.Scalar
  ) -> Range<Int>? {
    let start = scanner.index
    guard let position = scanner.position(of: mark, within: 128) else { return nil }
    scanner.index = position + 1
    var end = position
    while end > start, ByteScanner.isSpace(scanner.bytes[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func takeNumber(_ scanner: inout ByteScanner) -> Bool {
    let digits = scanner.digitRun(limit: 10)
    scanner.index += digits
    return digits > 0
  }

  private static func level(_ scanner: inout ByteScanner) -> Level? {
    let level: Level
    switch scanner.next {
    case UInt8(ascii: "V"): level = .trace
    case UInt8(ascii: "D"): level = .debug
    case UInt8(ascii: "I"): level = .info
    case UInt8(ascii: "W"): level = .warning
    case UInt8(ascii: "E"): level = .error
    case UInt8(ascii: "F"), UInt8(ascii: "A"): level = .fault
    default: return nil
    }
    scanner.index += 1
    return level
  }
}
