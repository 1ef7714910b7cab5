/// Bytes as text: two lower-case hex digits each.
package enum Hex {
  /// The digits of some bytes.
  package static func text(_ bytes: some Sequence<UInt8>) -> String {
    // Copy to an array: iterating a generic sequence costs a call per element.
    let bytes = Array(bytes)
    return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
      for (index, byte) in bytes.enumerated() {
        text[2 * index] = digit(byte >> 4)
        text[2 * index + 1] = digit(byte & 15)
      }
      return 2 * bytes.count
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
  }
}
