/// A set of byte values, which never contains the newline: redaction does not extend beyond a line.
struct ByteSet: Sendable, Hashable {
  private let members: [Bool]

  /// Parses the inside of a bracket expression: `A-Za-z0-9+/=-`, or `^"'` for a complement.
  ///
  /// A hyphen at either end is literal.
  init(_ expression: String) {
    var bytes = Array(expression.utf8)[...]
    let isNegated = bytes.first == UInt8(ascii: "^")
    if isNegated { bytes = bytes.dropFirst() }
    var members = [Bool](repeating: isNegated, count: 256)
    while let first = bytes.popFirst() {
      var last = first
      if bytes.count > 1, bytes.first == UInt8(ascii: "-") {
        last = bytes[bytes.startIndex + 1]
        bytes = bytes.dropFirst(2)
      }
      for byte in min(first, last)...max(first, last) { members[Int(byte)] = !isNegated }
    }
    members[0x0a] = false
    self.members = members
  }

  /// Whether it contains a byte.
  @inline(__always)
  func contains(_ byte: UInt8) -> Bool { members[Int(byte)] }
}
