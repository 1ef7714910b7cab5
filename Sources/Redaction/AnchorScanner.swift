/// Finds all anchors of all rules in one scan.
///
/// Every anchor is identified by three of its bytes. At any occurrence, either the first two or the
/// last two of them are at an even distance from the scan's start: so checking every second pair of
/// bytes, in one table, finds it.
struct AnchorScanner: Sendable {
  /// An anchor that a pair may belong to, and the pair's position in it.
  private struct Place: Sendable {
    let anchor: Int
    let length: Int
    let offset: Int
    /// Whether the pair is the first two of its three bytes.
    let isFirst: Bool
    /// The anchor's first bytes, at most eight, for comparison at once.
    let head: UInt64
    let fold: UInt64
    let mask: UInt64

    init(_ anchor: Anchor, _ number: Int, offset: Int, isFirst: Bool) {
      func word(_ bytes: [UInt8]) -> UInt64 {
        var word: UInt64 = 0
        for index in (0..<min(8, bytes.count)).reversed() {
          word = word << 8 | UInt64(bytes[index])
        }
        return word
      }
      self.anchor = number
      self.offset = offset
      self.isFirst = isFirst
      length = anchor.bytes.count
      head = word(anchor.bytes)
      fold = word(anchor.fold)
      mask = length < 8 ? (UInt64(1) << UInt64(8 * length)) - 1 : UInt64.max
    }
  }

  /// The bytes possible beside a pair of a bucket, by their lower six bits: this quickly rules out
  /// most pairs.
  private struct Beside {
    var before: UInt64 = 0
    var after: UInt64 = 0
  }

  /// The anchors, by index.
  let anchors: [Anchor]
  /// By pair: 0, or its bucket of places.
  private var table = [UInt8](repeating: 0, count: 1 << 16)
  private var places: [Place] = []
  /// By bucket, the index of its first place.
  private var firstPlaces: [Int] = []
  /// By bucket.
  private var beside = [Beside](repeating: Beside(), count: 256)
  private let longest: Int

  /// Makes a scanner for the anchors of rules, which are identified by index.
  init(_ rules: [RedactionRule]) {
    anchors = Anchor.all(of: rules)
    longest = anchors.reduce(0) { max($0, $1.bytes.count) }
    var places: [Place] = []
    // Pairs and the indexes of their places, in one number each to be sorted fast.
    var pairs: [Int] = []
    for (number, first) in AnchorPlaces.choose(for: anchors).enumerated() {
      for offset in [first, first + 1] {
        anchors[number].forEachPair(at: offset) { pairs.append(Int($0) << 32 | places.count) }
        places.append(Place(anchors[number], number, offset: offset, isFirst: offset == first))
      }
    }
    pairs.sort()
    fill(pairs, places)
  }

  /// Fills the table; pairs with the same places share a bucket.
  ///
  /// - Parameters:
  ///   - pairs: each pair of each place in order, above the place's index.
  ///   - all: the places.
  private mutating func fill(_ pairs: [Int], _ all: [Place]) {
    var buckets = [[Int]](repeating: [], count: 256)
    // By first place, the lists of places that have a bucket.
    var known = [[(places: Range<Int>, bucket: Int)]](repeating: [], count: all.count)
    var count = 0
    func place(_ index: Int) -> Int { pairs[index] & 0xffff_ffff }
    var start = 0
    while start < pairs.count {
      let pair = pairs[start] >> 32
      var end = start + 1
      while end < pairs.count, pairs[end] >> 32 == pair { end += 1 }
      let first = place(start)
      let same = known[first].first { other in
        other.places.count == end - start
          && (start..<end).allSatisfy { place($0) == place($0 - start + other.places.lowerBound) }
      }
      let bucket = same?.bucket ?? 1 + count % 255
      if same == nil {
        known[first].append((start..<end, bucket))
        count += 1
        for index in start..<end { buckets[bucket].append(place(index)) }
      }
      table[pair] = UInt8(bucket)
      start = end
    }
    firstPlaces = [0]
    for (bucket, indexes) in buckets.enumerated() {
      for index in indexes {
        places.append(all[index])
        allow(all[index], in: &beside[bucket])
      }
      firstPlaces.append(places.count)
    }
  }

  private func allow(_ place: Place, in beside: inout Beside) {
    let anchor = anchors[place.anchor]
    func bits(_ at: Int) -> UInt64 {
      guard anchor.bytes.indices.contains(at) else { return .max }
      let other = anchor.bytes[at] ^ anchor.fold[at]
      return 1 << UInt64(anchor.bytes[at] & 63) | 1 << UInt64(other & 63)
    }
    // One of the three identifying bytes is before or after the pair.
    if place.isFirst {
      beside.after |= bits(place.offset + 2)
    } else {
      beside.before |= bits(place.offset - 1)
    }
  }

