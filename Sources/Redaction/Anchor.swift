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
    func values(_ at: Int) -> [UInt8] {
      guard bytes.indices.contains(at) else { return Array(0...255) }
      return fold[at] == 0 ? [bytes[at]] : [bytes[at], bytes[at] & ~0x20]
    }
    let high = values(offset + 1)
    return values(offset).flatMap { low in high.map { UInt16(low) | UInt16($0) << 8 } }
  }

  /// For each anchor, the position of the first of the two pairs of bytes that identify it: pairs
  /// that are rare in logs, or have to be searched anyway.
  static func places(of anchors: [Anchor]) -> [Int] {
    /// At each candidate position, its pairs and their frequency.
    let choices = anchors.map { anchor in
      anchor.bytes.count == 1
        ? [[]]
        : (0...max(0, anchor.bytes.count - 3)).map { place in
          (anchor.pairs(at: place) + anchor.pairs(at: place + 1)).map { ($0, PairFrequency.of($0)) }
        }
    }
    var places = [Int?](repeating: nil, count: anchors.count)
    var uses = [Int](repeating: 0, count: 1 << 16)
    func cost(_ pairs: [(UInt16, Int)]) -> Int {
      // Each anchor of a pair is compared, which costs less than checking the pair.
      pairs.reduce(0) { $0 + $1.1 * (uses[Int($1.0)] == 0 ? 10 : 1) }
    }
    for _ in 0..<3 {
      for (number, choice) in choices.enumerated() {
        if let place = places[number] { for pair in choice[place] { uses[Int(pair.0)] -= 1 } }
        let costs = choice.map(cost)
        let best = costs.indices.min { costs[$0] < costs[$1] } ?? 0
        places[number] = best
        for pair in choice[best] { uses[Int(pair.0)] += 1 }
      }
    }
    return zip(anchors, places).map { $0.bytes.count == 1 ? -1 : $1 ?? 0 }
  }
}
