/// How far runs of bytes of one set reach: each is walked once, however many anchors stand in it.
struct RunCache {
  private var known: [Range<Int>]
  private var next = 0
  private let members: [UInt64]

  /// Runs of one set that are remembered: as many as a rule has steps with the same set, and more.
  private static let slots = 4
  /// Shorter runs are walked again, in bytes.
  private static let shortest = 16

  /// - Parameters:
  ///   - sets: how many sets there are, 64 at most.
  ///   - members: by byte, a bit for each set that it is in.
  init(sets: Int, members: [UInt64]) {
    known = Array(repeating: 0..<0, count: sets * Self.slots)
    self.members = members
  }

  /// Where the run ends that begins at, or goes through, a place.
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
