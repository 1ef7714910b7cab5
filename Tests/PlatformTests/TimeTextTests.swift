import Foundation
import TestSupport
import Testing

@testable import Platform

/// Times as people write them, in their zones.
@Suite(.tags(.small)) struct TimeTextTests {
  private func zone(_ name: String) throws -> LocalZone {
    LocalZone(try #require(TimeZone(identifier: name)))
  }

  private func time(
    _ text: String, now: String = "2026-11-22T17:02:03.500Z", in zone: String = "Europe/Berlin",
    as bound: TimeText.Bound = .start
  ) throws -> String? {
    let now = try #require(Timestamp(iso: now))
    return TimeText.parse(text, now: now, zone: try self.zone(zone), as: bound)?.description
  }

  @Test(
    arguments: [
      ("now", "2026-11-22T17:02:03.500Z"), ("today", "2026-11-21T23:00:00.000Z"),
      ("yesterday", "2026-11-20T23:00:00.000Z"), ("tomorrow", "2026-11-22T23:00:00.000Z"),
      ("yesterday 18:30", "2026-11-21T17:30:00.000Z"), ("10:00", "2026-11-22T09:00:00.000Z"),
      ("10:00:05.25", "2026-11-22T09:00:05.250Z"), ("2026-11-22", "2026-11-21T23:00:00.000Z"),
      ("2026-11-22 10:00", "2026-11-22T09:00:00.000Z"),
      ("2026-11-22T10:00", "2026-11-22T09:00:00.000Z"),
      ("2026-11-22 10:00:05", "2026-11-22T09:00:05.000Z"),
      ("2026-11-22T10:00:05.123Z", "2026-11-22T10:00:05.123Z"),
      ("2026-11-22 10:00 UTC", "2026-11-22T10:00:00.000Z"),
      ("2026-11-22 10:00+05:30", "2026-11-22T04:30:00.000Z"),
      ("2026-11-22 10:00 -0800", "2026-11-22T18:00:00.000Z"),
      ("2026-11-22T10:00:05-03", "2026-11-22T13:00:05.000Z"),
      ("today UTC", "2026-11-22T00:00:00.000Z"), ("2h", "2026-11-22T15:02:03.500Z"),
      ("1h30m", "2026-11-22T15:32:03.500Z"), ("-5min", "2026-11-22T16:57:03.500Z"),
      ("+1h", "2026-11-22T18:02:03.500Z"), ("5 min ago", "2026-11-22T16:57:03.500Z"),
      ("@1763802005", "2025-11-22T09:00:05.000Z"), ("2028-02-29", "2028-02-28T23:00:00.000Z"),
    ])
  func `every time form is parsed`(text: String, expected: String) throws {
    #expect(try time(text) == expected)
  }

  @Test(arguments: [
    "", " ", "yore", "90", "2026", "2026-13-01", "2026-02-29", "2026-02-30 10:00", "24:00", "10:60",
    "10", "10:00:60", "10:00:", "2026-11-22 10:00 x", "2026-11-22 2026-11-22", "today tomorrow",
    "now 10:00", "@", "@-1", "@9999999999999", "10:00 2026-11-22", "2026-11-22T", "+", "-", "Z",
    "10:00+15:00", "10:00+1", "1h ago ago", "ago", "٢٠٢٦-11-22",
  ])
  func `invalid times are refused`(text: String) throws { #expect(try time(text) == nil) }

  @Test func `today is the local day`() throws {
    // An hour before midnight UTC it is tomorrow in Berlin and today in New York.
    let late = "2026-11-22T23:30:00.000Z"
    #expect(try time("today", now: late) == "2026-11-22T23:00:00.000Z")
    #expect(try time("today", now: late, in: "America/New_York") == "2026-11-22T05:00:00.000Z")
  }

  /// When clocks are set back, an hour occurs twice: a span includes both.
  @Test(
    arguments: [
      ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"),
      ("Europe/Berlin", "2026-10-25 01:59", "2026-10-24T23:59:00.000Z", "2026-10-24T23:59:00.000Z"),
      ("Europe/Berlin", "2026-10-25 03:00", "2026-10-25T02:00:00.000Z", "2026-10-25T02:00:00.000Z"),
      (
        "America/New_York", "2026-11-01 01:30", "2026-11-01T05:30:00.000Z",
        "2026-11-01T06:30:00.000Z"
      ),
      (
        "America/New_York", "2026-11-01 02:00", "2026-11-01T07:00:00.000Z",
        "2026-11-01T07:00:00.000Z"
      ),
    ])
  func `an hour that occurs twice spans both occurrences`(
    zone: String, text: String, first: String, last: String
  ) throws {
    #expect(try time(text, in: zone, as: .start) == first)
    #expect(try time(text, in: zone, as: .end) == last)
  }

  /// When clocks are set forward, an hour is missing: its times mean the moment of the change.
  @Test(
    arguments: [
      ("Europe/Berlin", "2026-03-29 02:00", "2026-03-29T01:00:00.000Z"),
      ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29T01:00:00.000Z"),
      ("Europe/Berlin", "2026-03-29 03:00", "2026-03-29T01:00:00.000Z"),
      ("Europe/Berlin", "2026-03-29 01:59:59", "2026-03-29T00:59:59.000Z"),
      ("America/New_York", "2026-03-08 02:59:59", "2026-03-08T07:00:00.000Z"),
      // Midnight itself is missing there.
      ("Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z"),
    ])
  func `a skipped hour means the moment of the clock change`(
    zone: String, text: String, expected: String
  ) throws {
    #expect(try time(text, in: zone, as: .start) == expected)
    #expect(try time(text, in: zone, as: .end) == expected)
  }

  /// The written form of any moment, with the offset, parses to that moment.
  @Test func `a written time with offset is parsed back`() throws {
    for name in ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"] {
      let zone = try zone(name)
      for hour in stride(from: 0, to: 24 * 365, by: 1) {
        let time = Timestamp(milliseconds: 1_767_225_600_000 + Int64(hour) * 3_600_000)
        let text = zone.textWithOffset(time)
        #expect(TimeText.parse(text, now: time, zone: zone, as: .start) == time, "\(name) \(text)")
      }
    }
  }

  @Test func `the process uses the system's time zone`() {
    for time in [0, 1_767_225_600_000, 1_782_864_000_000].map(Timestamp.init(milliseconds:)) {
      #expect(LocalZone.current.text(time) == LocalZone(.current).text(time))
    }
  }
}
