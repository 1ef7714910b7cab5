import Foundation

/// A rule that masks secrets, found by an anchor: a literal at or near every secret of a kind.
public struct RedactionRule: Sendable, Hashable, Codable {
  /// One part of a secret or of its surroundings, in order.
  public struct Step: Sendable, Hashable, Codable {
    /// The bytes it consists of, as the inside of a bracket expression: `A-Za-z0-9`, `^"'`.
    public var bytes: String?
    /// Instead of bytes: words, one of which must match, in either case.
    public var words: [String]?
    /// Minimum number of bytes, 1 by default.
    public var least: Int?
    /// Maximum number of bytes, by default ``least``.
    public var most: Int?
    /// Whether it takes a longer run, too, as far as the rule reaches.
    ///
    /// The conditions apply to the first ``most`` bytes. Where the run fills the reach, the rule
    /// matches without its other steps.
    public var goesOn: Bool?
    /// It ends before the last occurrence of this byte within its range.
    public var endsBefore: String?
    /// Whether it is masked; not by default.
    public var isSecret: Bool?
    /// Whether the following byte must not match; by default it may be a part of a longer run.
    public var isWhole: Bool?
    /// A set of bytes, in the notation of ``bytes``, of which it must contain one.
    public var needs: String?
    /// A set of bytes, in the notation of ``bytes``, with none of which it may begin.
    public var notFirst: String?
    /// Minimum number of changes between digits, lower and upper case.
    ///
    /// Random text changes often, words hardly do; a change from upper to lower case does not
    /// count.
    public var leastChanges: Int?
    /// Words that it must not equal, in lower case; compared in either case.
    public var unless: [String]?
  }

  /// Rules that are not a sequence of steps.
  public enum Form: String, Sendable, Hashable, Codable {
    /// A private key's header line and the following lines.
    case keyBlock = "key-block"
    /// A card number: digits, perhaps in groups, with a valid check digit. Needs no anchor.
    case cardNumber = "card-number"
  }

  /// The kind in the mask: `a-z`, `0-9` and `-`, at most 24 bytes.
  public let kind: String
  /// The literals; at least one, except for card numbers.
  public var anchors: [String] = []
  /// Whether the anchors match in either case; not by default.
  public var ignoresCase: Bool?
  /// Whether the anchor stays visible; it is masked by default.
  public var keepsAnchor: Bool?
  /// The text before the anchor.
  public var before: Step?
  /// A set of bytes, in the notation of ``Step/bytes``, that must not precede the anchor.
  public var notAfter: String?
  /// Words, in lower case, that must not directly precede the anchor; compared in either case.
  public var notAfterWords: [String]?
  /// The text after the anchor.
  public var steps: [Step]?
  /// The form of a rule without steps.
  public var form: Form?
  /// A regular expression for the bytes of a line around the anchor; its first group is masked, or
  /// the whole match if it has no group.
  public var pattern: String?

  /// Longest kind, in bytes.
  static let longestKind = 24
  /// Length of a literal in custom rules, in bytes.
  static let nearLength = 3...64
  /// Longest expression, in bytes.
  static let longestPattern = 1024

  init(kind: String, anchors: [String], steps: [Step]) {
    self.kind = kind
    self.anchors = anchors
    self.steps = steps
  }

  /// Makes a custom rule.
  ///
  /// - Parameters:
  ///   - kind: the kind in the mask.
  ///   - near: a literal of 3 to 64 bytes, case-sensitive: the expression is tried only near it.
  ///   - pattern: the expression.
  /// - Throws: ``RedactionError`` for an invalid rule.
  public init(kind: String, near: String, pattern: String) throws(RedactionError) {
    self.kind = kind
    anchors = [near]
    self.pattern = pattern
    _ = try CompiledRules([self], engine: 1)
  }

  /// The bytes of a kind.
  private static let kindBytes = ByteSet("a-z0-9-")

  /// Throws unless the rule is valid.
  func check() throws(RedactionError) {
    guard (1...Self.longestKind).contains(kind.utf8.count),
      kind.utf8.allSatisfy(Self.kindBytes.contains)
    else {
      throw RedactionError("a kind has 1 to \(Self.longestKind) of a-z, 0-9 and '-'")
    }
    guard let pattern else { return }
    guard let near = anchors.first, anchors.count == 1, Self.nearLength ~= near.utf8.count,
      !near.utf8.contains(0x0a)
    else {
      throw RedactionError(
        "'near' takes a literal of \(Self.nearLength.lowerBound) to "
          + "\(Self.nearLength.upperBound) bytes")
    }
    guard (1...Self.longestPattern).contains(pattern.utf8.count) else {
      throw RedactionError("a pattern has 1 to \(Self.longestPattern) bytes")
    }
  }
}

/// An invalid rule.
public struct RedactionError: Error, Sendable, CustomStringConvertible {
  /// The problem with the rule.
  public let description: String

  init(_ description: String) { self.description = description }
}
