import TestSupport
import Testing

@testable import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.tags(.small)) struct FileTimeTests {
  @Test(
    arguments: [
      (0, 0, 0), (1_769_092_205, 123_456_789, 1_769_092_205_123), (0, 999_999, 0), (-1, 0, -1000),
      (-1, 999_000_000, -1), (-2, 500_000_000, -1500),
    ] as [(Int, Int, Int64)])
  func `a file time converts to timespec and back`(
    seconds: Int, nanoseconds: Int, milliseconds: Int64
  ) {
    let time = FileTime(timespec(tv_sec: seconds, tv_nsec: nanoseconds))
    #expect(time.timestamp.milliseconds == milliseconds)
    #expect(time.timespec.tv_sec == seconds && time.timespec.tv_nsec == nanoseconds)
  }

  @Test(arguments: [Int.max, Int.min, 9_300_000_000, -9_300_000_000])
  func `a file time out of range is clamped`(seconds: Int) {
    let time = FileTime(timespec(tv_sec: seconds, tv_nsec: 999_999_999))
    #expect(abs(time.timestamp.milliseconds) <= 9_000_000_000_999)
    #expect((time < .epoch) == (seconds < 0))
  }

  @Test func `file time differences saturate`() {
    let (first, last) = (FileTime(nanoseconds: .min), FileTime(nanoseconds: .max))
    #expect(last - first > .days(365 * 584))
    #expect(first - Duration.hours(1) == first)
    #expect(last - .nanoseconds(1) == FileTime(nanoseconds: .max - 1))
    #expect(FileTime(Timestamp(milliseconds: .max)) == last)
    #expect(FileTime(Timestamp(milliseconds: .min)) == first)
    #expect(FileTime(Timestamp(milliseconds: 5)).nanoseconds == 5_000_000)
  }
}
