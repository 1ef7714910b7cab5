/// A rule, compiled to plain numbers for speed, as it is tried at every anchor.
struct CompiledRule: Sendable {
  /// How it continues after its anchor.
  enum Way: Sendable {
    case steps(Steps)
    case keyBlock
    case cardNumber
    /// Index of an expression.
    case near(Int)
  }

  struct Steps: Sendable {
    let before: Step?
    /// Indexes of the following steps.
    let after: Range<Int>
    let keepsAnchor: Bool
    /// Index of the set of bytes that must not precede the anchor.
    let notAfter: Int?
    let hasWordsBefore: Bool
  }

  struct Step: Sendable {
    /// Index of its byte set; nil for words.
    let set: Int?
    let least: Int
    let most: Int
    let endsBefore: UInt8?
    let isSecret: Bool
    let isWhole: Bool
    /// Index of the set of which it must contain a byte.
    let needs: Int?
    /// Index of the set with whose bytes it must not begin.
    let notFirst: Int?
    let leastChanges: Int
    let hasExceptions: Bool
    /// Whether it takes more than `most` bytes, too, of which the conditions apply to the first.
    let goesOn: Bool
  }
}

/// Compiled rules.
struct CompiledRules: Sendable {
  /// By rule.
  private(set) var ways: [CompiledRule.Way] = []
  /// By rule.
  let kinds: [String]
  private(set) var steps: [CompiledRule.Step] = []
  /// By rule, the bytes that may follow its anchor.
  private var following: [FollowingBytes] = []
  /// By anchor, the bytes that may follow it in any of its rules.
  private var followingAnchors: [FollowingBytes] = []
  /// By step, the words that match or, if it has a set, do not match.
  private(set) var words: [[[UInt8]]] = []
  /// By rule, the words that must not precede its anchor.
  let wordsBefore: [[[UInt8]]]
  /// The longest context before an anchor, in bytes.
  let longestBefore: Int
  /// The engine that they are for.
  let engine: Int
  /// The terminal sequences that are ignored.
  var ignored: TerminalSequences? { engine >= 3 ? .all : engine == 2 ? .colours : nil }
  /// Whether secrets are masked in the categories of records, too.
  var masksCategories: Bool { engine >= 2 }
  private(set) var patterns: [NearPattern] = []
  /// Rules without anchors.
  private(set) var cards: [Int] = []
  let sets: [ByteSet]
  /// By byte, a bit for each set that contains it.
  let members: [UInt64]
  let scanner: AnchorScanner

  /// By expression, the index of its set.
  private let numbers: [String: Int]

  init(_ rules: [RedactionRule], engine: Int) throws(RedactionError) {
    guard rules.count <= RedactionRules.maximumCount else {
      throw RedactionError("there are more than \(RedactionRules.maximumCount) rules")
    }
    self.engine = engine
    var numbers: [String: Int] = [:]
    var sets: [ByteSet] = []
    for expression in Self.expressions(of: rules) {
      let set = ByteSet(expression)
      numbers[expression] = sets.firstIndex(of: set) ?? sets.count
      if numbers[expression] == sets.count { sets.append(set) }
    }
    self.numbers = numbers
    wordsBefore = rules.map { ($0.notAfterWords ?? []).map { Array($0.lowercased().utf8) } }
    longestBefore = rules.reduce(64) { max($0, $1.before?.most ?? 0) }
    guard sets.count <= UInt64.bitWidth else {
      throw RedactionError("the rules have more than \(UInt64.bitWidth) different sets of bytes")
    }
    self.sets = sets
    var members = [UInt64](repeating: 0, count: 256)
    for (number, set) in sets.enumerated() {
      for byte in UInt8.min...UInt8.max where set.contains(byte) {
        members[Int(byte)] |= 1 << UInt64(number)
      }
    }
    self.members = members
    kinds = rules.map(\.kind)
    scanner = AnchorScanner(rules)
    for rule in rules { ways.append(try compile(rule)) }
    let bits = sets.map { FollowingBytes.Bits($0) }
    for way in ways {
      guard case .steps(let way) = way else {
        following.append(.any)
        continue
      }
      following.append(FollowingBytes(steps[way.after], words: words[way.after], sets: bits))
    }
    // Many anchors have the same rules, such as all names of passwords.
    var several: [(rules: [Int], bytes: FollowingBytes)] = []
    for anchor in scanner.anchors {
      if anchor.rules.count == 1 {
        followingAnchors.append(following[anchor.rules[0]])
      } else if let same = several.first(where: { $0.rules == anchor.rules }) {
        followingAnchors.append(same.bytes)
      } else {
        let bytes = FollowingBytes(anchor.rules.map { following[$0] })
        several.append((anchor.rules, bytes))
        followingAnchors.append(bytes)
      }
    }
  }

