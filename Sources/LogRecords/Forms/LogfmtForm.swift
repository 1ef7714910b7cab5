/// Pairs of names and values: `time=2026-01-22T14:30:05Z level=error msg="it failed" logger=net`.
enum LogfmtForm {
  static func read(_ line: ByteScanner, isExpected: Bool) -> RecordHead? {
    var scanner = line
    var fields = RecordFields()
    while !fields.areComplete, !scanner.isAtEnd {
      let name = name(&scanner)
      // A word without a value is allowed, but not as the first.
      if !name.isEmpty, scanner.consume("=") {
        let value = scanner.next == 0x22 ? scanner.quoted() : scanner.word()
        fields.add(name, value ?? scanner.index..<scanner.index, in: scanner)
      } else if name.lowerBound == 0 {
        return nil
      } else {
        _ = scanner.word()
      }
      scanner.takeSpaces()
    }
    return isExpected || fields.proveRecord ? fields.head(of: line.bytes) : nil
  }

  private static func name(_ scanner: inout ByteScanner) -> Range<Int> {
    let start = scanner.index
    while ByteScanner.isLetter(scanner.next) || ByteScanner.isDigit(scanner.next)
      || [0x2d, 0x2e, 0x40, 0x5f].contains(scanner.next)
    {
      scanner.index += 1
    }
    return start..<scanner.index
  }
}
