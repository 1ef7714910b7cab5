import Foundation
import Platform
import TestSupport
import Testing

@testable import Fleet

@Suite(.tags(.small)) struct AlertRuleTests {
  @Test(arguments: [
    ("kiosk-*", "kiosk-07", true), ("kiosk-*", "kiosk", false), ("*", "", true), ("", "", true),
    ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-c", false), ("*x", "xyx", true), ("ab", "abc", false),
    ("a*a", "a", false), ("*.app", "my.app", true),
  ])
  func `a pattern matches only a whole name`(pattern: String, name: String, matches: Bool) {
    #expect(NamePattern(pattern).matches(name) == matches)
  }

  /// Hours, a time in 2026, and the beginning of the hours that contain it.
  @Test(arguments: [
    ("08:00-20:00 Europe/Berlin", "01-22T07:00:00Z", "01-22T07:00:00.000Z"),
    ("08:00-20:00 Europe/Berlin", "01-22T06:59:59Z", nil),
    ("08:00-20:00 Europe/Berlin", "07-22T17:59:59Z", "07-22T06:00:00.000Z"),
    ("08:00-20:00 Europe/Berlin", "07-22T18:00:00Z", nil),
    ("22:00-06:00 UTC", "01-22T23:30:00Z", "01-22T22:00:00.000Z"),
    ("22:00-06:00 UTC", "01-22T05:30:30Z", "01-21T22:00:00.000Z"),
    ("22:00-06:00 UTC", "01-22T06:00:00Z", nil),
    ("00:00-24:00 UTC", "01-22T23:59:59Z", "01-22T00:00:00.000Z"),
  ])
  func `alert hours follow their time zone and may cross midnight`(
    hours: String, time: String, beginning: String?
  ) throws {
    let hours = try #require(AlertHours(hours))
    let time = try #require(Timestamp(iso: "2026-\(time)"))
    #expect(hours.beginning(of: time)?.description == beginning.map { "2026-\($0)" })
  }

  @Test(arguments: [
    "", "8-20", "08:00", "08:00-08:00", "24:00-06:00", "08:60-09:00", "08:00-25:00",
    "08:00-20:00 Nowhere/Land", "08:00-20:00 UTC x",
  ])
  func `invalid alert hours are refused`(text: String) {
    #expect(AlertHours(text) == nil)
  }

  @Test(arguments: [
    ("https://hooks.example/secret?x=1", "https://hooks.example"),
    ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080"),
    ("http://localhost/x", "http://localhost"),
    ("http://localhost.evil.example/x", nil), ("http://example/x", nil), ("ftp://x", nil),
    ("https://", nil), ("https://a b", nil),
  ])
  func `a webhook URL is HTTPS or local, and its path is hidden`(url: String, shown: String?) {
    #expect(Webhook(url)?.description == shown)
  }

  @Test func `webhook headers are validated when read`() {
    #expect(
      Webhook.headers("# comment\nAuthorization: Bearer x\n\nX-Y:z\n")?.map(\.value)
        == ["Bearer x", "z"])
    #expect(Webhook.headers("no colon") == nil)
    #expect(Webhook.headers(": x") == nil)
  }
}
