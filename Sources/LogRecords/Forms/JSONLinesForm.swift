/// JSON objects, one per line, as written by pino, bunyan, zap, Monolog, Docker, journalctl and
/// others.
///
/// Reads the fields of the outermost object leniently: a truncated line is still a record.
enum JSONLinesForm {
  static func read(_ line: ByteScanner, isExpected: Bool) -> RecordHead? {
    var scanner = line
    guard scanner.consume("{") else { return nil }
    scanner.takeSpaces()
    guard scanner.next == 0x22 else { return nil }
    var fields = RecordFields()
    while !fields.areComplete, let name = scanner.quoted() {
      scanner.takeSpaces()
      guard scanner.consume(":") else { break }
      scanner.takeSpaces()
      guard let value = value(&scanner) else { break }
      fields.add(name, value, in: scanner)
      scanner.takeSpaces()
      guard scanner.consume(",") else { break }
      scanner.takeSpaces()
    }
    return isExpected || fields.proveRecord ? fields.head(of: line.bytes) : nil
  }

  /// Consumes a value.
  ///
  /// - Returns: a string's content or a number; empty for objects and arrays; nil if it does not
  ///   end.
  private static func value(_ scanner: inout ByteScanner) -> Range<Int>? {
    let start = scanner.index
    var depth = 0
    while !scanner.isAtEnd {
      switch scanner.next {
      case 0x22:
        guard let string = scanner.quoted() else { return nil }
        if depth == 0 { return string }
        continue
      case 0x7b, 0x5b: depth += 1
      case 0x7d, 0x5d:
        if depth == 0 { return start..<scanner.index }
        depth -= 1
        guard depth > 0 else {
          scanner.index += 1
          return scanner.index..<scanner.index
        }
      case 0x20, 0x2c: if depth == 0 { return start..<scanner.index }
      default: break
      }
      scanner.index += 1
    }
    return depth == 0 ? start..<scanner.index : nil
  }
}
