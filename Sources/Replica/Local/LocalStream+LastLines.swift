import Platform
package import SessionLog

extension LocalStream {
  /// Maximum number of lines in a crash card.
  private static let lines = 200
  /// Maximum log bytes read for a crash card.
  private static let span: ByteCount = 65_536
  /// Maximum length of a line in a crash card, in bytes.
  private static let lineLength = 1024

  /// The last lines before an offset, for a crash card: as sent, without newlines, with long lines
  /// cut and invalid UTF-8 replaced.
  ///
  /// What may be the rest of a private key whose header is gone is left out.
  ///
  /// - Throws: like ``read(_:)``.
  package func lastLines(upTo end: StreamOffset) throws -> [String] {
    let first = try safeBeginning()
    let start = max(first, end - Self.span)
    guard start < end else { return [] }
    var lines = try read(start..<end).split(separator: 0x0a, omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    // In a longer log, the first line may be incomplete.
    if start > 0, lines.count > 1 { lines.removeFirst() }
    return lines.suffix(Self.lines).map {
      String(decoding: $0.prefix(Self.lineLength), as: UTF8.self)
    }
  }
}
