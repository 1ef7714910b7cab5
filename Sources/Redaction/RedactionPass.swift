import LogRecords

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One pass over a text with all rules, which collects every match.
///
/// Each anchor is judged separately, by at most ``reach`` bytes either side of it, and the matches
/// are joined: so the result for a range does not depend on where the pass begins or ends.
struct RedactionPass {
  /// A range and the index of the rule that matched it.
  struct Match {
    var range: Range<Int>
    let rule: Int
  }

  /// How far from an anchor its rule can read and mask, in bytes.
  static let reach = 32_768

  let rules: CompiledRules
  let text: UnsafeRawBufferPointer
  /// Stream offset of the text's first byte.
  let offset: Int64
  /// Whether lines begin with the recorder's prefixes.
  let hasPrefixes: Bool
  /// Maps the text's bytes to the text it was made from; nil for the text itself.
  let bare: BareText?

  /// The matches; adjacent matches of one rule are joined.
  private(set) var matches: [Match] = []
  /// By rule, the index of its newest match; empty until there is a match.
  private var newest: [Int] = []
  private var runs: RunCache
  /// By rule, the range in which its expression was tried last; empty until one is tried.
  private var tried: [Range<Int>] = []
  var block = KeyBlock()

  init(
    _ rules: CompiledRules, _ text: UnsafeRawBufferPointer, at offset: Int64,
    _ format: LogFormat, of bare: BareText? = nil
  ) {
    self.rules = rules
    self.bare = bare
    self.text = text
    self.offset = offset
    hasPrefixes = format == .lines
    runs = RunCache(sets: rules.sets.count, members: rules.members)
  }

  /// Finds anchors in a range of the text.
  mutating func scan(in range: Range<Int>) {
    rules.scan(text, range) { rule, anchor in
      switch rules.ways[rule] {
      case .steps(let steps): apply(steps, rule, anchor)
      case .keyBlock: keyBlock(at: anchor.lowerBound, anchor.count, rule)
      case .near(let pattern): tryPattern(rules.patterns[pattern], rule, at: anchor.lowerBound)
      case .cardNumber: break
      }
    }
    closeBlock()
    for rule in rules.cards { findCards(in: range, rule) }
  }

  mutating func add(_ range: Range<Int>, _ rule: Int) {
    guard !range.isEmpty else { return }
    if newest.isEmpty { newest = Array(repeating: -1, count: rules.ways.count) }
    let index = newest[rule]
    if index >= 0, matches[index].range.lowerBound <= range.lowerBound,
      range.lowerBound <= matches[index].range.upperBound
    {
      let end = max(matches[index].range.upperBound, range.upperBound)
      matches[index].range = matches[index].range.lowerBound..<end
    } else {
      newest[rule] = matches.count
      matches.append(Match(range: range, rule: rule))
    }
  }

  // MARK: Steps

  mutating func apply(_ steps: CompiledRule.Steps, _ rule: Int, _ anchor: Range<Int>) {
    guard mayBegin(steps, rule, at: anchor.lowerBound) else { return }
    var start = anchor.lowerBound
    if let before = steps.before {
      guard let first = self.start(of: before, endingAt: start) else { return }
      start = before.isSecret ? first : start
    }
    // Most anchors do not match: compute the ranges to mask only for those that do.
    guard follow(steps.after, rule, anchor, marking: false) else { return }
    if !steps.keepsAnchor { add(start..<anchor.upperBound, rule) }
    _ = follow(steps.after, rule, anchor, marking: true)
  }

  private mutating func follow(
    _ steps: Range<Int>, _ rule: Int, _ anchor: Range<Int>, marking: Bool
  ) -> Bool {
    var position = anchor.upperBound
    let limit = limit(from: anchor.lowerBound)
    guard position <= limit else { return false }
    for index in steps {
      guard let end = end(of: index, from: position, limit) else { return false }
      if marking, rules.steps[index].isSecret { add(position..<end, rule) }
      // Nothing after it is within reach.
      if rules.steps[index].goesOn, end == limit { return true }
      position = end
    }
    return true
  }

