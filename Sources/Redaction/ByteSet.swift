/// A set of byte values, which never contains the newline: redaction does not extend beyond a line.
struct ByteSet: Sendable, Hashable {
  private let members: [Bool]

  /// Parses the inside of a bracket expression: `A-Za-z0-9+/=-`, or `^"'` for a complement.
  ///
  /// A hyphen at either end is literal.
  init(_ expression: String) {
    let bytes = Array(expression.utf8)
    let isNegated = bytes.first == UInt8(ascii: "^")
    var members = [Bool](repeating: isNegated, count: 256)
    var position = isNegated ? 1 : 0
    while position < bytes.count {
      let first = Int(bytes[position])
      var last = first
      position += 1
      if position + 1 < bytes.count, bytes[position] == UInt8(ascii: "-") {
        last = Int(bytes[position + 1])
        position += 2
      }
      for byte in min(first, last)...max(first, last) { members[byte] = !isNegated }
    }
    members[0x0a] = false
    self.members = members
  }

  /// Whether it contains a byte.
  @inline(__always)
  func contains(_ byte: UInt8) -> Bool { members[Int(byte)] }
}