  /// Reports every anchor that begins in a range and is entirely in the text, roughly in order.
  ///
  /// - Parameter found: called with the anchor's index and its range.
  func scan(
    _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ found: (Int, Range<Int>) -> Void
  ) {
    guard let base = text.baseAddress, !anchors.isEmpty else { return }
    let end = min(text.count - 1, range.upperBound + longest)
    var position = range.lowerBound
    // Blocks need a byte before and after them.
    if position == 0, position < end {
      report(text, position, bucket(base, position), range, found)
      position += 2
    }
    while position <= end - 8 {
      let (place, isFound) = next(base, position, end - 8)
      position = place
      guard isFound else { break }
      report(text, position, bucket(base, position), range, found)
      position += 2
    }
    while position < end {
      report(text, position, bucket(base, position), range, found)
      position += 2
    }
    // An anchor of one byte at the text's end has nothing beside it.
    if position == text.count - 1, position < range.upperBound + longest {
      report(text, position, table[Int(text[position])], range, found)
    }
  }

  /// Finds the next pair that may identify an anchor, in blocks of eight bytes.
  ///
  /// - Parameter last: the last possible start of a block.
  /// - Returns: its position; if there is none, the start of the first block not searched.
  private func next(
    _ base: UnsafeRawPointer, _ position: Int, _ last: Int
  ) -> (place: Int, isFound: Bool) {
    var block = filled(base, position, last)
    while block <= last {
      if let pair = pair(base, inBlock: block) { return (pair, true) }
      block = filled(base, block + 8, last)
    }
    return (block, false)
  }

  /// The next block with a pair in the table; the end of the last block if there is none.
  ///
  /// Most of a scan's time is spent here: it is a separate function so that it compiles to a few
  /// instructions.
  @inline(never)
  private func filled(_ base: UnsafeRawPointer, _ position: Int, _ last: Int) -> Int {
    var block = position
    while block <= last {
      let any =
        bucket(base, block) | bucket(base, block &+ 2) | bucket(base, block &+ 4)
        | bucket(base, block &+ 6)
      if any != 0 { return block }
      block &+= 8
    }
    return block
  }

  /// The first pair of a block that is in the table, with a byte beside it as in an anchor.
  @inline(__always)
  private func pair(_ base: UnsafeRawPointer, inBlock block: Int) -> Int? {
    beside.withUnsafeBufferPointer { beside in
      for number in 0..<4 {
        let place = block &+ 2 &* number
        let bucket = bucket(base, place)
        guard bucket != 0 else { continue }
        let last = base.load(fromByteOffset: place &- 1, as: UInt8.self)
        let next = base.load(fromByteOffset: place &+ 2, as: UInt8.self)
        let known = beside[Int(bucket)]
        if (known.before &>> UInt64(last) | known.after &>> UInt64(next)) & 1 != 0 { return place }
      }
      return nil
    }
  }

  @inline(__always)
  private func bucket(_ base: UnsafeRawPointer, _ position: Int) -> UInt8 {
    let pair = base.loadUnaligned(fromByteOffset: position, as: UInt16.self)
    return table.withUnsafeBufferPointer { $0[Int(UInt16(littleEndian: pair))] }
  }

  /// Reports the anchors that a pair at a position belongs to.
  private func report(
    _ text: UnsafeRawBufferPointer, _ position: Int, _ bucket: UInt8, _ range: Range<Int>,
    _ found: (Int, Range<Int>) -> Void
  ) {
    places.withUnsafeBufferPointer { places in
      for index in firstPlaces[Int(bucket)]..<firstPlaces[Int(bucket) + 1] {
        let start = position - places[index].offset
        let length = places[index].length
        guard range.contains(start), start + length <= text.count else { continue }
        let isShown = start + 8 <= text.count
        if isShown {
          let word = UInt64(
            littleEndian: text.loadUnaligned(fromByteOffset: start, as: UInt64.self))
          guard (word | places[index].fold) & places[index].mask == places[index].head else {
            continue
          }
        }
        let anchor = places[index].anchor
        guard
          isShown && length <= 8 || anchors[anchor].matches(in: text, at: start, length: length)
        else { continue }
        found(anchor, start..<start + length)
      }
    }
  }

  /// Position at which the text ends with the start of an anchor that may be masked; the text's end
  /// if it does not.
  func openEnd(of text: UnsafeRawBufferPointer) -> Int {
    for length in stride(from: min(longest - 1, text.count), to: 0, by: -1) {
      let start = text.count - length
      let isBegun = anchors.contains {
        $0.isMasked && length < $0.bytes.count && $0.matches(in: text, at: start, length: length)
      }
      if isBegun { return start }
    }
    return text.count
  }
}