  /// The first byte that an anchor's rule may mask under any following text.
  mutating func firstSecret(of rule: Int, _ anchor: Range<Int>) -> Int {
    guard case .steps(let steps) = rules.ways[rule] else { return anchor.lowerBound }
    if let before = steps.before {
      return farthestStart(of: before, endingAt: anchor.lowerBound)
    }
    guard steps.keepsAnchor else { return anchor.lowerBound }
    var position = anchor.upperBound
    let limit = limit(from: anchor.lowerBound)
    for index in steps.after {
      let step = rules.steps[index]
      if step.isSecret { return position }
      guard let end = end(of: index, from: position, limit) else {
        // The following text may make it match.
        let run = step.set.map { runs.end(of: $0, from: position, in: text) }
        return run == text.count && text.count <= position + step.most ? text.count : position
      }
      position = end
    }
    return position
  }

  /// The last possible end of the bytes that an anchor affects; may be beyond the text.
  func limit(from anchor: Int) -> Int {
    bare?.limit(from: anchor) ?? anchor + Self.reach
  }

  /// The earliest position before an anchor on which it can depend.
  func earliest(before anchor: Int) -> Int { bare?.earliest(before: anchor) ?? 0 }

  /// Whether an anchor counts after the preceding bytes.
  private func mayBegin(_ steps: CompiledRule.Steps, _ rule: Int, at start: Int) -> Bool {
    guard steps.notAfter != nil || steps.hasWordsBefore else { return true }
    let earliest = earliest(before: start)
    if let set = steps.notAfter, start > earliest, rules.sets[set].contains(text[start - 1]) {
      return false
    }
    return !rules.wordsBefore[rule].contains { word in
      word.count <= start - earliest && isWord(word, at: start - word.count, start)
    }
  }

  /// End of a step that begins at a position; nil if it does not match.
  mutating func end(of index: Int, from start: Int, _ limit: Int) -> Int? {
    guard start <= limit else { return nil }
    let step = rules.steps[index]
    guard let set = step.set else {
      return rules.words[index].first { isWord($0, at: start, limit) }.map {
        start + $0.count
      }
    }
    let run = runs.end(of: set, from: start, in: text)
    var end = min(run, limit, step.goesOn ? .max : start + step.most)
    // A run that continues beyond the limit has no known end.
    guard !step.isWhole || (end == run && end < limit) else { return nil }
    if let byte = step.endsBefore, !step.goesOn || end < limit {
      while end > start, text[end - 1] != byte { end -= 1 }
      guard end > start else { return nil }
      end -= 1
    }
    let judged = start..<min(end, start + step.most)
    guard judged.count >= step.least, fits(judged, index) else { return nil }
    return end
  }

  /// Whether a run meets the step's conditions other than its length.
  private func fits(_ run: Range<Int>, _ index: Int) -> Bool {
    let step = rules.steps[index]
    if let set = step.notFirst, !run.isEmpty, rules.sets[set].contains(text[run.lowerBound]) {
      return false
    }
    if let set = step.needs, !text[run].contains(where: rules.sets[set].contains) { return false }
    if step.leastChanges > 0, changes(in: run, atMost: step.leastChanges) < step.leastChanges {
      return false
    }
    guard step.hasExceptions else { return true }
    return !rules.words[index].contains {
      $0.count == run.count && isWord($0, at: run.lowerBound, run.upperBound)
    }
  }

