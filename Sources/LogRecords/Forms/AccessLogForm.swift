/// Access logs of web servers, common and combined, with or without a leading virtual host:
/// `1.2.3.4 - user [22/Jan/2026:14:30:05 +0100] "GET / HTTP/1.1" 200 12 "…" "…"`.
enum AccessLogForm {
  static func read(_ line: ByteScanner) -> RecordHead? {
    var scanner = line
    guard let open = scanner.position(of: "[", within: 512), open > 0,
      scanner.bytes[open - 1] == 0x20, scanner.byte(at: open + 3) == 0x2f
    else { return nil }
    scanner.index = open + 1
    guard let time = scanner.time(), scanner.consume("]"), scanner.consume(" "),
      scanner.next == 0x22
    else { return nil }
    return RecordHead(
      time, level(scanner), category: virtualHost(line, end: open), before: scanner)
  }

  /// The first of four fields before the time, without its port; three fields are usual.
  private static func virtualHost(_ line: ByteScanner, end: Int) -> Range<Int>? {
    guard line.bytes[..<end].count(where: { $0 == 0x20 }) == 4 else { return nil }
    var scanner = line
    let host = scanner.word()
    let digits = scanner.bytes[host].reversed().prefix(while: ByteScanner.isDigit).count
    let colon = host.upperBound - digits - 1
    return digits > 0 && colon > 0 && scanner.bytes[colon] == 0x3a ? 0..<colon : host
  }

  /// The level for the status after the request.
  private static func level(_ line: ByteScanner) -> Level {
    var scanner = line
    guard scanner.quoted() != nil, scanner.consume(" ") else { return .info }
    switch scanner.number(3) ?? 0 {
    case 400..<500: return .warning
    case 500..<600: return .error
    default: return .info
    }
  }
}
