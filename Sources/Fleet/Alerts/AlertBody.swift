import Foundation

/// The body of a message.
enum AlertBody {
  /// The message as one JSON object, keys sorted.
  static func json(_ message: AlertNotification) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(message)) + [0x0a]
  }

  /// A request's body, and the header fields that belong to it.
  static func of(
    _ message: AlertNotification, _ form: Webhook.Form
  ) throws -> (headers: [(name: String, value: String)], body: [UInt8]) {
    switch form {
    case .json: return ([("Content-Type", "application/json")], try json(message))
    case .slack:
      let text = try JSONEncoder().encode(["text": slack(message)])
      return ([("Content-Type", "application/json")], Array(text))
    case .text: return ([plain], Array(text(message).utf8))
    case .ntfy:
      // Put no text from the store into a header: only the rule's name is ours.
      let title = "\(message.alert)\(message.state == .resolved ? " resolved" : "")"
      let tags = message.state == .resolved ? "white_check_mark" : "rotating_light"
      return ([plain, ("Title", title), ("Tags", tags)], Array(text(message).utf8))
    }
  }

  private static let plain = (name: "Content-Type", value: "text/plain; charset=utf-8")

  private static func text(_ message: AlertNotification) -> String {
    // The text already has the last line, or a crash's headline.
    let lines = message.headline == nil ? message.lines.dropLast() : message.lines[...]
    return ([message.text] + lines).joined(separator: "\n") + "\n"
  }

  /// The message as code, in which no service looks for mentions, links or emphasis.
  ///
  /// Slack's markup has three special characters; within code, the backquote is one, too.
  private static func slack(_ message: AlertNotification) -> String {
    let text = ([message.text] + message.lines).joined(separator: "\n")
      .replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("`", with: "'")
    return "```\n\(text)\n```"
  }
}
