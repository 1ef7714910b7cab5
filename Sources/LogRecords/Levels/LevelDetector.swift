/// Finds the level that a captured line states, `[ERROR]`, `error:`, `WARN  text`, `level=error`,
/// in its first bytes, perhaps after a timestamp.
package enum LevelDetector {
  /// Number of bytes to search: levels occur early in a line.
  private static let window = 64

  /// The level of a printed line, including JSON, and lines with a priority for journald.
  package static func level(ofCaptured line: UnsafeRawBufferPointer) -> Level? {
    let form: RecordForm? =
      switch line.first {
      case UInt8(ascii: "{"): .json
      case UInt8(ascii: "<"): .priority
      default: nil
      }
    let head = UnsafeRawBufferPointer(rebasing: line.prefix(4096))
    return form?.read(ByteScanner(head), isExpected: false)?.level ?? level(of: line)
  }

  package static func level(of line: UnsafeRawBufferPointer) -> Level? {
    let head = UnsafeRawBufferPointer(rebasing: line.prefix(window))
    var index = 0
    var isFirstWord = true
    while index < head.count {
      guard isLetter(head[index]) else {
        index += 1
        continue
      }
      let start = index
      while index < head.count, isLetter(head[index]) { index += 1 }
      let word = UnsafeRawBufferPointer(rebasing: head[start..<index])
      if let level = Level(word),
        isClaim(head, start..<index, isFirstWord: isFirstWord)
      {
        return level
      }
      // Letters inside a timestamp (`T`, `Z`, month names) do not count as the first word.
      if word.count > 3 { isFirstWord = false }
    }
    return nil
  }

  /// Whether a level's name is where programs put levels, rather than within a sentence.
  private static func isClaim(
    _ line: UnsafeRawBufferPointer, _ word: Range<Int>, isFirstWord: Bool
  ) -> Bool {
    let before = word.lowerBound == 0 ? UInt8(ascii: "\n") : line[word.lowerBound - 1]
    let after = word.upperBound == line.count ? UInt8(ascii: "\n") : line[word.upperBound]
    switch (before, after) {
    case (UInt8(ascii: "["), UInt8(ascii: "]")), (UInt8(ascii: "<"), UInt8(ascii: ">")):
      return true
    case (UInt8(ascii: "="), _):
      return line[..<(word.lowerBound - 1)].suffix(5).elementsEqual("level".utf8)
        || line[..<(word.lowerBound - 1)].suffix(3).elementsEqual("lvl".utf8)
    case (_, UInt8(ascii: ":")) where isFirstWord || before == UInt8(ascii: " "):
      return true
    case (_, UInt8(ascii: " ")), (_, UInt8(ascii: "\n")), (_, UInt8(ascii: "\t")),
      (_, UInt8(ascii: "|")):
      return isFirstWord && line[word].allSatisfy { $0 < 0x61 }
    default: return false
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
  }
}
