/// A row of `vendors.json`: tokens of a vendor with a published prefix.
struct VendorToken: Sendable {
  /// The vendor.
  let vendor: String
  /// The kind in the mask.
  let kind: String
  /// Literals with which they begin, or which they contain.
  let anchors: [String]
  /// The following bytes, as the inside of a bracket expression.
  let bytes: String
  /// Minimum number of these.
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

  init(_ row: TableRow) {
    vendor = row.requiredText("vendor")
    kind = row.requiredText("kind")
    anchors = row.requiredTexts("anchors")
    bytes = row.requiredText("bytes")
    least = row.requiredNumber("least")
    most = row.requiredNumber("most")
    source = row.requiredText("source")
    ignoresCase = row.truth("ignoresCase")
    keepsAnchor = row.truth("keepsAnchor")
    isWhole = row.truth("isWhole")
    leastChanges = row.number("leastChanges")
    notAfter = row.text("notAfter")
    before = row.row("before").map { RedactionRule.Step($0) }
  }

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
