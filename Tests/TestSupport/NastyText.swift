/// The worst program output: NUL, invalid UTF-8, CR LF, escape sequences, look-alikes of our own
/// records, lines of any length, no last newline.
package enum NastyText {
  private static let pieces: [[UInt8]] = [
    [0], [0xff, 0xfe], [0xc3], Array("\r\n".utf8), Array("\u{1b}[31mred\u{1b}[0m".utf8),
    Array("2026-01-22T14:30:05.123Z [ERROR] [stdout] not a record".utf8),
    Array("2026-01-22T14:30:05.123Z [INFO] [Session] SESSION END exit 0".utf8),
    Array("ERROR: no\n".utf8), Array("plain text\n".utf8), [0x0a], [0x0a, 0x0a],
    Array("\u{feff}bom".utf8), Array("{Scenario} x\n".utf8), Array("  indented\n".utf8),
    Array("🌊".utf8), Array("+".utf8),
  ]

  /// Some bytes.
  package static func make(_ pieces: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    var out: [UInt8] = []
    for _ in 0..<pieces {
      if Int.random(in: 0..<4, using: &generator) == 0 {
        let count = Int.random(in: 1...300, using: &generator)
        out += (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      } else {
        out += Self.pieces.randomElement(using: &generator) ?? []
      }
    }
    return out
  }

  /// The same bytes in random pieces.
  package static func cut(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...min(rest.count, 400), using: &generator)
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }
}
