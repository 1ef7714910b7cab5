import Platform

/// The form in which anything is printed to a terminal, whoever wrote it.
///
/// A log, a sidecar, a server's answer or another user's file may hold characters that move the cursor,
/// write to the clipboard, answer as the keyboard would, turn the direction of writing, or are not
/// visible. None gets through, whatever the command that prints it has done or forgotten: each becomes a
/// visible escape, in a form that JSON takes for the same character. Only newlines, tabs and the
/// colours that ``Console`` paints with stay.
enum TerminalText {
  /// The bytes made harmless.
  static func harmless(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
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
        if let colour = Console.colourSequences.first(where: { scalars.starts(with: $0) }) {
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
