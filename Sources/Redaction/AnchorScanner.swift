/// Finds all anchors of all rules in one scan.
///
/// Of every anchor the three bytes are chosen that are rarest in logs. Wherever the anchor stands,
/// either the first two or the last two of them lie at an even distance from the scan's start: so a
/// look at every second pair of bytes, in one table, finds it.
struct AnchorScanner: Sendable {
  private struct Anchor: Sendable {
    /// In lower case where case is ignored.
    let bytes: [UInt8]
    /// Is set in each byte before it is compared.
    let fold: [UInt8]
    let rule: Int
  }

  /// An anchor that a pair may belong to, and where in it the pair stands.
  private struct Place: Sendable {
    let anchor: Int
    let rule: Int
    let length: Int
    let offset: Int
    /// The anchor's first bytes, eight at the most, to be compared at once.
    let head: UInt64
    let fold: UInt64
    let mask: UInt64
  }

  private var anchors: [Anchor] = []
  /// By pair: 0, or the bucket with the places that it may be.
  private var table = [UInt8](repeating: 0, count: 1 << 16)
  private var places: [Place] = []
  /// By bucket, where its places begin among all.
  private var firstPlaces: [Int] = []
  private var longest = 0

  /// Makes a scanner for the anchors of rules, which are known by their numbers.
  init(_ rules: [RedactionRule]) {
    var buckets = [[Place]](repeating: [], count: 256)
    for (number, rule) in rules.enumerated() {
      for text in Set(rule.anchors).sorted() {
        add(Array(text.utf8), ignoresCase: rule.ignoresCase ?? false, of: number, to: &buckets)
      }
    }
    places = buckets.flatMap(\.self)
    firstPlaces = buckets.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
  }

  private mutating func add(
    _ text: [UInt8], ignoresCase: Bool, of rule: Int, to buckets: inout [[Place]]
  ) {
    let lower = ByteSet("a-z")
    let bytes = ignoresCase ? text.map { ByteSet("A-Z").contains($0) ? $0 | 0x20 : $0 } : text
    let fold = bytes.map { ignoresCase && lower.contains($0) ? 0x20 : UInt8(0) }
    anchors.append(Anchor(bytes: bytes, fold: fold, rule: rule))
    longest = max(longest, bytes.count)
    let first = rarest(bytes)
    for offset in bytes.count == 1 ? -1...0 : first...first + 1 { register(offset, in: &buckets) }
  }

  /// Where the three bytes begin that are met least often.
  private func rarest(_ bytes: [UInt8]) -> Int {
    guard bytes.count > 3 else { return 0 }
    func cost(_ at: Int) -> Int {
      let count = bytes[at..<at + 3].map(Self.frequency)
      return (count[0] + count[2]) * count[1]
    }
    return (0...bytes.count - 3).min { cost($0) < cost($1) } ?? 0
  }

  /// How often a byte is met in logs, roughly.
  private static func frequency(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "0")...UInt8(ascii: "9"): 12
    case UInt8(ascii: "a")...UInt8(ascii: "z"):
      [8, 2, 4, 4, 12, 3, 2, 4, 8, 1, 1, 5, 3, 8, 7, 3, 1, 8, 7, 10, 4, 1, 2, 1, 2, 1][
        Int(byte - UInt8(ascii: "a"))]
    case UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "."): 5
    case UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "["), UInt8(ascii: "]"): 3
    default: 1
    }
  }

  /// Enters the pair at an offset of the anchor added last; what is beside the anchor may be any.
  private mutating func register(_ offset: Int, in buckets: inout [[Place]]) {
    let number = anchors.count - 1
    let anchor = anchors[number]
    func values(_ at: Int) -> [UInt8] {
      guard anchor.bytes.indices.contains(at) else { return Array(0...255) }
      let byte = anchor.bytes[at]
      return anchor.fold[at] == 0 ? [byte] : [byte, byte & ~0x20]
    }
    func word(_ bytes: [UInt8]) -> UInt64 {
      bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    let place = Place(
      anchor: number, rule: anchor.rule, length: anchor.bytes.count, offset: offset,
      head: word(anchor.bytes), fold: word(anchor.fold),
      mask: word(anchor.bytes.map { _ in 0xff }))
    for low in values(offset) {
      for high in values(offset + 1) {
        let bucket = 1 + (Int(low) &* 31 &+ Int(high) &* 17) % 255
        table[Int(low) | Int(high) << 8] = UInt8(bucket)
        if buckets[bucket].last?.anchor != number || buckets[bucket].last?.offset != offset {
          buckets[bucket].append(place)
        }
      }
    }
  }

  /// Reports every anchor that begins in a range and stands wholly in the text, roughly in order.
  ///
  /// - Parameter found: gets the rule, where the anchor begins, and its length.
  func scan(
    _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ found: (Int, Int, Int) -> Void
  ) {
    guard let base = text.baseAddress, !anchors.isEmpty else { return }
    let end = min(text.count - 1, range.upperBound + longest)
    table.withUnsafeBufferPointer { table in
      var position = range.lowerBound
      let lastWord = end - 8
      while position <= lastWord {
        let word = UInt64(
          littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        let pairs = (
          table[Int(truncatingIfNeeded: word & 0xffff)],
          table[Int(truncatingIfNeeded: word >> 16 & 0xffff)],
          table[Int(truncatingIfNeeded: word >> 32 & 0xffff)],
          table[Int(truncatingIfNeeded: word >> 48)]
        )
        if pairs.0 | pairs.1 | pairs.2 | pairs.3 != 0 {
          if pairs.0 != 0 { look(text, position, pairs.0, range, found) }
          if pairs.1 != 0 { look(text, position + 2, pairs.1, range, found) }
          if pairs.2 != 0 { look(text, position + 4, pairs.2, range, found) }
          if pairs.3 != 0 { look(text, position + 6, pairs.3, range, found) }
        }
        position &+= 8
      }
      while position < end {
        let bucket = table[Int(text[position]) | Int(text[position + 1]) << 8]
        if bucket != 0 { look(text, position, bucket, range, found) }
        position += 2
      }
      // An anchor of one byte at the text's end has nothing beside it.
      if position == text.count - 1, position < range.upperBound + longest {
        let bucket = table[Int(text[position])]
        if bucket != 0 { look(text, position, bucket, range, found) }
      }
    }
  }

  /// Reports the anchors that a pair at a position belongs to.
  private func look(
    _ text: UnsafeRawBufferPointer, _ position: Int, _ bucket: UInt8, _ range: Range<Int>,
    _ found: (Int, Int, Int) -> Void
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
        let isSure = isShown && length <= 8
        guard isSure || Self.stands(anchors[places[index].anchor], in: text, at: start) else {
          continue
        }
        found(places[index].rule, start, length)
      }
    }
  }

  private static func stands(
    _ anchor: Anchor, in text: UnsafeRawBufferPointer, at start: Int
  ) -> Bool {
    anchor.bytes.indices.allSatisfy {
      text[start + $0] | anchor.fold[$0] == anchor.bytes[$0]
    }
  }

  /// Where the text ends in the beginning of an anchor; its end where it does not.
  func openEnd(of text: UnsafeRawBufferPointer) -> Int {
    for length in stride(from: min(longest - 1, text.count), to: 0, by: -1) {
      let start = text.count - length
      let isBegun = anchors.contains { anchor in
        length < anchor.bytes.count
          && (0..<length).allSatisfy {
            text[start + $0] | anchor.fold[$0] == anchor.bytes[$0]
          }
      }
      if isBegun { return start }
    }
    return text.count
  }
}
