/// Passwords that recorded programs print, which the built-in rules mask: `https://me:ABCDEFGHIJKL@host/`.
enum Secret {
  private static let before = Array("://me:".utf8)

  /// Whether bytes have one that is not masked.
  static func isBare(in bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while let slash = rest.firstIndex(of: before[0]) {
      rest = rest[slash...]
      let next = slash + before.count
      if rest.starts(with: before), next < bytes.count, (0x41...0x5a).contains(bytes[next]) {
        return true
      }
      rest = rest.dropFirst()
    }
    return false
  }
}
