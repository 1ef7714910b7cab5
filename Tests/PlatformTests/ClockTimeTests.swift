import Foundation
import TestSupport
import Testing

@testable import Platform

/// Arithmetic with times and durations does not trap on any value from a server or a file.
@Suite(.tags(.small)) struct ClockTimeTests {
  @Test(
    arguments: [
      // Later, earlier, their difference.
      (5000, 3000, 2000), (3000, 5000, -2000), (0, 0, 0),
      (.max, .min, .max), (.min, .max, .min), (0, .min, .max), (-1, .min, .max),
      (.min, 1, .min), (.max, -1, .max), (.max, .max, 0),
    ] as [(Int64, Int64, Int64)])
  func `time differences saturate`(later: Int64, earlier: Int64, difference: Int64) {
    let expected = Duration.milliseconds(difference)
    #expect(Timestamp(milliseconds: later) - Timestamp(milliseconds: earlier) == expected)
    #expect(ServerTime(milliseconds: later) - ServerTime(milliseconds: earlier) == expected)
    #expect(
      ServerTime(milliseconds: later).offset(from: Timestamp(milliseconds: earlier)) == expected)
  }

  @Test(
    arguments: [
      (1000, .seconds(2), 3000, -1000), (1000, .microseconds(1999), 1001, 999),
      (0, .microseconds(-1999), -1, 1), (0, .zero, 0, 0),
      (.max, .milliseconds(1), .max, .max - 1), (.min, .milliseconds(1), .min + 1, .min),
      (.min, .milliseconds(-1), .min, .min + 1), (0, .seconds(Int64.max), .max, -.max),
      (0, .seconds(Int64.min), .min, .max), (.max, .seconds(Int64.max), .max, 0),
    ] as [(Int64, Duration, Int64, Int64)])
  func `sums of a time and a duration saturate`(
    time: Int64, span: Duration, sum: Int64, difference: Int64
  ) {
    #expect((Timestamp(milliseconds: time) + span).milliseconds == sum)
    #expect((Timestamp(milliseconds: time) - span).milliseconds == difference)
    #expect(Timestamp(milliseconds: time).asServer(offset: span).milliseconds == sum)
    #expect(ServerTime(milliseconds: time).asLocal(offset: span).milliseconds == difference)
  }

  @Test(
    arguments: [
      (.zero, 0, 0), (.milliseconds(1999), 1999, 1), (.milliseconds(-1999), -1999, -1),
      (.microseconds(-1), 0, 0), (.nanoseconds(1_999_999), 1, 0), (.days(1), 86_400_000, 86_400),
      (.hours(-2), -7_200_000, -7200), (.seconds(Int64.max), .max, .max),
      (.seconds(Int64.min), .min, .min), (.milliseconds(Int64.min), .min, Int64.min / 1000),
    ] as [(Duration, Int64, Int64)])
  func `durations are truncated to whole units`(
    span: Duration, milliseconds: Int64, seconds: Int64
  ) {
    #expect(span.milliseconds == milliseconds)
    #expect(span.seconds == seconds)
    #expect(span.inWholeSeconds == .seconds(seconds))
  }

  /// State files do not depend on whose clock a time is by.
  @Test func `a server's time is written like any other`() throws {
    let time = ServerTime(milliseconds: 1_769_092_205_123)
    let json = try JSONEncoder().encode([time])
    #expect(String(decoding: json, as: UTF8.self) == #"["2026-01-22T14:30:05.123Z"]"#)
    #expect(try JSONDecoder().decode([ServerTime].self, from: json) == [time])
    #expect(time.day == "2026-01-22")
  }

  @Test(arguments: [0, 1, -1, 3_600_000, -3_600_000] as [Int64])
  func `converting to the server's clock and back gives the same time`(offset: Int64) {
    let local = Timestamp(milliseconds: 1_769_092_205_123)
    let server = local.asServer(offset: .milliseconds(offset))
    #expect(server.offset(from: local) == .milliseconds(offset))
    #expect(server.asLocal(offset: .milliseconds(offset)) == local)
    #expect(local.assumingSynchronizedClocks.assumingSynchronizedClocks == local)
  }
}
