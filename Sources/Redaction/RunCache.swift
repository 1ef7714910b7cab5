/// Ends of runs of bytes of one set: each run is scanned once, however many anchors it contains.
struct RunCache {
  /// Empty until the first run is cached: short texts have none.
  private var known: [Range<Int>] = []
  private var next = 0
  private let sets: Int
  private let members: [UInt64]

  /// Number of cached runs per set: more than a rule has steps with the same set.
  private static let slots = 4
  /// Runs shorter than this are scanned again, in bytes.
  private static let shortest = 16

  /// - Parameters:
  ///   - sets: number of sets, at most 64.
  ///   - members: by byte, a bit for each set that contains it.
  init(sets: Int, members: [UInt64]) {
    self.sets = sets
    self.members = members
  }

  /// End of the run that begins at, or contains, a position.
  mutating func end(of set: Int, from start: Int, in text: UnsafeRawBufferPointer) -> Int {
    let end = members.withUnsafeBufferPointer { members in
      let near = min(text.count, start + Self.shortest)
      var end = start
      while end < near, members[Int(text[end])] >> UInt64(set) & 1 != 0 { end += 1 }
      return end
    }
    return end - start < Self.shortest ? end : farEnd(of: set, from: start, in: text)
  }

  private mutating func farEnd(of set: Int, from start: Int, in text: UnsafeRawBufferPointer) -> Int
  {
    if known.isEmpty { known = Array(repeating: 0..<0, count: sets * Self.slots) }
    for slot in set * Self.slots..<(set + 1) * Self.slots where known[slot].contains(start) {
      return known[slot].upperBound
    }
    var end = start
    while end < text.count, members[Int(text[end])] >> UInt64(set) & 1 != 0 { end += 1 }
    known[set * Self.slots + next % Self.slots] = start..<end
    next += 1
    return end
  }
}
