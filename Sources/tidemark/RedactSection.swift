import LogRecords
import Redaction
import Yams

/// Reads `redact:`, groups of built-in rules to switch on and off, and custom rules.
enum RedactSection {
  static func read(_ node: Node) throws -> RedactionRules {
    if node.scalar?.string.isEmpty == true { return RedactionRules() }
    guard case .mapping(let mapping) = node else {
      throw ConfigurationError(node, "'redact' takes indented 'key: value' lines: 'email: true'")
    }
    var groups = Set(BuiltInRules.all.filter(\.isOnByDefault).map(\.group))
    let known = BuiltInRules.all.filter { $0.isAlwaysOn != true }.map(\.group)
    var own: [RedactionRule] = []
    for (key, value) in mapping {
      let name = key.string ?? "?"
      if name == "rules" {
        own = try ownRules(value)
        continue
      }
      guard known.contains(name) else {
        throw ConfigurationError.unknown(key, name, of: known + ["rules"])
      }
      guard let text = value.scalar?.string, let isOn = Settings.flag(text) else {
        throw ConfigurationError(value, "'redact.\(name)' takes true or false")
      }
      if isOn { groups.insert(name) } else { groups.remove(name) }
    }
    return RedactionRules(groups: groups, own: own)
  }

  /// A list of `kind`, `near` and `pattern`.
  private static func ownRules(_ node: Node) throws -> [RedactionRule] {
    if node.scalar?.string.isEmpty == true { return [] }
    guard case .sequence(let entries) = node else {
      throw ConfigurationError(node, "'rules' takes a list: '- kind: …', 'near: …', 'pattern: …'")
    }
    let rules = try entries.map(ownRule)
    guard rules.count <= 100 else {
      throw ConfigurationError(node, "'rules' takes 100 at the most")
    }
    return rules
  }

  private static let ruleKeys = ["kind", "near", "pattern"]

  private static func ownRule(_ entry: Node) throws -> RedactionRule {
    guard case .mapping(let mapping) = entry else {
      throw ConfigurationError(entry, "an entry of 'rules' takes 'kind', 'near' and 'pattern'")
    }
    var values: [String: String] = [:]
    for (key, value) in mapping {
      let name = key.string ?? "?"
      guard ruleKeys.contains(name) else {
        throw ConfigurationError.unknown(key, name, of: ruleKeys)
      }
      guard let text = value.scalar?.string else {
        throw ConfigurationError(value, "'\(name)' takes one value")
      }
      values[name] = text
    }
    guard let kind = values["kind"], let near = values["near"], let pattern = values["pattern"]
    else {
      let missing = ruleKeys.filter { values[$0] == nil }.map { "'\($0)'" }
      throw ConfigurationError(
        entry, "an entry of 'rules' lacks \(missing.joined(separator: " and "))")
    }
    do {
      return try RedactionRule(kind: kind, near: near, pattern: pattern)
    } catch {
      throw ConfigurationError(entry, String(printable: "\(error)".utf8))
    }
  }
}
