import Platform
import TestSupport

/// The output of programs.
extension World {
  /// The output of a recorded program.
  func text(_ bytes: Int, _ random: inout SeededGenerator) -> [UInt8] {
    var text: [UInt8] = []
    while text.count < bytes {
      text += Self.words(&random)
      if Int.random(in: 0..<8, using: &random) == 0 {
        text += Array(" https://me:".utf8) + Self.secret(&random) + Array("@host/".utf8)
      }
      text.append(0x0a)
      if Int.random(in: 0..<24, using: &random) == 0 { text += Self.key(&random) }
    }
    // A program need not end its line.
    return Int.random(in: 0..<4, using: &random) == 0 ? text.dropLast(2) : text
  }

  private static func words(_ random: inout SeededGenerator) -> [UInt8] {
    let count = Int.random(in: 10...70, using: &random)
    return (0..<count).map { _ in UInt8.random(in: 0x61...0x7a, using: &random) }
  }

  private static func secret(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<12).map { _ in UInt8.random(in: 0x41...0x5a, using: &random) }
  }

  /// A private key, a few hundred bytes long.
  private static func key(_ random: inout SeededGenerator) -> [UInt8] {
    let lines = (0..<Int.random(in: 3...9, using: &random)).map { _ in Secret.keyLine(&random) }
    let edges = ["BEGIN", "END"].map { Array("-----\($0) PRIVATE KEY-----\n".utf8) }
    return edges[0] + lines.joined() + edges[1]
  }

  /// A line of another program.
  func line(_ time: Timestamp, _ random: inout SeededGenerator) -> ForeignFile.Line {
    lines += 1
    return Array("\(time) INFO ".utf8) + LineNumber.text(lines) + [0x20] + Self.words(&random)
      + [0x78, 0x0a]
  }
}
