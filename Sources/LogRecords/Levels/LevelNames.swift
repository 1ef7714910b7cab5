/// A table of words and their levels, in any case; fast enough to look up every word of a log.
struct LevelNames: Sendable {
  private static let slots = 128
  /// The words as numbers, each at its hash's slot or after it; 0 for an empty slot.
  private var words = [UInt64](repeating: 0, count: slots)
  private var levels = [Level](repeating: .info, count: slots)

  /// Makes a table.
  ///
  /// - Parameter names: in capitals, of 3 to 8 letters, far fewer than there are slots.
  init(_ names: [(name: String, level: Level)]) {
    for (name, level) in names {
      let word = Array(name.utf8).withUnsafeBytes { Self.word($0) }
      var slot = Self.slot(word)
      while words[slot] != 0 { slot = (slot + 1) % Self.slots }
      words[slot] = word
      levels[slot] = level
    }
  }

  subscript(_ bytes: UnsafeRawBufferPointer) -> Level? {
    guard (3...8).contains(bytes.count) else { return nil }
    let word = Self.word(bytes)
    guard word != 0 else { return nil }
    var slot = Self.slot(word)
    while words[slot] != word {
      if words[slot] == 0 { return nil }
      slot = (slot + 1) % Self.slots
    }
    return levels[slot]
  }

  /// Up to eight bytes as one number, letters folded to upper case.
  private static func word(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var word: UInt64 = 0
    for byte in bytes {
      word = word << 8 | UInt64((0x61...0x7a).contains(byte) ? byte - 0x20 : byte)
    }
    return word
  }

  /// By multiplication with the golden ratio (Knuth).
  private static func slot(_ word: UInt64) -> Int {
    Int(truncatingIfNeeded: (word &* 0x9e37_79b9_7f4a_7c15) >> 57)
  }
}