  /// The distinct sets of bytes of rules, as they are written, in order.
  private static func expressions(of rules: [RedactionRule]) -> [String] {
    var found: Set<String> = []
    func add(_ expression: String?) {
      if let expression { found.insert(expression) }
    }
    func addSets(of step: RedactionRule.Step) {
      add(step.bytes)
      add(step.needs)
      add(step.notFirst)
    }
    for rule in rules {
      add(rule.notAfter)
      if let before = rule.before { addSets(of: before) }
      for step in rule.steps ?? [] { addSets(of: step) }
    }
    return found.sorted()
  }

  /// Finds anchors that begin in a range of a text, except those whose following bytes no rule
  /// matches.
  ///
  /// - Parameter found: called with the rule and the anchor's position.
  @inline(__always)
  func scan(
    _ text: UnsafeRawBufferPointer, _ range: Range<Int>, _ found: (Int, Range<Int>) -> Void
  ) {
    scanner.scan(text, range) { number, place in
      guard followingAnchors[number].mayBegin(at: place.upperBound, in: text) else { return }
      for rule in scanner.anchors[number].rules
      where following[rule].mayBegin(at: place.upperBound, in: text) {
        found(rule, place)
      }
    }
  }

  private mutating func compile(_ rule: RedactionRule) throws(RedactionError) -> CompiledRule.Way {
    try rule.check()
    if rule.form == .cardNumber {
      cards.append(ways.count)
      return .cardNumber
    }
    guard !rule.anchors.isEmpty, !rule.anchors.contains("") else {
      throw RedactionError("a rule of kind '\(rule.kind)' has no anchor")
    }
    if rule.form == .keyBlock { return .keyBlock }
    if let pattern = rule.pattern {
      patterns.append(try NearPattern(pattern))
      return .near(patterns.count - 1)
    }
    var before: CompiledRule.Step?
    if let step = rule.before { before = try compile(step) }
    let first = steps.count
    for step in rule.steps ?? [] {
      steps.append(try compile(step))
      words.append((step.words ?? step.unless ?? []).map { Array($0.lowercased().utf8) })
    }
    return .steps(
      CompiledRule.Steps(
        before: before, after: first..<steps.count, keepsAnchor: rule.keepsAnchor ?? false,
        notAfter: rule.notAfter.flatMap { numbers[$0] },
        hasWordsBefore: rule.notAfterWords?.isEmpty == false))
  }

  private func compile(_ step: RedactionRule.Step) throws(RedactionError) -> CompiledRule.Step {
    let least = step.least ?? 1
    let most = step.most ?? least
    guard (step.bytes == nil) != (step.words == nil), 0 <= least, least <= most else {
      throw RedactionError("a step takes either bytes, \(least) to \(most) of them, or words")
    }
    return CompiledRule.Step(
      set: step.bytes.flatMap { numbers[$0] }, least: least, most: most,
      endsBefore: step.endsBefore?.utf8.first, isSecret: step.isSecret ?? false,
      isWhole: step.isWhole ?? false, needs: step.needs.flatMap { numbers[$0] },
      notFirst: step.notFirst.flatMap { numbers[$0] },
      leastChanges: step.leastChanges ?? 0, hasExceptions: step.unless?.isEmpty == false,
      goesOn: engine >= 3 && step.goesOn ?? false)
  }
}
