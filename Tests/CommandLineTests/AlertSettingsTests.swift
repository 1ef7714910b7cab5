import ArgumentParser
import Fleet
import Foundation
import Platform
import TestSupport
import Testing

@testable import tidemark

/// The keys of `alerts.yaml`, and the errors for invalid ones.
@Suite(.tags(.medium)) struct AlertSettingsTests {
  private func settings(_ text: String, mode: Int = 0o600) throws -> AlertSettings {
    let path = NSTemporaryDirectory() + "alerts-\(UUID().uuidString).yaml"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return try AlertSettings(path: path)
  }

  private func complaint(_ text: String, mode: Int = 0o600) -> String {
    do {
      _ = try settings(text, mode: mode)
      return "accepted"
    } catch let error as Failure {
      #expect(error.status == .configuration)
      return error.description
    } catch {
      return "\(error)"
    }
  }

  @Test func `the example configuration in the help text is accepted`() throws {
    let help = tidemark.Alert.configuration.discussion
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0 == "alerts:" })
    let end = try #require(lines.firstIndex { $0.hasPrefix("most:") })
    let headers = NSTemporaryDirectory() + "headers-\(UUID().uuidString)"
    try "X: y\n".write(toFile: headers, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: headers)
    defer { try? FileManager.default.removeItem(atPath: headers) }
    let text = lines[start...end].joined(separator: "\n")
      .replacing("/etc/tidemark/headers", with: headers)
    let settings = try settings(text)
    #expect(settings.rules.map(\.name) == ["crashed", "errors", "timeouts", "kiosk-silent"])
    #expect(settings.rules[0].condition == .crash(includesFailures: true))
    #expect(settings.rules[2].scope == .device && settings.rules[3].targets == ["hook"])
    #expect(settings.rules[1].targets == ["mail"] && settings.rules[1].repeatsEvery == .hours(4))
    guard case .webhook(let hook) = settings.targets["hook"] else {
      Issue.record("there is no hook")
      return
    }
    #expect(hook.form == .slack && hook.headers.map(\.name) == ["X"])
    #expect(settings.rules[3].givesUpAfter == .days(7))
    #expect(settings.heartbeat != nil && settings.most == 20)
  }

  private static let start = "alerts:\n- name: a\n  when: "

  @Test(arguments: [
    ("", "there are no 'alerts'"), ("alerts:\n", "there are no 'alerts'"),
    ("alert: x", "unknown key 'alert'; did you mean 'alerts'?"),
    (start + "smoke", "'when' takes crash, level, pattern, rate or silence"),
    (start + "crash\n  level: ERROR", "unknown key 'level'"),
    (start + "level", "lacks its 'level'"), (start + "level\n  level: LOUD", "'LOUD'"),
    (start + "pattern\n  pattern: '('", "'('"),
    (start + "rate\n  pattern: x\n  within: 5m", "lacks its 'more-than'"),
    (start + "rate\n  pattern: x\n  within: 1s\n  more-than: 1", "'1s'"),
    (start + "silence\n  longer-than: 5m\n  per: session", "use 'per: device'"),
    (start + "silence\n  longer-than: 5m\n  category: x", "'category' and 'scenario' are for"),
    (start + "silence\n  longer-than: 2h\n  no-longer-than: 1h", "invalid value '1h'"),
    (start + "crash\n  no-longer-than: 7d", "unknown key 'no-longer-than'"),
    (start + "level\n  level: ERROR\n  per: signature", "'per: signature' is for 'when: crash'"),
    (start + "crash\n  between: 8-20", "'8-20'"), (start + "crash\n  for: soon", "'soon'"),
    (start + "crash\n  then: mail", "tells 'mail', which is not in 'targets'"),
    ("alerts:\n- when: crash", "lacks its 'name'"),
    (start + "crash\n- name: a\n  when: crash", "two alerts are named 'a'"),
    ("alerts:\n- name: 'A b'\n  when: crash", "'A b'"),
    ("targets:\n  m: {command: mail}", "'command' takes a program with its path"),
    ("targets:\n  m: {webhook: 'http://u:secret@h/x'}", "'webhook' takes https://"),
    ("targets:\n  m: {webhook: 'https://h/x', form: xml}", "'xml'"),
    ("targets:\n  m: {}", "has a 'command' or a 'webhook'"),
    ("heartbeat: http://h/secret", "'heartbeat' takes https://"), ("most: 0", "'most' takes"),
    ("alerts: [", "line"),
  ])
  func `an invalid alert setting is reported with its line and no secrets`(
    text: String, complaint: String
  ) {
    let said = self.complaint(text)
    #expect(said.contains(complaint) || (complaint == "line" && said.contains(".yaml:")), "\(said)")
    #expect(!said.contains("secret"))
  }

  @Test func `an alert configuration writable by others is refused`() {
    #expect(complaint(Self.start + "crash", mode: 0o666).contains("others than you may change it"))
    #expect(complaint(Self.start + "crash", mode: 0o644) == "accepted")
  }
}
