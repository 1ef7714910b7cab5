import Platform

/// Alerts in words.
package enum AlertText {
  /// A message in one line.
  package static func line(_ message: AlertNotification) -> String {
    var parts = [
      message.state == .resolved
        ? ["\(message.alert) resolved", subject(message), message.reason].compactMap(\.self)
          .joined(separator: ": ")
        : "\(message.alert): \(subject(message)): \(what(message))"
    ]
    if message.state == .firing, message.count > 1 {
      parts.append("first \(message.since), last \(message.last)")
    }
    if message.otherCount > 0 {
      parts.append("and \(plural(message.otherCount, "other alert"))" + of(message.otherDevices))
    }
    if message.omitted > 0 {
      parts.append("and \(plural(message.omitted, "more message"))" + of(message.omittedDevices))
    }
    if message.state == .firing {
      if let line = message.headline ?? message.lines.last { parts.append(line) }
      if let command = message.command { parts.append(command) }
    }
    return parts.joined(separator: "; ")
  }

  /// Maximum number of devices named with what a message does not show.
  private static let mostNames = 20

  /// ` (of kiosk-1, kiosk-2: 7)`.
  private static func of(_ shares: [AlertNotification.Share]?) -> String {
    guard let shares, !shares.isEmpty else { return "" }
    var names = shares.prefix(mostNames).map { share in
      share.device.name + (share.count > 1 ? ": \(share.count)" : "")
    }
    if shares.count > mostNames { names.append("and others") }
    return " (of \(names.joined(separator: ", ")))"
  }

  private static func subject(_ message: AlertNotification) -> String {
    let place = message.devices > 1 ? "\(message.devices) devices" : message.device.name
    return message.app.map { "\($0) on \(place)" } ?? place
  }

  private static func what(_ message: AlertNotification) -> String {
    if let cause = message.cause {
      guard message.count > 1 else { return cause }
      let version = message.firstVersion.map { " since version \($0)" } ?? ""
      return "\(cause), \(crashes(message.count, on: message.devices))\(version)"
    }
    if let level = message.level { return "\(plural(message.count, "record")), up to \(level)" }
    return "silent since \(message.since)"
  }

  /// `37 crashes on 12 devices`.
  package static func crashes(_ count: Int, on devices: Int) -> String {
    "\(count) \(count == 1 ? "crash" : "crashes") on \(plural(devices, "device"))"
  }

  static func plural(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
