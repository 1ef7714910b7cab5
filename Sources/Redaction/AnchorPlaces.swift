/// Chooses by which two pairs of its bytes each anchor is identified: pairs that are rare in logs,
/// or have to be searched anyway.
struct AnchorPlaces {
  /// The pairs possible at each offset of each anchor, one after the other, and how frequent each
  /// is.
  private var pairs: [UInt16] = []
  private var frequencies: [Int] = []
  /// By offset of an anchor, the index of its first pair.
  private var firstPairs = [0]
  /// By anchor, the index of its first offset; an anchor of one byte has none.
  private var firstOffsets = [0]
  /// By pair, how many anchors are identified by it.
  private var uses = [Int32](repeating: 0, count: 1 << 16)

  /// How often the choice is made again, with what is known of the other anchors.
  private static let rounds = 3

  private init(_ anchors: [Anchor]) {
    for anchor in anchors {
      if anchor.bytes.count > 1 {
        for offset in 0...max(1, anchor.bytes.count - 2) {
          anchor.forEachPair(at: offset) {
            pairs.append($0)
            frequencies.append(PairFrequency.of($0))
          }
          firstPairs.append(pairs.count)
        }
      }
      firstOffsets.append(firstPairs.count - 1)
    }
  }

  /// For each anchor, the position of the first of the two pairs; -1 for an anchor of one byte.
  static func choose(for anchors: [Anchor]) -> [Int] {
    var search = AnchorPlaces(anchors)
    var places = [Int](repeating: -1, count: anchors.count)
    for _ in 0..<rounds {
      for number in places.indices { search.choose(&places[number], number) }
    }
    return places
  }

  private mutating func choose(_ place: inout Int, _ number: Int) {
    let offsets = firstOffsets[number]..<firstOffsets[number + 1]
    guard !offsets.isEmpty else { return }
    if place >= 0 { use(offsets.lowerBound + place, -1) }
    var least = Int.max
    var cost = cost(offsets.lowerBound)
    for offset in offsets.dropLast() {
      let next = self.cost(offset + 1)
      if cost + next < least { (least, place) = (cost + next, offset - offsets.lowerBound) }
      cost = next
    }
    use(offsets.lowerBound + place, 1)
  }

  private mutating func use(_ offset: Int, _ count: Int32) {
    for index in firstPairs[offset]..<firstPairs[offset + 2] { uses[Int(pairs[index])] += count }
  }

  /// The cost of searching for the pairs at an offset.
  private func cost(_ offset: Int) -> Int {
    var cost = 0
    for index in firstPairs[offset]..<firstPairs[offset + 1] {
      // Each anchor of a pair is compared, which costs less than checking the pair.
      cost += frequencies[index] * (uses[Int(pairs[index])] == 0 ? 10 : 1)
    }
    return cost
  }
}
