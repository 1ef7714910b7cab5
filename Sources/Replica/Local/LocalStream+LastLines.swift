import Platform
package import SessionLog

extension LocalStream {
  /// How many lines a crash card shows.
  private static let lines = 200
  /// How many bytes of the log a crash card is made of, at most.
  private static let span: ByteCount = 65_536
  /// How much of a line a crash card shows, in bytes.
  private static let lineLength = 1024

  /// The last lines before an offset, for a crash card: as they leave the machine, without their
  /// ends, what is too long cut off, and what is no UTF-8 replaced.
  ///
  /// - Throws: as ``read(_:)`` does.
  package func lastLines(upTo end: StreamOffset) throws -> [String] {
    let first = try available().lowerBound
    let start = max(first, end - Self.span)
    guard start < end else { return [] }
    var lines = try read(start..<end).split(separator: 0x0a, omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    // Where the log is longer, the first one may be the rest of a line.
    if start > 0, lines.count > 1 { lines.removeFirst() }
    return lines.suffix(Self.lines).map {
      String(decoding: $0.prefix(Self.lineLength), as: UTF8.self)
    }
  }
}
