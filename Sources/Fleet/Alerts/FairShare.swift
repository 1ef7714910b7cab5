/// Shares limited room between devices: the one that has the most of it gives way first.
///
/// A device that has no more than its equal part loses nothing to others, whatever these do.
enum FairShare {
  /// The most that one holder may have, so that all fit; `Int.max` if they do.
  static func level(of sizes: [Int], within limit: Int) -> Int {
    var (room, holders) = (max(0, limit), sizes.count)
    for size in sizes.sorted() {
      // Those that need less than an equal part leave the rest to others.
      guard size <= room / holders else { return room / holders }
      room -= size
      holders -= 1
    }
    return .max
  }

  /// The entries to give up, so that the others fit.
  ///
  /// - Parameters:
  ///   - entries: the entries with their holders and sizes, the least valuable first.
  ///   - limit: the total size that fits.
  static func excess<Key>(
    _ entries: [(key: Key, holder: String, size: Int)], within limit: Int
  ) -> [Key] {
    var sizes: [String: Int] = [:]
    for entry in entries { sizes[entry.holder, default: 0] += entry.size }
    let most = level(of: Array(sizes.values), within: limit)
    var excess: [Key] = []
    for entry in entries {
      guard let size = sizes[entry.holder], size > most else { continue }
      sizes[entry.holder] = size - entry.size
      excess.append(entry.key)
    }
    return excess
  }

  /// The same entries, of which the first of each holder comes before the second of any.
  static func inTurns<Entry>(_ entries: [Entry], of holder: (Entry) -> String) -> [Entry] {
    var turns: [String: Int] = [:]
    let ranked = entries.enumerated().map { index, entry in
      let name = holder(entry)
      let turn = turns[name, default: 0]
      turns[name] = turn + 1
      return (turn: turn, index: index, entry: entry)
    }
    return ranked.sorted { ($0.turn, $0.index) < ($1.turn, $1.index) }.map(\.entry)
  }
}
