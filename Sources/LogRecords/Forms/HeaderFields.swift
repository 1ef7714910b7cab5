/// The fields between the time and the message in the formats of log4j, logback, Python's logging
/// and many similar ones: a level, with a logger before or after it, among threads and numbers.
struct HeaderFields {
  let level: Level
  let category: Range<Int>
  /// Start of the message.
  let message: Int

  /// Maximum number of fields in which to find a level.
  private static let limit = 8

  /// The record that begins with this line.
  func head(_ time: WrittenTime?, _ line: ByteScanner) -> RecordHead {
    RecordHead(time, level, category: category, before: ByteScanner(line.bytes, at: message))
  }

  /// Parses the fields at the scanner's position.
  ///
  /// - Returns: nil without a level.
  static func read(_ scanner: ByteScanner) -> HeaderFields? {
    var scanner = scanner
    var before: HeaderField?
    var looseWords = 0
    for _ in 0..<limit {
      scanner.takeMarks()
      guard let field = HeaderField.read(&scanner) else { return nil }
      if let (level, rest) = claim(of: field, in: scanner) {
        return read(after: field, level: level, before: before, rest: rest, scanner)
      }
      // The message has begun.
      guard !field.endsWithColon else { return nil }
      if scanner.isNumber(field.range) { continue }
      if !field.isMarked { looseWords += 1 }
      guard looseWords < 2 else { return nil }
      before = field
    }
    return nil
  }

  /// Parses the fields after a level.
  ///
  /// - Parameters:
  ///   - field: the field with the level.
  ///   - before: the last other field before it.
  ///   - rest: the rest of the level's field, as in `app.ERROR`.
  ///   - scanner: positioned after the field.
  static func read(
    after field: HeaderField, level: Level, before: HeaderField? = nil, rest: Range<Int>? = nil,
    _ scanner: ByteScanner
  ) -> HeaderFields {
    var scanner = scanner
    var category = rest
    if category == nil {
      let earlier = before.flatMap {
        $0.isDelimited || $0.isBracketed && field.isBracketed ? $0.range : nil
      }
      if field.endsWithColon || earlier != nil && field.isDelimited {
        category = earlier
      } else {
        category = logger(after: field, &scanner) ?? earlier
      }
    }
    scanner.takeMarks()
    return HeaderFields(
      level: level, category: category ?? scanner.index..<scanner.index, message: scanner.index)
  }

  /// A level, and the rest of its field: `ERROR`, `app.ERROR:`, `INFO/Main`, `[main/INFO]`,
  /// `[core:error]`.
  private static func claim(
    of field: HeaderField, in scanner: ByteScanner
  ) -> (Level, Range<Int>?)? {
    let range = field.range
    guard range.count <= 64 else { return nil }
    let bytes = scanner.slice(range)
    if let level = Level(foreign: bytes) {
      // Without brackets or a delimiter, capitals distinguish a level from a word of the message,
      // and `CONFIG` from a logger of that name.
      let isSetOff = field.isBracketed || field.isMarked && Level(bytes) != nil
      return isSetOff || ByteScanner.isUpper(bytes[bytes.count - 2]) ? (level, nil) : nil
    }
    for position in range {
      let mark = scanner.bytes[position]
      let head = range.lowerBound..<position
      let tail = (position + 1)..<range.upperBound
      if mark == 0x3a, field.isBracketed, let level = Level(foreign: scanner.slice(tail)) {
        return (level, head)
      }
      guard mark == 0x2f || mark == 0x2e && field.endsWithColon else { continue }
      if let level = scanner.capitalLevel(tail) { return (level, head) }
      if mark == 0x2f, let level = scanner.capitalLevel(head) { return (level, tail) }
    }
    return nil
  }

  /// The logger after a level, perhaps preceded by threads, process numbers and delimiters.
  private static func logger(
    after level: HeaderField, _ scanner: inout ByteScanner
  ) -> Range<Int>? {
    var ahead = scanner
    var found: HeaderField?
    repeat {
      // A number and a colon come last before the message: `12#34:`.
      guard !(found?.endsWithColon ?? false) else { return nil }
      scanner = ahead
      ahead.takeMarks()
      found = HeaderField.read(&ahead)
    } while found.map { ahead.isNumber($0.range) } ?? false
    guard let field = found, !isPeer(field, ahead),
      field.isMarked || isDottedBeforeBracket(field, ahead)
    else { return nil }
    scanner = ahead
    guard field.isBracketed else { return field.range }
    if !level.isBracketed, !field.endsWithColon {
      ahead.takeMarks()
      if let name = HeaderField.read(&ahead), !name.isBracketed, name.isMarked, !field.isDelimited {
        scanner = ahead
        return name.range
      }
    }
    return ahead.className(in: field.range)
  }

  /// `[pid 12:tid 34]` and `[client 1.2.3.4]` of Apache.
  private static func isPeer(_ field: HeaderField, _ scanner: ByteScanner) -> Bool {
    let content = ByteScanner(scanner.bytes, at: field.range.lowerBound)
    return field.isBracketed && (content.startsWith("pid ") || content.startsWith("client "))
  }

  /// `nova.compute [req-1] …`.
  private static func isDottedBeforeBracket(_ field: HeaderField, _ scanner: ByteScanner) -> Bool {
    var ahead = scanner
    ahead.takeSpaces()
    return ahead.next == 0x5b && scanner.slice(field.range).contains(0x2e)
  }
}

extension ByteScanner {
  /// `12` or `12#34`.
  func isNumber(_ range: Range<Int>) -> Bool {
    Self.isDigit(byte(at: range.lowerBound))
      && bytes[range].allSatisfy { Self.isDigit($0) || $0 == 0x23 }
  }

  fileprivate func capitalLevel(_ range: Range<Int>) -> Level? {
    guard range.count >= 3, Self.isUpper(bytes[range.upperBound - 2]) else { return nil }
    return Level(foreign: slice(range))
  }

  /// The class in `thread:Class@12`; else the whole field.
  fileprivate func className(in range: Range<Int>) -> Range<Int> {
    let content = bytes[range]
    guard let at = content.lastIndex(of: 0x40), at + 1 < range.upperBound,
      content[(at + 1)...].allSatisfy(Self.isDigit),
      let colon = content[..<at].lastIndex(of: 0x3a), colon + 1 < at
    else { return range }
    return (colon + 1)..<at
  }
}
