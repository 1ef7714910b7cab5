/// A Zstandard frame that needs no library.
package enum ZstdFrame {
  /// Number of bytes before the content of the first block.
  package static let headerLength = 12

  /// A frame of raw blocks (RFC 8878, 3.1.1).
  package static func raw(_ content: [UInt8]) -> [UInt8] {
    func littleEndian(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0xa0] + littleEndian(content.count, 4)
    var rest = content[...]
    repeat {
      let block = rest.prefix(100_000)
      rest = rest.dropFirst(block.count)
      frame += littleEndian((block.count << 3) | (rest.isEmpty ? 1 : 0), 3) + block
    } while !rest.isEmpty
    return frame
  }
}
