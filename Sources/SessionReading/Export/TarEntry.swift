import Platform

/// One file of a tar archive in the ustar format, with a pax header if its size requires one.
///
/// The same content makes the same bytes: no owner, and the given time.
struct TarEntry {
  /// Its folder, at most 155 bytes.
  let folder: String
  /// Its name there, at most 100 bytes.
  let name: String
  let size: ByteCount
  let modified: Timestamp

  private static let block = 512
  /// The first size that does not fit in 11 octal digits.
  private static let largest: ByteCount = 1 << 33

  /// The end of an archive.
  static let end = [UInt8](repeating: 0, count: 2 * block)

  /// The header before the file's bytes.
  var header: [UInt8] {
    guard size >= Self.largest else { return header(name, size.bytes, type: "0") }
    // A pax record begins with its own length: " size=" and a newline, its digits and two more.
    let value = size.description
    let record = Array("\(value.utf8.count + 9) size=\(value)\n".utf8)
    return header("pax", Int64(record.count), type: "x") + record
      + Self.padding(after: ByteCount(record.count)) + header(name, 0, type: "0")
  }

  /// The padding after the file's bytes.
  var padding: [UInt8] { Self.padding(after: size) }

  private static func padding(after size: ByteCount) -> [UInt8] {
    [UInt8](repeating: 0, count: (block - Int(size) % block) % block)
  }

  private func header(_ name: String, _ size: Int64, type: Character) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: Self.block)
    func put(_ text: String, at offset: Int, _ limit: Int) {
      let bytes = text.utf8.prefix(limit)
      header.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
    func put(_ number: Int64, at offset: Int, digits: Int) {
      let text = String(max(0, number), radix: 8)
      put(String(repeating: "0", count: max(0, digits - text.count)) + text, at: offset, digits)
    }
    put(name, at: 0, 100)
    put(0o600, at: 100, digits: 7)
    put(0, at: 108, digits: 7)
    put(0, at: 116, digits: 7)
    put(size, at: 124, digits: 11)
    put(modified.milliseconds / 1000, at: 136, digits: 11)
    put(String(type), at: 156, 1)
    put("ustar\u{0}00", at: 257, 8)
    put(folder, at: 345, 155)
    // The checksum counts its own field as spaces.
    let sum = header.reduce(Int64(8 * 0x20)) { $0 + Int64($1) }
    put(sum, at: 148, digits: 6)
    header[155] = 0x20
    return header
  }
}
