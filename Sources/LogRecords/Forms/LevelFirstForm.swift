/// A level at the start: `[ERROR] [net] message`, `[WARN]: message`, `INFO  [2026-01-22
/// 14:30:05,123] org.acme.Net: message`, `ERROR:net.http:message`, `WARN  message`.
enum LevelFirstForm {
  /// Parses a line.
  ///
  /// - Parameter needsTime: whether a level without brackets needs a time, because the word alone
  ///   proves little.
  static func read(_ line: ByteScanner, needsTime: Bool) -> RecordHead? {
    var scanner = line
    guard let field = field(&scanner), let level = Level(foreign: scanner.slice(field.range)) else {
      return nil
    }
    var time: WrittenTime?
    if !(field.isBracketed && field.endsWithColon) {
      var ahead = scanner
      ahead.takeSpaces()
      let isBracketed = ahead.consume("[")
      time = ahead.time()
      if time != nil, !isBracketed || ahead.consume("]") { scanner = ahead } else { time = nil }
    }
    if time == nil, !field.isBracketed {
      guard !needsTime else { return nil }
      if field.endsWithColon, let logger = logger(&scanner) {
        return RecordHead(nil, level, category: logger, before: scanner)
      }
    }
    return HeaderFields.read(after: field, level: level, scanner).head(time, scanner)
  }

  /// Consumes a bracketed field, or capitals before a space or a colon.
  private static func field(_ scanner: inout ByteScanner) -> HeaderField? {
    if scanner.next == 0x5b { return HeaderField.read(&scanner) }
    while ByteScanner.isUpper(scanner.next) { scanner.index += 1 }
    let word = 0..<scanner.index
    let endsWithColon = scanner.consume(":")
    guard scanner.isAtEnd || endsWithColon || ByteScanner.isSpace(scanner.next) else { return nil }
    return HeaderField(
      range: word, isBracketed: false, endsWithColon: endsWithColon, isDelimited: false)
  }

  /// Consumes the logger of Python's default format: `net.http:`.
  private static func logger(_ scanner: inout ByteScanner) -> Range<Int>? {
    guard let colon = scanner.position(of: ":", within: 128), colon > scanner.index,
      scanner.bytes[scanner.index..<colon].allSatisfy({ !ByteScanner.isSpace($0) })
    else { return nil }
    defer { scanner.index = colon + 1 }
    return scanner.index..<colon
  }
}