  /// How often adjacent bytes change between digits, lower and upper case, up to a maximum.
  private func changes(in run: Range<Int>, atMost limit: Int) -> Int {
    func kind(_ byte: UInt8) -> Int {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): 1
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): 2
      case UInt8(ascii: "0")...UInt8(ascii: "9"): 3
      default: 0
      }
    }
    var changes = 0
    var last = 0
    for byte in text[run] {
      let next = kind(byte)
      if last != 0, next != 0, last != next, (last, next) != (2, 1) {
        changes += 1
        if changes == limit { break }
      }
      last = next
    }
    return changes
  }

  private func isWord(_ word: [UInt8], at start: Int, _ limit: Int) -> Bool {
    start + word.count <= min(limit, text.count)
      && word.indices.allSatisfy { Self.isLetter(text[start + $0], word[$0]) }
  }

  /// Whether a byte equals a word's letter in either case.
  static func isLetter(_ byte: UInt8, _ word: UInt8) -> Bool {
    byte | (word & 0x60 == 0x60 ? 0x20 : 0) == word
  }

  private func start(of step: CompiledRule.Step, endingAt end: Int) -> Int? {
    let start = farthestStart(of: step, endingAt: end)
    return end - start >= step.least ? start : nil
  }

  /// The earliest start of a step that ends at a position, ignoring its minimum length.
  func farthestStart(of step: CompiledRule.Step, endingAt end: Int) -> Int {
    guard let set = step.set else { return end }
    var start = end
    let limit = max(earliest(before: end), end - step.most)
    while start > limit, rules.sets[set].contains(text[start - 1]) { start -= 1 }
    return start
  }

  // MARK: Own expressions

  private mutating func tryPattern(_ pattern: NearPattern, _ rule: Int, at position: Int) {
    if tried.isEmpty { tried = Array(repeating: 0..<0, count: rules.ways.count) }
    guard !tried[rule].contains(position), RedactionMark.end(around: position, in: text) == nil
    else { return }
    let cell = Int((offset + Int64(position)) / Int64(NearPattern.cell))
    let start = cell * NearPattern.cell - Int(offset)
    let end = start + NearPattern.cell
    let lower = max(
      lineStart(of: position, notBefore: start - NearPattern.margin) ?? start - NearPattern.margin,
      0)
    let upper = lineEnd(of: position, notAfter: end + NearPattern.margin)
    let prefix = prefix(ofLineAt: lower)
    var content = min(upper, prefix.end)..<upper
    if rules.masksCategories, prefix.category.contains(position) {
      content = prefix.category.clamped(to: lower..<upper)
    }
    // Every other literal in the same cell and line has the same result.
    tried[rule] = position..<max(position + 1, min(end, content.upperBound))
    let window = UnsafeRawBufferPointer(rebasing: text[content])
    for match in pattern.matches(in: window) {
      add(content.lowerBound + match.lowerBound..<content.lowerBound + match.upperBound, rule)
    }
  }

  // MARK: Lines

  /// Start of a position's line; nil if it is before a limit.
  func lineStart(of position: Int, notBefore limit: Int) -> Int? {
    var start = position
    let limit = max(limit, 0)
    while start > limit {
      if text[start - 1] == 0x0a { return start }
      start -= 1
    }
    return start == 0 || (start > 0 && text[start - 1] == 0x0a) ? start : nil
  }

  /// End of a position's line, or a limit that comes first.
  func lineEnd(of position: Int, notAfter limit: Int) -> Int {
    let limit = min(limit, text.count)
    guard position < limit, let base = text.baseAddress,
      let found = memchr(base + position, 0x0a, limit - position)
    else { return max(position, limit) }
    return UnsafeRawPointer(found) - base
  }

  /// The recorder's prefix of a line that begins at a position: the range of its category, and its
  /// end; both empty without one.
  func prefix(ofLineAt start: Int) -> (category: Range<Int>, end: Int) {
    guard hasPrefixes, start == 0 || text[start - 1] == 0x0a else { return (start..<start, start) }
    let end = min(text.count, start + Self.longestPrefix)
    let line = UnsafeRawBufferPointer(rebasing: text[start..<end])
    guard let prefix = RecordPrefix.parse(line) else { return (start..<start, start) }
    let category = prefix.category
    return (
      start + category.lowerBound..<start + category.upperBound, start + prefix.capturedLength
    )
  }

  /// Maximum length of a prefix, in bytes.
  static let longestPrefix = 1024
}
