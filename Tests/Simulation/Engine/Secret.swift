/// Passwords printed by recorded programs, which the built-in rules mask:
/// `https://me:ABCDEFGHIJKL@host/`.
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
    return false
  }

  /// Whether bytes end with the start of one that other bytes complete.
  static func isBare(in bytes: [UInt8], before rest: some Sequence<UInt8>) -> Bool {
    let most = before.count + length
    return isBare(in: bytes.suffix(most) + rest.prefix(most + 1))
  }
}
