import Fleet
import LogRecords
import Platform
import Yams

extension AlertSettings {
  private static let common = [
    "name", "when", "app", "user", "device", "category", "scenario", "between", "for", "keep",
    "repeat", "group", "per", "then", "resolve",
  ]

  /// Parses a rule; missing keys have the values in `defaults`.
  static func rule(
    _ section: Section, _ defaults: Section?, targets: Set<String>
  ) throws -> AlertRule {
    guard let name = try section.value("name", { AlertRule.isName($0) ? $0 : nil }) else {
      throw ConfigurationError(section.node, "an alert lacks its 'name'")
    }
    var rule = AlertRule(name: name, try condition(section))
    rule.filter.apps = try names(section, "app")
    rule.filter.users = try names(section, "user")
    rule.filter.devices = try names(section, "device")
    rule.filter.categories = try names(section, "category")
    rule.filter.scenarios = try names(section, "scenario")
    func either<Value>(_ key: String, _ read: (String) throws -> Value?) throws -> Value? {
      try section.value(key, read) ?? defaults?.value(key, read)
    }
    rule.hours = try either("between") { AlertHours($0) }
    rule.delay = try either("for", Age.parse) ?? rule.delay
    rule.keep = try either("keep", Age.parse) ?? rule.keep
    rule.repeatsEvery = try either("repeat", Age.parse) ?? rule.repeatsEvery
    rule.group = try either("group", Age.parse) ?? rule.group
    rule.reportsEnd = try either("resolve", Settings.flag) ?? rule.reportsEnd
    if case .silence(let least) = rule.condition {
      rule.givesUpAfter = try section.value("no-longer-than") { text in
        Age.parse(text).flatMap { $0 > least ? $0 : nil }
      }
    }
    rule.scope = try either("per", AlertRule.Scope.init(rawValue:)) ?? rule.scope
    try check(rule, section)
    rule.targets = try section.texts("then") ?? defaults?.texts("then") ?? []
    if let unknown = rule.targets.first(where: { !targets.contains($0) }) {
      throw ConfigurationError(
        section.node,
        "alert '\(name)' tells '\(String(printable: unknown.utf8))', which is not in 'targets'")
    }
    return rule
  }

  private static func names(_ section: Section, _ key: String) throws -> [NamePattern] {
    try section.texts(key)?.map { NamePattern($0) } ?? []
  }

  private static func condition(_ section: Section) throws -> AlertRule.Condition {
    guard let (when, node) = try section.text("when") else {
      throw ConfigurationError(section.node, "an alert lacks its 'when'")
    }
    func needed<Value>(_ value: Value?, _ key: String) throws -> Value {
      guard let value else {
        throw ConfigurationError(section.node, "an alert 'when: \(when)' lacks its '\(key)'")
      }
      return value
    }
    switch when {
    case "crash":
      try section.check(common + ["exit-failed"])
      return .crash(includesFailures: try section.value("exit-failed", Settings.flag) ?? false)
    case "level":
      try section.check(common + ["level"])
      let records = try records(section)
      _ = try needed(records.levels, "level")
      return .records(records)
    case "pattern":
      try section.check(common + ["pattern", "ignore-case", "level"])
      let records = try records(section)
      _ = try needed(records.pattern, "pattern")
      return .records(records)
    case "rate":
      try section.check(common + ["pattern", "ignore-case", "level", "more-than", "within"])
      let limit = try section.value("more-than") { Int($0).flatMap { $0 >= 0 ? $0 : nil } }
      let span = try section.value("within") { text in
        Age.parse(text).flatMap { (.seconds(60)...(.days(1))).contains($0) ? $0 : nil }
      }
      return .rate(
        try records(section), moreThan: try needed(limit, "more-than"),
        within: try needed(span, "within"))
    case "silence":
      try section.check(common + ["longer-than", "no-longer-than"])
      let span = try section.value("longer-than") { text in
        Age.parse(text).flatMap { $0 > .zero ? $0 : nil }
      }
      return .silence(try needed(span, "longer-than"))
    default:
      throw ConfigurationError(node, "'when' takes crash, level, pattern, rate or silence")
    }
  }

  private static func records(_ section: Section) throws -> RecordCondition {
    RecordCondition(
      levels: try section.value("level") { LevelSet($0) },
      pattern: try section.value("pattern") { text in
        _ = try LinePattern(text)
        return text
      }, ignoresCase: try section.value("ignore-case", Settings.flag) ?? false)
  }

  /// Rejects a rule whose keys contradict each other.
  private static func check(_ rule: AlertRule, _ section: Section) throws {
    let isOfRecords = rule.records != nil
    let isOfCrashes = if case .crash = rule.condition { true } else { false }
    if rule.scope == .signature, !isOfCrashes {
      throw ConfigurationError(section.node, "'per: signature' is for 'when: crash'")
    }
    if rule.scope == .session, !isOfCrashes, !isOfRecords {
      throw ConfigurationError(
        section.node, "a session that has ended is silent: use 'per: device'")
    }
    if !isOfRecords, !rule.filter.categories.isEmpty || !rule.filter.scenarios.isEmpty {
      throw ConfigurationError(
        section.node, "'category' and 'scenario' are for 'when: level', 'pattern' and 'rate'")
    }
  }
}
