import Fleet
import Foundation
import Platform
import Yams

extension AlertSettings {
  static func target(_ section: Section) throws -> AlertTarget {
    try section.check(["command", "webhook", "form", "header-file"])
    if let command = try section.texts("command") {
      guard let program = command.first, program.contains("/") else {
        throw ConfigurationError(
          section.node,
          "'command' takes a program with its path, and arguments: [/usr/bin/mail, ops]")
      }
      return .command(command)
    }
    guard let (url, node) = try section.text("webhook") else {
      throw ConfigurationError(section.node, "a target has a 'command' or a 'webhook'")
    }
    guard var webhook = Webhook(url) else {
      // The URL may be a secret.
      throw ConfigurationError(node, "'webhook' takes https://…, or http:// to this machine")
    }
    webhook.form = try section.value("form", Webhook.Form.init(rawValue:)) ?? .json
    if let (path, node) = try section.text("header-file") {
      webhook.headers = try headers(path, node)
    }
    return .webhook(webhook)
  }

  private static func headers(_ path: String, _ node: Node) throws -> [Webhook.Header] {
    guard let file = try ConfigurationFile(path) else {
      throw ConfigurationError(node, "there is no \(path)")
    }
    guard file.isPrivate else {
      throw ConfigurationError(node, "others may read \(path); run 'chmod 600 \(path)'")
    }
    guard let headers = Webhook.headers(file.text) else {
      throw ConfigurationError(node, "\(path) takes header fields, 'Name: value' a line")
    }
    return headers
  }
}
