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

  /// The distinct anchors of rules, in the order of the rules; rules are identified by index.
  static func all(of rules: [RedactionRule]) -> [Anchor] {
    var found: [(text: String, ignoresCase: Bool, rules: [Int])] = []
    // By text, the index of the anchor that minds case, and of the one that ignores it.
    var minding: [String: Int] = [:]
    var ignoring: [String: Int] = [:]
    for (number, rule) in rules.enumerated() {
      let ignoresCase = rule.ignoresCase ?? false
      for text in rule.anchors.count < 2 ? rule.anchors : rule.anchors.sorted() {
        if let known = ignoresCase ? ignoring[text] : minding[text] {
          if found[known].rules.last != number { found[known].rules.append(number) }
        } else {
          if ignoresCase { ignoring[text] = found.count } else { minding[text] = found.count }
          found.append((text, ignoresCase, [number]))
        }
      }
    }
    return found.map { Anchor($0.text, ignoresCase: $0.ignoresCase, of: $0.rules, rules) }
  }

  /// Whether its first `length` bytes are at a position.
  func matches(in text: UnsafeRawBufferPointer, at start: Int, length: Int) -> Bool {
    (0..<length).allSatisfy { text[start + $0] | fold[$0] == bytes[$0] }
  }

  /// Passes on the pairs of bytes possible at an offset, low byte first; beside the anchor any byte
  /// is possible.
  func forEachPair(at offset: Int, _ body: (UInt16) -> Void) {
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
}
