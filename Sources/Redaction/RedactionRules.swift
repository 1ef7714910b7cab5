import Foundation

/// A complete set of rules, in order: where two find the same byte, the first gives the kind.
public struct RedactionRules: Sendable, Hashable, Codable {
  /// The rules.
  public let rules: [RedactionRule]

  /// How many rules there may be.
  package static let maximumCount = 200

  /// Makes a set.
  public init(_ rules: [RedactionRule]) { self.rules = rules }

  /// Built-in rules and one's own.
  ///
  /// - Parameters:
  ///   - groups: names of ``BuiltInRules``; those that are on by default for nil.
  ///   - own: come after them.
  public init(groups: Set<String>? = nil, own: [RedactionRule] = []) {
    guard groups != nil || !own.isEmpty else {
      self = Self.standard
      return
    }
    self.init(builtIn: groups, own)
  }

  /// The built-in rules that are on by default: one array, so that comparing it with itself is cheap.
  private static let standard = RedactionRules(builtIn: nil, [])

  private init(builtIn groups: Set<String>?, _ own: [RedactionRule]) {
    let chosen = BuiltInRules.all.filter { groups?.contains($0.group) ?? $0.isOnByDefault }
    rules = chosen.flatMap(\.rules) + own
  }

  /// The JSON that a set has however it was put together, ending in a newline.
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
public struct BuiltInRules: Sendable, Codable {
  /// Its name in the configuration.
  public let group: String
  /// What it finds, for a person.
  public let summary: String
  /// Whether it is on where the configuration does not say.
  public let isOnByDefault: Bool
  /// Where the form of these secrets is known from.
  public let source: String
  /// The rules.
  public let rules: [RedactionRule]

  /// All groups, in the order of their rules.
  public static let all: [BuiltInRules] = {
    do {
      return try JSONDecoder().decode(
        [BuiltInRules].self, from: Data(PackageResources.rules_json))
    } catch {
      preconditionFailure("rules.json, which is part of the program: \(error)")
    }
  }()
}
