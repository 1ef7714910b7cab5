/// Passes what a program draws on a terminal, but nothing by which a hostile recording could do
/// more: set the title or the clipboard, define keys, or make the terminal answer as if someone
/// typed.
///
/// The formats are those of ECMA-48 (sections 5.4 and 5.6) and of xterm's control sequences.
public struct TerminalFilter {
  private enum State {
    case text
    case escape
    /// After ESC and an intermediate byte.
    case designation
    case sequence
    /// In a control string, which ends with ST or, for some, BEL.
    case string
    case stringEscape
  }

  private var state = State.text
  /// Number of bytes missing from the current character.
  private var continuations = 0
  /// The bytes so far of a character of several.
  private var character: [UInt8] = []
  /// The current sequence, from its ESC on.
  private var pending: [UInt8] = []

  /// Maximum length of a sequence; longer ones do not draw.
  private static let limit = 256
  /// Final bytes of control sequences that move, draw, erase, scroll or colour.
  ///
  /// Not `g`, nor `ESC H`: no sequence that all terminals know restores tab stops.
  private static let drawing = Set("@ABCDEFGHIJKLMPSTXZ`abdefm".utf8)
  /// Modes of ECMA-48 that affect the display and that ``reset`` ends: insert.
  private static let modes: Set<Int> = [4]
  /// Modes of xterm that do: wrap, cursor, alternate screens.
  ///
  /// Not the origin of lines: with the cursor's place it would be restored, too.
  private static let privateModes: Set<Int> = [7, 25, 47, 1047, 1048, 1049]
  /// Maximum number of repetitions of a character: more than a line of a terminal has.
  private static let mostRepetitions = 1000
  /// Maximum of any other number, such as of lines to scroll.
  private static let mostOfOthers = 99_999

  /// Starts with a terminal in its normal state.
  public init() {}

  /// The permitted bytes of a piece.
  public mutating func pass(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var out: [UInt8] = []
    for byte in bytes { consume(byte, &out) }
    return out
  }

  /// The sequence that restores a terminal's normal state after any recording.
  ///
  /// The cursor stays: it is saved before what moves it, which is the full scrolling region and, if
  /// the second screen was not in use, its end.
  public static var reset: StaticString {
    """
    \u{0f}\u{1b}7\u{1b}[?1049l\u{1b}7\u{1b}[r\u{1b}8\u{1b}[0m\u{1b}(B\u{1b})B\
    \u{1b}[4l\u{1b}[?7h\u{1b}[?25h
    """
  }

  private mutating func consume(_ byte: UInt8, _ out: inout [UInt8]) {
    switch state {
    case .text: text(byte, &out)
    case .escape: escape(byte, &out)
    case .designation: designation(byte, &out)
    case .sequence: sequence(byte, &out)
    case .string:
      if byte == 0x1b { state = .stringEscape }
      if byte == 0x07 || byte == 0x18 || byte == 0x1a { state = .text }
    case .stringEscape:
      pending = [0x1b]
      // ST; followed by any other byte, ESC ends the string and begins a sequence.
      if byte == UInt8(ascii: "\\") { state = .text } else { escape(byte, &out) }
    }
  }

  private mutating func text(_ byte: UInt8, _ out: inout [UInt8]) {
    if byte & 0xc0 == 0x80 {
      // Outside a character, 8-bit terminals treat it as a control character.
      guard continuations > 0 else { return }
      continuations -= 1
      character.append(byte)
      if continuations == 0, Self.isDrawn(character) { out += character }
      return
    }
    continuations = 0
    switch byte {
    case 0xc2...0xf4:
      continuations = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1
      character = [byte]
    case 0x80...0xff: break
    case 0x1b:
      pending = [byte]
      state = .escape
    // BEL, BS, HT, LF, VT, FF, CR, SO, SI; ENQ is answered by some terminals.
    case 0x07...0x0f: out.append(byte)
    case 0..<0x20, 0x7f: break
    default: out.append(byte)
    }
  }

