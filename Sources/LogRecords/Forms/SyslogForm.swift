/// Syslog: RFC 3164 and 5424 with or without the priority, files that combine the time of 5424 with
/// the rest of 3164, and the output of journalctl and Apple's syslog.
enum SyslogForm {
  static func read(_ line: ByteScanner) -> RecordHead? {
    var scanner = line
    let severity = priority(&scanner)
    if severity != nil, scanner.startsWith("1 ") {
      scanner.index += 2
      return structured(&scanner, severity)
    }
    let isNamed = ByteScanner.isLetter(scanner.next)
    // With a space in the time it is another program's format.
    guard isNamed || scanner.byte(at: scanner.index + 10) == UInt8(ascii: "T"),
      let time = scanner.time(), scanner.takeSpaces()
    else { return nil }
    var ahead = scanner
    let word = ahead.slice(ahead.word())
    if word.contains(0x5b) || word.last == 0x3a {
      // No host. After a time format that others use as well, only a process number is proof.
      guard let tag = tag(&scanner), isNamed || word.contains(0x5b) else { return nil }
      return head(&scanner, time, severity, tag)
    }
    // A level in capitals is another program's format, not a host.
    let isLevel = Level(foreign: word) != nil && ByteScanner.isUpper(word[word.count - 2])
    guard !isLevel, ahead.takeSpaces() else { return nil }
    let tag = tag(&ahead)
    return isNamed || tag != nil ? head(&ahead, time, severity, tag) : nil
  }

  /// Parses a line with a known priority and nothing else.
  static func readPriority(_ line: ByteScanner) -> RecordHead? {
    var scanner = line
    return priority(&scanner).map { RecordHead(nil, $0, before: scanner) }
  }

  private static func head(
    _ scanner: inout ByteScanner, _ time: WrittenTime, _ severity: Level?, _ tag: Range<Int>?
  ) -> RecordHead {
    scanner.takeSpaces()
    // Apple's syslog: `process[12] <Error>: message`.
    var ahead = scanner
    if tag != nil, severity == nil, scanner.next == 0x3c,
      let field = HeaderField.read(&ahead), field.endsWithColon,
      let level = Level(foreign: ahead.slice(field.range))
    {
      ahead.takeSpaces()
      return RecordHead(time, level, category: tag, before: ahead)
    }
    return RecordHead(time, severity, category: tag, before: scanner)
  }

  /// `2026-01-22T14:30:05.123Z host app 12 id [data x="y"] message`.
  private static func structured(_ scanner: inout ByteScanner, _ severity: Level?) -> RecordHead? {
    let time = scanner.time()
    guard time != nil || takeNone(&scanner), scanner.takeSpaces() else { return nil }
    var app: Range<Int>?
    for field in 0..<4 {
      let isNone = takeNone(&scanner)
      let word = scanner.word()
      if field == 1, !isNone { app = word }
      guard scanner.takeSpaces() || field == 3 else { return nil }
    }
    takeStructuredData(&scanner)
    scanner.takeSpaces()
    return RecordHead(time, severity ?? .info, category: app, before: scanner)
  }

  /// Consumes `program[123]:` or `program:`; with a number the program may contain spaces.
  private static func tag(_ scanner: inout ByteScanner) -> Range<Int>? {
    var ahead = scanner
    let end = min(ahead.bytes.count, ahead.index + 64)
    var hasSpace = false
    while ahead.index < end, ahead.next != 0x3a, ahead.next != 0x5b {
      hasSpace = hasSpace || ByteScanner.isSpace(ahead.next)
      ahead.index += 1
    }
    let tag = scanner.index..<ahead.index
    guard !tag.isEmpty else { return nil }
    if ahead.consume(":") {
      guard !hasSpace, ahead.isAtEnd || ByteScanner.isSpace(ahead.next),
        Level(foreign: ahead.slice(tag)) == nil
      else { return nil }
    } else {
      guard ahead.next == 0x5b, !ByteScanner.isSpace(ahead.bytes[ahead.index - 1]),
        let field = HeaderField.read(&ahead), field.range.count <= 32,
        !hasSpace || field.endsWithColon && ahead.isNumber(field.range),
        // Without the colon, a level or another process is in between: `sandboxd[1] ([2]): …`.
        field.endsWithColon || ByteScanner.isSpace(ahead.next) || ahead.isAtEnd
      else { return nil }
    }
    scanner = ahead
    return tag
  }

  /// Consumes `<34>`.
  ///
  /// - Returns: the level of its severity; nil, with nothing consumed, without one.
  private static func priority(_ scanner: inout ByteScanner) -> Level? {
    var ahead = scanner
    guard ahead.consume("<") else { return nil }
    let digits = ahead.digitRun(limit: 4)
    guard digits > 0, let priority = ahead.number(digits), priority < 192, ahead.consume(">") else {
      return nil
    }
    scanner = ahead
    return Level(severity: priority)
  }

  /// Consumes the `-` of a field without a value.
  private static func takeNone(_ scanner: inout ByteScanner) -> Bool {
    let after = scanner.index + 1
    guard scanner.next == 0x2d,
      ByteScanner.isSpace(scanner.byte(at: after)) || after == scanner.bytes.count
    else { return false }
    scanner.index = after
    return true
  }

  /// Consumes `-` or any number of `[id name="value"]`.
  private static func takeStructuredData(_ scanner: inout ByteScanner) {
    guard !takeNone(&scanner) else { return }
    while scanner.next == 0x5b {
      var ahead = scanner
      while !ahead.isAtEnd, ahead.next != 0x5d {
        if ahead.next == 0x22 {
          guard ahead.quoted() != nil else { return }
        } else {
          ahead.index += 1
        }
      }
      guard ahead.consume("]") else { return }
      scanner = ahead
    }
  }
}
