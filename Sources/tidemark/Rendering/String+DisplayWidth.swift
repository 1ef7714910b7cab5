/// Measures text in terminal columns, which are neither characters nor bytes.
extension StringProtocol {
  /// Width in columns: two for wide East Asian characters and emoji, none for combining marks.
  var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

  /// The text, cut to a width; a cut text ends in an ellipsis.
  func cut(to width: Int) -> String {
    guard displayWidth > width else { return String(self) }
    guard width > 0 else { return "" }
    var text = ""
    var rest = width - 1
    for character in self {
      rest -= character.displayWidth
      guard rest >= 0 else { break }
      text.append(character)
    }
    return text + "…"
  }

  /// The text, cut to a width in its middle: its end is kept, as far as it fits.
  func cutInside(to width: Int) -> String {
    guard displayWidth > width else { return String(self) }
    guard width > 4 else { return cut(to: width) }
    let head = cut(to: width / 3)
    var tail = ""
    var rest = width - head.displayWidth
    for character in reversed() {
      rest -= character.displayWidth
      guard rest >= 0 else { break }
      tail = String(character) + tail
    }
    return head + tail
  }

  /// The text, followed by blanks up to a width.
  func padded(to width: Int) -> String {
    String(self) + String(repeating: " ", count: Swift.max(0, width - displayWidth))
  }
}

extension Character {
  /// Width in columns.
  fileprivate var displayWidth: Int {
    // The selector requests emoji presentation.
    if unicodeScalars.contains("\u{fe0f}") { return 2 }
    return unicodeScalars.reduce(0) { Swift.max($0, $1.displayWidth) }
  }
}

extension Unicode.Scalar {
  /// Wide and full-width blocks of Unicode's East Asian Width; emoji have a property of their own.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4e00...0xa4cf,
    0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f,
    0xff01...0xff60, 0xffe0...0xffe6, 0x16fe0...0x18cff, 0x1aff0...0x1b2ff, 0x1f200...0x1f2ff,
    0x20000...0x3fffd,
  ]

  fileprivate var displayWidth: Int {
    if value < 0x300 { return value < 0x20 || (0x7f..<0xa0).contains(value) ? 0 : 1 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    // Vowels and finals that join the preceding syllable.
    if (0x1160...0x11ff).contains(value) { return 0 }
    return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
  }
}
