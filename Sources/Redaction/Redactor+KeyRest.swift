package import LogRecords

extension Redactor {
  /// Length of what may be the rest of a private key at the beginning of a text whose predecessor is
  /// gone, 0 if there is none: without the key's header it would not be masked.
  ///
  /// It is what precedes a footer without a header. Where the footer has not been printed yet, or is
  /// gone as well, it is the leading lines that look like a key's: at most three foreign lines precede
  /// or interrupt them, as in a key with a header. This grows with the text, until other lines
  /// follow. Lines of a certificate, or random tokens of a key line's length, look the same.
  ///
  /// - Parameters:
  ///   - text: the text; not more than ``context`` bytes of it count.
  ///   - format: whether its lines begin with the recorder's prefixes.
  package func keyRest(in text: [UInt8], _ format: LogFormat) -> Int {
    let text = Array(text.prefix(Self.context))
    guard let end = KeyRest.footerEnd(in: text) ?? KeyRest.linesEnd(in: text) else { return 0 }
    // Rules that mask no keys hold nothing back.
    let header = Array("-----BEGIN PRIVATE KEY-----\n".utf8)
    let masked = redactions(in: header + text[..<end], format: format).last?.range.upperBound ?? 0
    return masked > header.count ? end : 0
  }
}

/// Finds lines of a private key without its header.
private enum KeyRest {
  private static let base64 = ByteSet("A-Za-z0-9+/=")
  private static let upper = ByteSet("A-Z")
  private static let lower = ByteSet("a-z")
  /// How many base64 characters a full line of a key has: 64 in PEM, 70 in OpenSSH's, 76 at most.
  private static let lengths = 60...76
  private static let fences = [Array("-----BEGIN".utf8), Array("-----END".utf8)]
  /// Maximum length of a key's line, in bytes.
  private static let longestLine = 4096
  /// Maximum number of consecutive foreign lines within a key.
  private static let foreignLines = 3

  /// The end of the line of a footer before which there is no header.
  static func footerEnd(in text: [UInt8]) -> Int? {
    guard let footer = text.firstRange(of: Array("-----END ".utf8)),
      text[..<footer.lowerBound].firstRange(of: Array("-----BEGIN ".utf8)) == nil
    else { return nil }
    return text[footer.upperBound...].firstIndex(of: 0x0a).map { $0 + 1 } ?? text.count
  }

  /// The end of the leading lines that look like a key's.
  static func linesEnd(in text: [UInt8]) -> Int? {
    var end: Int?
    var foreign = 0
    /// The base64 in the line before, by its columns, if that was a full line.
    var former: (column: Int, after: Int)?
    var start = 0
    while start < text.count, foreign <= foreignLines {
      let lineEnd = text[start...].firstIndex(of: 0x0a) ?? text.count
      let line = text[start..<lineEnd]
      start = lineEnd + 1
      if fences.contains(where: { line.firstRange(of: $0) != nil }) { break }
      let run = line.count < longestLine ? longestRun(in: line) : line.startIndex..<line.startIndex
      let place = (
        column: run.lowerBound - line.startIndex, after: line.endIndex - run.upperBound
      )
      let isFull = lengths.contains(run.count) && isMixed(line[run])
      // The last line is shorter.
      let isLast =
        !run.isEmpty && run.count <= lengths.upperBound
        && former.map { $0.column == place.column && $0.after == place.after } == true
      former = isFull ? place : nil
      if isFull || isLast {
        end = min(start, text.count)
        foreign = 0
      } else if !line.isEmpty {
        foreign += 1
      }
    }
    return end
  }

  /// Whether it has both cases: hexadecimal digests do not, and hardly any line of a key lacks one.
  private static func isMixed(_ run: ArraySlice<UInt8>) -> Bool {
    run.contains { upper.contains($0) } && run.contains { lower.contains($0) }
  }

  private static func longestRun(in line: ArraySlice<UInt8>) -> Range<Int> {
    var longest = line.startIndex..<line.startIndex
    var start = line.startIndex
    while start < line.endIndex {
      var end = start
      while end < line.endIndex, base64.contains(line[end]) { end += 1 }
      if end - start > longest.count { longest = start..<end }
      start = end + 1
    }
    return longest
  }
}
