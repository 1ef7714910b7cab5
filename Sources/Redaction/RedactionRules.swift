import Foundation

/// A complete set of rules, in order: if two match the same byte, the first determines the kind.
public struct RedactionRules: Sendable, Hashable, Codable {
  /// Nil for the built-in rules that are on by default, whose tables are read at the first use of
  /// ``rules``: a pass with nothing new needs none.
  private let contents: Contents?

  private struct Contents: Hashable, Codable {
    let rules: [RedactionRule]
    let engine: Int?
  }

  /// The rules.
  public var rules: [RedactionRule] { actual.rules }
  /// The engine they are for; nil for the first.
  ///
  /// The result of the same rules depends on the engine, so it is a part of their version.
  public var engine: Int? { actual.engine }

  private var actual: Contents { contents ?? Self.standard }

  /// The newest engine.
  ///
  /// The first does not see through terminal sequences, nor mask the categories of records; the
  /// second ignores colours, except in private keys. The third ignores all sequences, and masks what
  /// is beyond a step's maximum where the step says so. The fourth finds the rest of a private key
  /// after more than three lines of other programs. The fifth tells a key's own headers and footers
  /// from those that other lines mention, and looks past six headers at most. The sixth masks what a key
  /// has in one line with a header or footer.
  static let newestEngine = 6

  /// Maximum number of rules.
  package static let maximumCount = 250

  /// Makes a set for the newest engine.
  public init(_ rules: [RedactionRule]) { self.init(rules, engine: Self.newestEngine) }

  /// Makes a set for an engine.
  package init(_ rules: [RedactionRule], engine: Int?) {
    contents = Contents(rules: rules, engine: engine)
  }

  /// Combines built-in and custom rules.
  ///
  /// - Parameters:
  ///   - groups: names of ``BuiltInRules``; nil for those that are on by default.
  ///   - own: custom rules, which come after them.
  public init(groups: Set<String>? = nil, own: [RedactionRule] = []) {
    guard groups != nil || !own.isEmpty else {
      contents = nil
      return
    }
    contents = Self.builtIn(groups, own)
  }

  private static let standard = builtIn(nil, [])

  private static func builtIn(_ groups: Set<String>?, _ own: [RedactionRule]) -> Contents {
    let chosen = BuiltInRules.all.filter {
      $0.isAlwaysOn == true || groups?.contains($0.group) ?? $0.isOnByDefault
    }
    return Contents(rules: chosen.flatMap(\.rules) + own, engine: newestEngine)
  }

  /// Whether both are the same rules for the same engine.
  public static func == (left: Self, right: Self) -> Bool {
    (left.contents == nil && right.contents == nil) || left.actual == right.actual
  }

  /// Hashes the rules and the engine.
  public func hash(into hasher: inout Hasher) { actual.hash(into: &hasher) }

  /// Reads the rules and the engine.
  public init(from decoder: any Decoder) throws { contents = try Contents(from: decoder) }

  /// Writes the rules and the engine.
  public func encode(to encoder: any Encoder) throws { try actual.encode(to: encoder) }

  /// The canonical JSON of the set, ending in a newline.
  ///
  /// - Throws: `EncodingError`.
  public func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return Array(try encoder.encode(self)) + [0x0a]
  }

  /// Reads the JSON.
  ///
  /// - Throws: `DecodingError`.
  public init(json: [UInt8]) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(json))
  }
}

/// A row of `rules.json`: rules that are switched on and off together.
public struct BuiltInRules: Sendable {
  /// Its name in the configuration.
  public let group: String
  /// The kind of secret that it masks, for display.
  public let summary: String
  /// Whether it is on by default.
  public let isOnByDefault: Bool
  /// Whether no configuration can switch it off; nil if it can.
  public let isAlwaysOn: Bool?
  /// The source for the form of these secrets.
  public let source: String
  /// The rules; those of `vendors` and `pairs` are in tables of their own.
  public private(set) var rules: [RedactionRule]

  private init(_ row: TableRow) {
    group = row.requiredText("group")
    summary = row.requiredText("summary")
    isOnByDefault = row.truth("isOnByDefault") == true
    isAlwaysOn = row.truth("isAlwaysOn")
    source = row.requiredText("source")
    rules = (row.rows("rules") ?? []).map { RedactionRule($0) }
  }

  /// All groups, in the order of their rules.
  public static let all: [BuiltInRules] = {
    var groups = TableValue(PackageResources.rules_json).rows.map { BuiltInRules($0) }
    for index in groups.indices {
      switch groups[index].group {
      case "vendors":
        let vendors = TableValue(PackageResources.vendors_json).rows
        groups[index].rules += vendors.map { VendorToken($0).rule }
      case "pairs":
        if case .row(let row) = TableValue(PackageResources.pairs_json) {
          groups[index].rules += SecretPairs(row).rules
        }
      default: break
      }
    }
    return groups
  }()
}

extension RedactionRule {
  /// Reads a rule of a table.
  fileprivate init(_ row: TableRow) {
    self.init(
      kind: row.requiredText("kind"), anchors: row.requiredTexts("anchors"), steps: [])
    ignoresCase = row.truth("ignoresCase")
    keepsAnchor = row.truth("keepsAnchor")
    before = row.row("before").map { Step($0) }
    notAfter = row.text("notAfter")
    notAfterWords = row.texts("notAfterWords")
    steps = row.rows("steps")?.map { Step($0) }
    form = row.text("form").map { text in
      guard let form = Form(rawValue: text) else { preconditionFailure("unknown form '\(text)'") }
      return form
    }
    pattern = row.text("pattern")
  }
}

extension RedactionRule.Step {
  /// Reads a step of a table.
  init(_ row: TableRow) {
    self.init(
      bytes: row.text("bytes"), words: row.texts("words"), least: row.number("least"),
      most: row.number("most"), goesOn: row.truth("goesOn"), endsBefore: row.text("endsBefore"),
      isSecret: row.truth("isSecret"), isWhole: row.truth("isWhole"), needs: row.text("needs"),
      notFirst: row.text("notFirst"), leastChanges: row.number("leastChanges"),
      unless: row.texts("unless"))
  }
}