  /// Whether the bytes are a character, and neither a control character, U+0080 to U+009F, nor one
  /// that changes the direction of writing.
  private static func isDrawn(_ character: [UInt8]) -> Bool {
    let text = String(decoding: character, as: UTF8.self)
    // A terminal may read a longer form of a control character, which is invalid, as that character.
    guard text.utf8.elementsEqual(character) else { return false }
    switch text.unicodeScalars.first?.value ?? 0 {
    case 0x80..<0xa0, 0x61c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: return false
    default: return true
    }
  }

  private mutating func escape(_ byte: UInt8, _ out: inout [UInt8]) {
    pending.append(byte)
    state = .text
    switch byte {
    case UInt8(ascii: "["): state = .sequence
    case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "X"), UInt8(ascii: "^"),
      UInt8(ascii: "_"):
      state = .string
    case 0x20...0x2f: state = .designation
    // Cursor saved and restored, index, next line, reverse index.
    case UInt8(ascii: "7"), UInt8(ascii: "8"), UInt8(ascii: "D"), UInt8(ascii: "E"),
      UInt8(ascii: "M"):
      out += pending
    case 0x1b:
      pending = [byte]
      state = .escape
    default: break
    }
  }

  private mutating func designation(_ byte: UInt8, _ out: inout [UInt8]) {
    guard (0x20...0x7e).contains(byte) else { return control(byte, &out) }
    if pending.count < Self.limit { pending.append(byte) }
    guard byte >= 0x30 else { return }
    state = .text
    // Character sets only: `ESC # 8` and the like fill the screen at most, and are rare. Of these
    // only G0 and G1, which ``reset`` restores: nothing that passes draws with G2 and G3.
    if pending.count < Self.limit, (0x28...0x29).contains(pending[1]) { out += pending }
  }

  private mutating func sequence(_ byte: UInt8, _ out: inout [UInt8]) {
    guard (0x20...0x7e).contains(byte) else { return control(byte, &out) }
    guard byte >= 0x40 else {
      if pending.count < Self.limit { pending.append(byte) }
      return
    }
    state = .text
    if pending.count < Self.limit, draws(byte) { out += pending + [byte] }
  }

  /// Handles a control byte within a sequence, which acts as if it came before it; ESC begins
  /// another sequence, CAN and SUB end it.
  private mutating func control(_ byte: UInt8, _ out: inout [UInt8]) {
    switch byte {
    case 0x1b:
      pending = [byte]
      state = .escape
    case 0x18, 0x1a: state = .text
    case 0x07...0x0d: out.append(byte)
    default: break
    }
  }

  /// Whether the pending control sequence with this final byte only draws.
  private func draws(_ final: UInt8) -> Bool {
    let parameters = pending.dropFirst(2)
    switch final {
    case UInt8(ascii: "h"), UInt8(ascii: "l"):
      let isPrivate = parameters.first == UInt8(ascii: "?")
      let modes = isPrivate ? Self.privateModes : Self.modes
      let numbers = isPrivate ? parameters.dropFirst() : parameters
      guard numbers.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x3b }) else { return false }
      return Self.numbers(numbers).allSatisfy { $0.map(modes.contains) ?? false }
    // The scrolling region, cursor saved and restored; with a mark before, something else.
    case UInt8(ascii: "r"), UInt8(ascii: "s"), UInt8(ascii: "u"):
      return parameters.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x3b }
    default:
      // Only digits and separators: marks and intermediate bytes make other functions of these.
      guard Self.drawing.contains(final), parameters.allSatisfy({ (0x30...0x3b).contains($0) })
      else { return false }
      let most = final == UInt8(ascii: "b") ? Self.mostRepetitions : Self.mostOfOthers
      return Self.numbers(parameters).allSatisfy { $0.map { $0 <= most } ?? false }
    }
  }

  /// The numbers of a sequence's parameters; nil for one that is too long.
  private static func numbers(_ parameters: ArraySlice<UInt8>) -> [Int?] {
    parameters.split { $0 == 0x3a || $0 == 0x3b }.map { Int(String(decoding: $0, as: UTF8.self)) }
  }
}
