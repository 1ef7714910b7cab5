import TestSupport

/// Secrets printed by recorded programs, which the built-in rules mask: passwords,
/// `https://me:ABCDEFGHIJKL@host/`, and private keys.
enum Secret {
  private static let before = Array("://me:".utf8)
  private static let length = 12

  /// Whether bytes contain a complete, unmasked one; a rule recognizes it by what follows it.
  static func isBare(in bytes: some BidirectionalCollection<UInt8>) -> Bool {
    var rest = bytes[...]
    while let colon = rest.firstIndex(of: before[0]) {
      rest = rest[colon...]
      let end = rest.dropFirst(before.count).prefix(length)
      if rest.starts(with: before), end.count == length,
        end.allSatisfy({ (0x41...0x5a).contains($0) }),
        rest.dropFirst(before.count + length).first == UInt8(ascii: "@")
      {
        return true
      }
      rest = rest.dropFirst()
    }
    return hasKeyLine(bytes)
  }

  /// A line of a private key: 64 base64 characters, in turn upper and lower case, which nothing else
  /// that programs print has.
  static func keyLine(_ random: inout SeededGenerator) -> [UInt8] {
    let pairs = (0..<32).flatMap { _ in
      [
        UInt8.random(in: 0x41...0x5a, using: &random),
        UInt8.random(in: 0x61...0x7a, using: &random),
      ]
    }
    return pairs + [0x0a]
  }

  /// Whether bytes contain most of such a line.
  private static func hasKeyLine(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
    var turns = 0
    var wasUpper = false
    for byte in bytes {
      let isUpper = (0x41...0x5a).contains(byte)
      let isInTurn = isUpper ? !wasUpper : wasUpper && (0x61...0x7a).contains(byte)
      turns = isInTurn ? turns + 1 : isUpper ? 1 : 0
      wasUpper = isUpper
      if turns > 40 { return true }
    }
    return false
  }

  /// Whether bytes end with the start of one that other bytes complete.
  static func isBare(in bytes: [UInt8], before rest: some Sequence<UInt8>) -> Bool {
    let most = before.count + length
    return isBare(in: bytes.suffix(most) + rest.prefix(most + 1))
  }
}
