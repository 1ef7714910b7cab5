import Platform

/// Makes everything printed to a terminal harmless.
///
/// A log, a sidecar, a server's answer or another user's file may contain characters that move the
/// cursor, write to the clipboard, make the terminal type, reverse the direction of writing, or are
/// invisible. No command can print one: each becomes a visible escape, which JSON reads as the same
/// character. Only newlines, tabs and the colours of ``Console`` remain.
enum TerminalText {
  /// A line with its newline, made harmless; newlines in it become blanks, and colours visible.
  static func line(_ text: String) -> [UInt8] {
    // By bytes: a carriage return before it would hide a newline from a search for characters.
    let bytes = text.utf8.map { $0 == 0x0a ? 0x20 : $0 }
    return bytes.withUnsafeBytes { harmless($0, keepsColours: false) } + [0x0a]
  }

  /// The bytes made harmless.
  ///
  /// - Parameter keepsColours: whether the text may contain our own colours.
  static func harmless(_ bytes: UnsafeRawBufferPointer, keepsColours: Bool = true) -> [UInt8] {
    if bytes.allSatisfy({ (0x20..<0x7f).contains($0) || $0 == 0x0a || $0 == 0x09 }) {
      return Array(bytes)
    }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count + 64)
    var scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
    while let scalar = scalars.popFirst() {
      switch scalar.value {
      case 0x0a, 0x09, 0x20..<0x7f: out.append(UInt8(scalar.value))
      case 0x1b:
        if keepsColours,
          let colour = Console.colourSequences.first(where: { scalars.starts(with: $0) })
        {
          out.append(0x1b)
          out += colour.map { UInt8(truncatingIfNeeded: $0.value) }
          scalars.removeFirst(colour.count)
        } else {
          out += "␛".utf8
        }
      case 0x0d: out += "␍".utf8
      case 0x7f: out += "␡".utf8
      case 0..<0x20: out += String(Unicode.Scalar(0x2400 + scalar.value) ?? "?").utf8
      default:
        if scalar.isInvisible {
          for unit in UTF16.encode(scalar) ?? .init() {
            let digits = String(unit, radix: 16)
            out += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
          }
        } else {
          out += UTF8.encode(scalar) ?? .init()
        }
      }
    }
    return out
  }
}
