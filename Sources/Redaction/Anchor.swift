/// A literal to search for, and the rules that begin with it.
struct Anchor: Sendable {
  /// The literal, in lower case if case is ignored.
  let bytes: [UInt8]
  /// Bits to set in each byte of a text before comparing.
  let fold: [UInt8]
  let rules: [Int]
  /// Whether one of its rules may mask the anchor itself, or bytes before it.
  let isMasked: Bool

  private init(_ text: String, ignoresCase: Bool, of numbers: [Int], _ rules: [RedactionRule]) {
    let (lower, upper) = (
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z")
    )
    let text = Array(text.utf8)
    bytes = ignoresCase ? text.map { upper.contains($0) ? $0 | 0x20 : $0 } : text
    fold = bytes.map { ignoresCase && lower.contains($0) ? 0x20 : UInt8(0) }
    self.rules = numbers
    isMasked = numbers.contains {
      rules[$0].steps == nil || rules[$0].keepsAnchor != true || rules[$0].before != nil
    }
  }

  private struct Key: Hashable {
    let text: String
    let ignoresCase: Bool
  }

  /// The distinct anchors of rules; rules are identified by index.
  static func all(of rules: [RedactionRule]) -> [Anchor] {
    var users: [Key: [Int]] = [:]
    for (number, rule) in rules.enumerated() {
      for text in Set(rule.anchors) {
        users[Key(text: text, ignoresCase: rule.ignoresCase ?? false), default: []].append(number)
      }
    }
    return users.sorted { ($0.value[0], $0.key.text) < ($1.value[0], $1.key.text) }.map {
      Anchor($0.key.text, ignoresCase: $0.key.ignoresCase, of: $0.value, rules)
    }
  }

  /// Whether its first `length` bytes are at a position.
  func matches(in text: UnsafeRawBufferPointer, at start: Int, length: Int) -> Bool {
    (0..<length).allSatisfy { text[start + $0] | fold[$0] == bytes[$0] }
  }

  /// The pairs of bytes possible at an offset, low byte first; beside the anchor any byte is
  /// possible.
  func pairs(at offset: Int) -> [UInt16] {
    var pairs: [UInt16] = []
    forEachPair(at: offset) { pairs.append($0) }
    return pairs
  }

  private func forEachPair(at offset: Int, _ body: (UInt16) -> Void) {
    forEachByte(at: offset) { low in
      forEachByte(at: offset + 1) { high in body(UInt16(low) | UInt16(high) << 8) }
    }
  }

  private func forEachByte(at offset: Int, _ body: (UInt8) -> Void) {
    guard bytes.indices.contains(offset) else {
      for byte in UInt8.min...UInt8.max { body(byte) }
      return
    }
    body(bytes[offset])
    if fold[offset] != 0 { body(bytes[offset] & ~0x20) }
  }

  /// For each anchor, the position of the first of the two pairs of bytes that identify it: pairs
  /// that are rare in logs, or have to be searched anyway.
  static func places(of anchors: [Anchor]) -> [Int] {
    var places = [Int?](repeating: nil, count: anchors.count)
    var uses = [Int](repeating: 0, count: 1 << 16)
    func use(_ anchor: Anchor, at place: Int, _ count: Int) {
      for offset in [place, place + 1] {
        anchor.forEachPair(at: offset) { uses[Int($0)] += count }
      }
    }
    /// The cost of searching for the pairs at an offset.
    func cost(_ anchor: Anchor, at offset: Int) -> Int {
      var cost = 0
      // Each anchor of a pair is compared, which costs less than checking the pair.
      anchor.forEachPair(at: offset) {
        cost += PairFrequency.of($0) * (uses[Int($0)] == 0 ? 10 : 1)
      }
      return cost
    }
    for _ in 0..<3 {
      for (number, anchor) in anchors.enumerated() where anchor.bytes.count > 1 {
        if let place = places[number] { use(anchor, at: place, -1) }
        let costs = (0...max(1, anchor.bytes.count - 2)).map { cost(anchor, at: $0) }
        let best = zip(costs, costs.dropFirst()).map { $0 + $1 }.enumerated()
          .min { $0.element < $1.element }
        places[number] = best?.offset
        if let place = best?.offset { use(anchor, at: place, 1) }
      }
    }
    return zip(anchors, places).map { $0.bytes.count == 1 ? -1 : $1 ?? 0 }
  }
}
