import Foundation

/// What is to be masked, found by an anchor: a literal that stands at or near every secret of a kind.
public struct RedactionRule: Sendable, Hashable, Codable {
  /// One stretch of a secret or of its surroundings, in the order in which they stand.
  public struct Step: Sendable, Hashable, Codable {
    /// What it consists of, as the inside of a bracket expression: `A-Za-z0-9`, `^"'`.
    public var bytes: String?
    /// Instead: words, of which it is one; letters stand for both cases.
    public var words: [String]?
    /// How many bytes it takes at the least, 1 by default.
    public var least: Int?
    /// How many bytes it takes at the most, as many as ``least`` by default.
    public var most: Int?
    /// It ends before the last of this byte that it could take.
    public var endsBefore: String?
    /// Whether it is masked; not by default.
    public var isSecret: Bool?
    /// Whether the bytes after it must be others; by default it may be a part of a longer run.
    public var isWhole: Bool?
    /// A set of bytes, written as ``bytes`` is, of which it must have one at least.
    public var needs: String?
    /// A set of bytes, written as ``bytes`` is, with none of which it may begin.
    public var notFirst: String?
    /// How often its neighbours change between digits, lower and upper case, at the least.
    ///
    /// Random text changes often, words hardly do; from upper to lower case counts as none.
    public var leastChanges: Int?
    /// Words that it may not be, in lower case; letters stand for both cases.
    public var unless: [String]?
  }

  /// Rules that are no row of steps.
  public enum Form: String, Sendable, Hashable, Codable {
    /// A private key's header line and what follows it, over several lines.
    case keyBlock = "key-block"
    /// A card number: digits, perhaps in groups, with the right check digit. It needs no anchor.
    case cardNumber = "card-number"
  }

  /// What the mask says: `a-z`, `0-9` and `-`, 24 bytes at most.
  public let kind: String
  /// The literals; at least one, except for card numbers.
  public var anchors: [String] = []
  /// Whether letters of the anchors stand for both cases; not by default.
  public var ignoresCase: Bool?
  /// Whether the anchor is left as it is; it is masked by default.
  public var keepsAnchor: Bool?
  /// What stands before the anchor.
  public var before: Step?
  /// A set of bytes, written as ``Step/bytes`` is: the anchor counts after none of them.
  public var notAfter: String?
  /// Words, in lower case, directly after which the anchor does not count; letters stand for both
  /// cases.
  public var notAfterWords: [String]?
  /// What follows the anchor.
  public var steps: [Step]?
  /// What it is instead of steps.
  public var form: Form?
  /// A regular expression that sees the bytes of a line around the anchor; its first group is what
  /// is masked, or all of it where it has none.
  public var pattern: String?

  /// Longest kind, in bytes.
  static let longestKind = 24
  /// Length of a literal in own rules, in bytes.
  static let nearLength = 3...64
  /// Longest expression, in bytes.
  static let longestPattern = 1024

  init(kind: String, anchors: [String], steps: [Step]) {
    self.kind = kind
    self.anchors = anchors
    self.steps = steps
  }

  /// A rule of one's own.
  ///
  /// - Parameters:
  ///   - kind: what the mask says.
  ///   - near: a literal of 3 to 64 bytes, in its own case: the expression is tried around it only.
  ///   - pattern: the expression.
  /// - Throws: ``RedactionError`` for one that cannot be used.
  public init(kind: String, near: String, pattern: String) throws(RedactionError) {
    self.kind = kind
    anchors = [near]
    self.pattern = pattern
    _ = try CompiledRules([self], engine: 1)
  }

  /// Throws unless it can be used.
  func check() throws(RedactionError) {
    let allowed = ByteSet("a-z0-9-")
    guard (1...Self.longestKind).contains(kind.utf8.count), kind.utf8.allSatisfy(allowed.contains)
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

/// A rule that cannot be used.
public struct RedactionError: Error, Sendable, CustomStringConvertible {
  /// What is wrong with it.
  public let description: String

  init(_ description: String) { self.description = description }
}
