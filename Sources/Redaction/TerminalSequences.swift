/// The terminal sequences that a text is searched without.
enum TerminalSequences: Sendable {
  /// Those that set colours (SGR, ECMA-48, section 8.3.117), with at most 32 bytes of numbers.
  case colours
  /// All that ECMA-48 and ECMA-35 define with an escape character, up to ``longest``.
  ///
  /// Where one ends depends only on the bytes after its escape character, and none contains a
  /// second one: so a text may be cut anywhere, and is read alike from the next sequence on.
  case all

  static let escape: UInt8 = 0x1b
  private static let bell: UInt8 = 0x07
  private static let newline: UInt8 = 0x0a
  /// Shift out and shift in, which reset a character set after a sequence (`tput sgr0`).
  private static let shifts: ClosedRange<UInt8> = 0x0e...0x0f
  private static let numbers = UInt8(ascii: "0")...UInt8(ascii: ";")
  private static let parameters: ClosedRange<UInt8> = 0x30...0x3f
  private static let intermediates: ClosedRange<UInt8> = 0x20...0x2f
  private static let finals: ClosedRange<UInt8> = 0x40...0x7e

  /// Maximum length of the numbers of a colour, in bytes.
  private static let longestNumbers = 32
  /// Maximum length of a sequence, in bytes: terminals take hyperlinks of about half of it.
  static let longest = 4096

  /// How far from an anchor its rule reads in the original text, in bytes.
  ///
  /// Beyond it, a sequence and a line of a private key are still within a pass's reach.
  var reach: (before: Int, after: Int) {
    switch self {
    case .colours: (.max, RedactionPass.reach)
    case .all: (Self.longest, RedactionPass.reach - 2 * Self.longest)
    }
  }

  /// End of a sequence that begins at a position, even if the text ends within it; nil if none
  /// begins.
  ///
  /// - Parameters:
  ///   - start: the position of an escape character.
  ///   - text: the text.
  ///   - limit: the end of its line, or of the part that is searched.
  func end(at start: Int, in text: UnsafeRawBufferPointer, _ limit: Int) -> Int? {
    switch self {
    case .colours: Self.colourEnd(at: start, in: text, limit)
    case .all: Self.end(at: start, in: text, min(limit, start + Self.longest))
    }
  }

  private static func colourEnd(
    at start: Int, in text: UnsafeRawBufferPointer, _ limit: Int
  ) -> Int? {
    var end = start + 1
    guard end < limit else { return end == text.count ? end : nil }
    guard text[end] == UInt8(ascii: "[") else { return nil }
    end += 1
    let last = min(limit, end + longestNumbers)
    while end < last, numbers.contains(text[end]) { end += 1 }
    guard end < limit else { return end == text.count ? end : nil }
    return text[end] == UInt8(ascii: "m") ? end + 1 : nil
  }

  private static func end(at start: Int, in text: UnsafeRawBufferPointer, _ limit: Int) -> Int {
    var end = start + 1
    func pass(_ bytes: ClosedRange<UInt8>, atMost count: Int = .max) {
      let last = count < limit - end ? end + count : limit
      while end < last, bytes.contains(text[end]) { end += 1 }
    }
    guard end < limit else { return end }
    switch text[end] {
    case UInt8(ascii: "["):
      end += 1
      pass(parameters)
      pass(intermediates)
      pass(finals, atMost: 1)
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"),
      UInt8(ascii: "_"):
      end = stringEnd(from: end + 1, in: text, limit)
    default:
      pass(intermediates)
      pass(UInt8(ascii: "0")...finals.upperBound, atMost: 1)
    }
    pass(shifts)
    return end
  }

  /// End of a string that a terminal does not print; where it begins if it has none.
  private static func stringEnd(
    from start: Int, in text: UnsafeRawBufferPointer, _ limit: Int
  ) -> Int {
    var end = start
    while end < limit {
      switch text[end] {
      case bell: return end + 1
      case escape: return end
      case newline: return start
      default: end += 1
      }
    }
    return end == text.count ? end : start
  }
}
