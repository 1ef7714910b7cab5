/// A time at the start, in brackets or not, and usually a level among the fields after it.
///
/// log4j, logback, Spring, Hadoop, Python's logging, loguru, zap, tracing, Monolog, PostgreSQL, our
/// own records, and the error logs of web servers: `2026-01-22 14:30:05,123 ERROR [net] message`,
/// `[2026-01-22T14:30:05Z ERROR net::tcp] message`, `[2026-01-22 14:30:05] app.ERROR: message`,
/// `[Thu Jan 22 14:30:05.123456 2026] [core:error] [pid 12] message`, `2026/01/22 14:30:05 [error]
/// 12#34: message`.
enum TimedForm {
  static func read(_ line: ByteScanner) -> RecordHead? {
    var scanner = line
    let isBracketed = scanner.consume("[")
    guard let time = scanner.time() else { return nil }
    guard isBracketed, !scanner.consume("]") else {
      return HeaderFields.read(scanner)?.head(time, scanner)
    }
    // The bracket contains more than the time.
    guard let close = scanner.position(of: "]", within: 256),
      let fields = HeaderFields.read(
        ByteScanner(scanner.slice(0..<close), at: scanner.index))
    else { return nil }
    scanner.index = close + 1
    scanner.takeMarks()
    // Everything after the level is the logger.
    let category = fields.category.isEmpty ? fields.message..<close : fields.category
    return RecordHead(time, fields.level, category: category, before: scanner)
  }

  /// Parses a line with a known time and nothing else.
  static func readTime(_ line: ByteScanner) -> RecordHead? {
    var scanner = line
    let isBracketed = scanner.consume("[")
    guard let time = scanner.time() else { return nil }
    if isBracketed {
      guard let close = scanner.position(of: "]", within: 256) else { return nil }
      scanner.index = close + 1
    }
    scanner.takeMarks()
    return RecordHead(time, nil, before: scanner)
  }
}
