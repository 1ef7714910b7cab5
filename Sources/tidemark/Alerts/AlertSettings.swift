import Fleet
import Foundation
import LogRecords
import Platform
import SessionLog
import Yams

/// `alerts.yaml`: rules, targets, and the heartbeat.
struct AlertSettings {
  private(set) var rules: [AlertRule] = []
  private(set) var targets: [String: AlertTarget] = [:]
  /// Requested after each successful pass.
  private(set) var heartbeat: Webhook?
  /// Maximum number of messages per target and pass.
  private(set) var most = 20

  /// Reads the file.
  ///
  /// - Throws: ``Failure`` for a file that is missing or invalid, or that other users may change:
  ///   it names commands.
  init(path: String) throws {
    guard let file = try ConfigurationFile(path) else {
      throw Failure(
        .configuration,
        "there is no \(path); 'tidemark help alert' has an example")
    }
    guard file.isOursAlone else {
      throw Failure(
        .configuration,
        "\(path) names commands, and others than you may change it; run 'chmod go-w \(path)', and "
          + "make it yours")
    }
    try ConfigurationError.locating(in: path) {
      guard let root = try Yams.compose(yaml: file.text, .basic) else {
        throw Failure(.configuration, "\(path): there are no 'alerts'")
      }
      try read(Section(root, "alerts.yaml"))
    }
  }

  private mutating func read(_ root: Section) throws {
    try root.check(["alerts", "targets", "defaults", "heartbeat", "most"])
    for (name, section) in try root.sections("targets") {
      targets[name] = try AlertSettings.target(section)
    }
    let defaults = try root.section("defaults")
    try defaults?.check(["then", "repeat", "keep", "group", "for", "resolve", "per", "between"])
    if let node = try root.text("heartbeat") {
      guard let webhook = Webhook(node.text) else {
        throw ConfigurationError(node.node, "'heartbeat' takes https://…")
      }
      heartbeat = webhook
    }
    if let node = try root.text("most") {
      guard let most = Int(node.text), (1...1000).contains(most) else {
        throw ConfigurationError(node.node, "'most' takes a number from 1 to 1000")
      }
      self.most = most
    }
    for section in try root.list("alerts") {
      let rule = try AlertSettings.rule(section, defaults, targets: Set(targets.keys))
      guard !rules.contains(where: { $0.name == rule.name }) else {
        throw ConfigurationError(section.node, "two alerts are named '\(rule.name)'")
      }
      rules.append(rule)
    }
    guard !rules.isEmpty else { throw ConfigurationError(root.node, "there are no 'alerts'") }
  }

  /// The rule with a name.
  func rule(_ name: String) throws -> AlertRule {
    guard let rule = rules.first(where: { $0.name == name }) else {
      let names = rules.map(\.name).joined(separator: ", ")
      throw Failure(.usage, "no alert '\(String(printable: name.utf8))'; there are: \(names)")
    }
    return rule
  }
}
