#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The categories that occur, so many at most; looking one up allocates nothing.
struct CategorySet: Sendable {
  /// More than so many different words are no longer a summary.
  private static let limit = 64
  private static let slots = 256
  /// Longer ones are no names.
  private static let lengths = 1...256

  /// In the order of their first record.
  private(set) var names: [[UInt8]] = []
  /// One more than the place of a name, by its hash; 0 where there is none.
  private var places = [UInt8](repeating: 0, count: slots)

  private static func isEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer)
    -> Bool
  {
    guard let first = one.baseAddress, let second = other.baseAddress else { return false }
    return memcmp(first, second, one.count) == 0
  }

  mutating func insert(_ name: UnsafeRawBufferPointer) {
    guard Self.lengths.contains(name.count), names.count < Self.limit else { return }
    // FNV-1a.
    var hash: UInt32 = 2_166_136_261
    for byte in name { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    var slot = Int(hash & 0xff)
    while places[slot] != 0 {
      let known = names[Int(places[slot]) - 1]
      if known.count == name.count, known.withUnsafeBytes({ Self.isEqual($0, name) }) { return }
      slot = (slot + 1) & 0xff
    }
    names.append(Array(name))
    places[slot] = UInt8(names.count)
  }
}
