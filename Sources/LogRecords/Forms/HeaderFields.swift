/// What stands between the time and the message in the forms of log4j, logback, Python's logging
/// and their many kin: a level, and a logger before or after it, among threads and numbers.
struct HeaderFields {
  let level: Level
  let category: Range<Int>
  /// Where the message starts.
  let message: Int

  /// A level stands among so many fields or nowhere.
  private static let limit = 8

  /// The record whose line they stand in.
  func head(_ time: WrittenTime?, _ line: ByteScanner) -> RecordHead {
    RecordHead(time, level, category: category, before: ByteScanner(line.bytes, at: message))
  }

  /// Reads the fields from where the scanner stands.
  ///
  /// - Returns: nil where no level stands.
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

  /// Reads the fields after a level.
  ///
  /// - Parameters:
  ///   - field: the one that has the level.
  ///   - before: the last other one before it.
  ///   - rest: what else its field says, as in `app.ERROR`.
  ///   - scanner: stands behind the field.
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

  /// A level, and what else its field says: `ERROR`, `app.ERROR:`, `INFO/Main`, `[main/INFO]`,
  /// `[core:error]`.
  private static func claim(
    of field: HeaderField, in scanner: ByteScanner
  ) -> (Level, Range<Int>?)? {
    let range = field.range
    guard range.count <= 64 else { return nil }
    let bytes = scanner.slice(range)
    if let level = Level(foreign: bytes) {
      // A level that nothing sets off is told from a word of the message by its capitals, and so is
      // `CONFIG` from a logger of that name.
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

  /// The logger after a level; threads, process numbers and marks may stand before it.
  private static func logger(
    after level: HeaderField, _ scanner: inout ByteScanner
  ) -> Range<Int>? {
    var ahead = scanner
    var found: HeaderField?
    repeat {
      // A number and a colon are the last before the message: `12#34:`.
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
