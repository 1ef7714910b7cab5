#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The set of categories or scenarios that occur, up to a limit; a lookup allocates no memory.
struct CategorySet: Sendable {
  /// Maximum number of names: more would not be a summary.
  private let limit: Int
  private static let slots = 256
  /// Valid lengths of a name.
  private static let lengths = 1...256

  /// The names, in the order of their first record.
  private(set) var names: [[UInt8]] = []
  /// Index of a name plus one, by its hash; 0 for none.
  private var places = [UInt8](repeating: 0, count: slots)
  /// Index of the last name: most records have the same name as the one before.
  private var last = 0

  /// - Parameter limit: maximum number of names, at most 128.
  init(limit: Int = 64) { self.limit = limit }

  private func isName(_ place: Int, _ name: UnsafeRawBufferPointer) -> Bool {
    names[place].withUnsafeBytes { known in
      guard known.count == name.count, let one = known.baseAddress, let other = name.baseAddress
      else { return false }
      return memcmp(one, other, name.count) == 0
    }
  }

  mutating func insert(_ name: UnsafeRawBufferPointer) {
    guard Self.lengths.contains(name.count), names.count < limit else { return }
    if last < names.count, isName(last, name) { return }
    // FNV-1a.
    var hash: UInt32 = 2_166_136_261
    for byte in name { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    var slot = Int(hash & 0xff)
    while places[slot] != 0 {
      last = Int(places[slot]) - 1
      if isName(last, name) { return }
      slot = (slot + 1) & 0xff
    }
    last = names.count
    names.append(Array(name))
    places[slot] = UInt8(names.count)
  }
}
