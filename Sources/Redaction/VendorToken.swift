/// A row of `vendors.json`: the tokens of a vendor that begin in a way which he publishes.
struct VendorToken: Sendable, Decodable {
  /// Whose tokens they are.
  let vendor: String
  /// What the mask says.
  let kind: String
  /// What they begin with, or have in them.
  let anchors: [String]
  /// What follows, as the inside of a bracket expression.
  let bytes: String
  /// How many of these follow.
  let least: Int
  let most: Int
  /// Where the form is published.
  let source: String
  /// As in ``RedactionRule`` and its steps.
  let ignoresCase: Bool?
  let keepsAnchor: Bool?
  let isWhole: Bool?
  let leastChanges: Int?
  let notAfter: String?
  let before: RedactionRule.Step?

  /// The rule that finds them.
  var rule: RedactionRule {
    let step = RedactionRule.Step(
      bytes: bytes, least: least, most: most, isSecret: true, isWhole: isWhole,
      leastChanges: leastChanges)
    var rule = RedactionRule(kind: kind, anchors: anchors, steps: [step])
    rule.ignoresCase = ignoresCase
    rule.keepsAnchor = keepsAnchor
    rule.notAfter = notAfter
    rule.before = before
    return rule
  }
}
