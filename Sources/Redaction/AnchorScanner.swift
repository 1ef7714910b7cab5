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
    let rules: [Int]
    /// Whether one of its rules may mask the anchor itself, or what stands before it.
    let isMasked: Bool
  }

  /// An anchor that a pair may belong to, and where in it the pair stands.
  private struct Place: Sendable {
    let anchor: Int
    let length: Int
    let offset: Int
    /// Whether the pair is the first two of its three rarest bytes.
    let isFirst: Bool
    /// The anchor's first bytes, eight at the most, to be compared at once.
    let head: UInt64
    let fold: UInt64
    let mask: UInt64
  }

  /// What may stand beside a pair where it is one of a bucket's, by the lower six bits of the byte:
  /// most pairs are none, which is seen at once.
  private struct Beside {
    var before: UInt64 = 0
    var after: UInt64 = 0

    @inline(__always)
    func allows(_ text: UnsafeRawPointer, _ position: Int) -> Bool {
      let next = after >> UInt64(text.load(fromByteOffset: position + 2, as: UInt8.self) & 63)
      guard position > 0, next & 1 == 0 else { return true }
      let last = text.load(fromByteOffset: position - 1, as: UInt8.self)
      return before >> UInt64(last & 63) & 1 != 0
    }
  }

  private var anchors: [Anchor] = []
  /// By pair: 0, or the bucket with the places that it may be.
  private var table = [UInt8](repeating: 0, count: 1 << 16)
  private var places: [Place] = []
  /// By bucket, where its places begin among all.
  private var firstPlaces: [Int] = []
  /// By bucket.
  private var beside = [Beside](repeating: Beside(), count: 256)
  private var longest = 0

  /// Makes a scanner for the anchors of rules, which are known by their numbers.
  init(_ rules: [RedactionRule]) {
    var pairs: [Int: [Place]] = [:]
    // An anchor of several rules is looked for once.
    var users: [Key: [Int]] = [:]
    for (number, rule) in rules.enumerated() {
      for text in Set(rule.anchors) {
        users[Key(text: text, ignoresCase: rule.ignoresCase ?? false), default: []].append(number)
      }
    }
    for (key, numbers) in users.sorted(by: {
      ($0.value[0], $0.key.text) < ($1.value[0], $1.key.text)
    }
    ) {
      add(
        Array(key.text.utf8), ignoresCase: key.ignoresCase, of: numbers,
        isMasked: numbers.contains {
          rules[$0].steps == nil || rules[$0].keepsAnchor != true || rules[$0].before != nil
        }, to: &pairs)
    }
    fill(pairs)
  }

  /// Enters pairs in the table, those that may be the same places in one bucket.
  private mutating func fill(_ pairs: [Int: [Place]]) {
    var buckets = [[Place]](repeating: [], count: 256)
    var numbers: [[Int]: Int] = [:]
    for (pair, places) in pairs.sorted(by: { $0.key < $1.key }) {
      let key = places.map { $0.anchor * (longest + 2) + $0.offset }
      let known = numbers[key]
      let bucket = known ?? 1 + numbers.count % 255
      if known == nil {
        numbers[key] = bucket
        buckets[bucket] += places
      }
      table[pair] = UInt8(bucket)
    }
    places = buckets.flatMap(\.self)
    firstPlaces = buckets.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.count) }
    for (bucket, places) in buckets.enumerated() {
      for place in places { allow(place, in: &beside[bucket]) }
    }
  }

  private func allow(_ place: Place, in beside: inout Beside) {
    let bytes = anchors[place.anchor].bytes
    func bits(_ at: Int) -> UInt64 {
      guard bytes.indices.contains(at) else { return .max }
      let other = bytes[at] ^ anchors[place.anchor].fold[at]
      return 1 << UInt64(bytes[at] & 63) | 1 << UInt64(other & 63)
    }
    // Of the three bytes an anchor is known by, one is before or after the pair.
    if place.isFirst {
      beside.after |= bits(place.offset + 2)
    } else {
      beside.before |= bits(place.offset - 1)
    }
  }

  private struct Key: Hashable {
    let text: String
    let ignoresCase: Bool
  }

  private mutating func add(
    _ text: [UInt8], ignoresCase: Bool, of rules: [Int], isMasked: Bool,
    to pairs: inout [Int: [Place]]
  ) {
    let lower = ByteSet("a-z")
    let bytes = ignoresCase ? text.map { ByteSet("A-Z").contains($0) ? $0 | 0x20 : $0 } : text
    let fold = bytes.map { ignoresCase && lower.contains($0) ? 0x20 : UInt8(0) }
    anchors.append(Anchor(bytes: bytes, fold: fold, rules: rules, isMasked: isMasked))
    longest = max(longest, bytes.count)
    let first = rarest(bytes)
    register(bytes.count == 1 ? -1 : first, isFirst: true, in: &pairs)
    register(bytes.count == 1 ? 0 : first + 1, isFirst: false, in: &pairs)
  }

  /// Where the three bytes begin that are met least often.
  private func rarest(_ bytes: [UInt8]) -> Int {
    guard bytes.count > 3 else { return 0 }
    func cost(_ at: Int) -> Int {
      Self.frequency(bytes[at], bytes[at + 1]) + Self.frequency(bytes[at + 1], bytes[at + 2])
    }
    return (0...bytes.count - 3).min { cost($0) < cost($1) } ?? 0
  }

  /// Pairs of letters that stand together more often than each of them would let expect.
  private static let commonPairs: Set<[UInt8]> = Set(
    """
    th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le \
    sa si ar ve ra ld ur ke ec ss ro io co me ne ic ac ce ag ap pa ta ma la li di ri se cl om ch pr \
    ed ck sk sh ot lo em us sy ey ut er ow wo ge el id ct no so su mo ra ai oc po op nc il tr
    """.split(separator: " ").map { Array($0.utf8) })

  /// How often two bytes are met together in logs, roughly.
  private static func frequency(_ first: UInt8, _ second: UInt8) -> Int {
    frequency(first) * frequency(second) * (commonPairs.contains([first, second]) ? 4 : 1)
  }

  /// How often a byte is met in logs, roughly.
  private static func frequency(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "0")...UInt8(ascii: "9"): 12
    case UInt8(ascii: "a")...UInt8(ascii: "z"):
      [8, 2, 4, 4, 12, 3, 2, 4, 8, 1, 3, 5, 3, 8, 7, 3, 1, 8, 7, 10, 4, 1, 2, 1, 2, 1][
        Int(byte - UInt8(ascii: "a"))]
    case UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "."): 5
    case UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "["), UInt8(ascii: "]"): 3
    default: 1
    }
  }

  /// Enters the pair at an offset of the anchor added last; what is beside the anchor may be any.
  private mutating func register(
    _ offset: Int, isFirst: Bool, in pairs: inout [Int: [Place]]
  ) {
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
      anchor: number, length: anchor.bytes.count, offset: offset, isFirst: isFirst,
      head: word(anchor.bytes), fold: word(anchor.fold),
      mask: word(anchor.bytes.map { _ in 0xff }))
    for low in values(offset) {
      for high in values(offset + 1) {
        pairs[Int(low) | Int(high) << 8, default: []].append(place)
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
      beside.withUnsafeBufferPointer { beside in
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
            if pairs.0 != 0, beside[Int(pairs.0)].allows(base, position) {
              look(text, position, pairs.0, range, found)
            }
            if pairs.1 != 0, beside[Int(pairs.1)].allows(base, position + 2) {
              look(text, position + 2, pairs.1, range, found)
            }
            if pairs.2 != 0, beside[Int(pairs.2)].allows(base, position + 4) {
              look(text, position + 4, pairs.2, range, found)
            }
            if pairs.3 != 0, beside[Int(pairs.3)].allows(base, position + 6) {
              look(text, position + 6, pairs.3, range, found)
            }
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
        for rule in anchors[places[index].anchor].rules { found(rule, start, length) }
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

  /// Where the text ends in the beginning of an anchor that may be masked; its end where it does not.
  func openEnd(of text: UnsafeRawBufferPointer) -> Int {
    for length in stride(from: min(longest - 1, text.count), to: 0, by: -1) {
      let start = text.count - length
      let isBegun = anchors.contains { anchor in
        anchor.isMasked && length < anchor.bytes.count
          && (0..<length).allSatisfy {
            text[start + $0] | anchor.fold[$0] == anchor.bytes[$0]
          }
      }
      if isBegun { return start }
    }
    return text.count
  }
}
