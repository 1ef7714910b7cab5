/// Apple's unified log as printed by `log show`, in default, compact and syslog style, and by
/// NSLog: a time, then perhaps thread, type, activity, process number or host, then
/// `process[123:456]` or `process:`.
enum AppleForm {
  static func read(_ line: ByteScanner) -> RecordHead? {
    var scanner = line
    guard scanner.byte(at: 4) == 0x2d, scanner.byte(at: 10) == 0x20, let time = scanner.time(),
      scanner.takeSpaces()
    else { return nil }
    if scanner.startsWith("0x") { return whole(&scanner, time) }
    let level = shortType(&scanner) ?? .info
    return process(scanner, level, time)
  }

  /// `0x1f4      Default     0x0                  123    0    process: (Library) [a.b:c] message`.
  private static func whole(_ scanner: inout ByteScanner, _ time: WrittenTime) -> RecordHead? {
    _ = scanner.word()
    scanner.takeSpaces()
    let type = scanner.slice(scanner.word())
    guard let level = type.elementsEqual("Activity".utf8) ? .info : Level(foreign: type) else {
      return nil
    }
    for _ in 0..<3 {
      guard scanner.takeSpaces(), ByteScanner.isDigit(scanner.next) else { return nil }
      _ = scanner.word()
    }
    guard scanner.takeSpaces(), let colon = scanner.position(of: ":", within: 128) else {
      return nil
    }
    let process = scanner.index..<colon
    scanner.index = colon + 1
    return head(time, level, process, &scanner)
  }

  /// `process[123:456] [a.b:c] message` or `host process[123]: message`; names may contain spaces.
  private static func process(
    _ line: ByteScanner, _ level: Level, _ time: WrittenTime
  ) -> RecordHead? {
    var scanner = line
    guard let open = scanner.position(of: "[", within: 128), open > line.index,
      !ByteScanner.isSpace(scanner.bytes[open - 1])
    else { return nil }
    scanner.index = open
    guard let number = HeaderField.read(&scanner), ByteScanner.isDigit(scanner.bytes[open + 1]),
      scanner.bytes[number.range].allSatisfy({ isHexDigit($0) || $0 == 0x3a }),
      ByteScanner.isSpace(scanner.next)
    else { return nil }
    var start = line
    if number.endsWithColon {
      _ = start.word()
      start.takeSpaces()
      if start.index > open { start = line }
    }
    return head(time, level, start.index..<open, &scanner)
  }

  private static func head(
    _ time: WrittenTime, _ level: Level, _ process: Range<Int>, _ scanner: inout ByteScanner
  ) -> RecordHead {
    scanner.takeSpaces()
    var ahead = scanner
    if ahead.next == 0x28, HeaderField.read(&ahead) != nil { ahead.takeSpaces() }
    guard ahead.next == 0x5b, let field = HeaderField.read(&ahead),
      ahead.bytes[field.range].contains(0x3a),
      !ahead.bytes[field.range].contains(where: ByteScanner.isSpace)
    else { return RecordHead(time, level, category: process, before: scanner) }
    ahead.takeSpaces()
    return RecordHead(time, level, category: field.range, before: ahead)
  }

  /// Consumes a type of the compact style.
  private static func shortType(_ scanner: inout ByteScanner) -> Level? {
    let types: [(StaticString, Level)] = [
      ("Df ", .info), ("Db ", .debug), ("A  ", .info), ("I  ", .info), ("E  ", .error),
      ("F  ", .fault),
    ]
    guard let (_, level) = types.first(where: { scanner.startsWith($0.0) }) else { return nil }
    scanner.index += 3
    return level
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    ByteScanner.isDigit(byte) || (byte | 0x20) &- 0x61 < 6 || byte == UInt8(ascii: "x")
  }
}
