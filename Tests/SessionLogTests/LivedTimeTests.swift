import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.small)) struct LivedTimeTests {
  private static let hour: Int64 = 3600
  private static let day: Int64 = 86_400
  /// 2026-01-22T14:30:05Z in seconds.
  private static let start: Int64 = 1_769_092_205

  private static func reading(
    _ boot: String, up uptime: Int64, wall: Int64
  ) -> LivedTime.Reading {
    .init(
      boot: boot, uptime: uptime * 1000, wall: Timestamp(milliseconds: (start + wall) * 1000))
  }

  private static func date(_ wall: Int64) -> Timestamp {
    Timestamp(milliseconds: (start + wall) * 1000)
  }

  private static func server(_ wall: Int64) -> ServerTime {
    ServerTime(milliseconds: (start + wall) * 1000)
  }

  /// The clocks after a first reading at boot `a`, uptime 100 s, wall 0.
  struct Step: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let readings: [(boot: String, uptime: Int64, wall: Int64)]
    let lived: Int64
  }

  @Test(arguments: [
    Step(testDescription: "no time", readings: [("a", 100, 0)], lived: 0),
    Step(testDescription: "boot time counts", readings: [("a", 160, 60)], lived: 60),
    Step(
      testDescription: "the wall clock jumps ahead", readings: [("a", 160, 40 * day)], lived: 60),
    Step(
      testDescription: "and back again", readings: [("a", 160, 40 * day), ("a", 220, 120)],
      lived: 120),
    Step(
      testDescription: "the wall clock runs backwards", readings: [("a", 160, -40 * day)], lived: 60
    ),
    Step(testDescription: "a boot after a night", readings: [("b", 5, 8 * hour)], lived: 8 * hour),
    Step(testDescription: "a boot after a week", readings: [("b", 5, 7 * day)], lived: day),
    Step(testDescription: "a boot in the past", readings: [("b", 5, -7 * day)], lived: 0),
    Step(
      testDescription: "a boot without a clock, set later",
      readings: [("b", 5, -start), ("b", 65, 8 * hour)], lived: 60),
    Step(
      testDescription: "boots that each add a day at most",
      readings: [("b", 5, 7 * day), ("c", 5, 14 * day)], lived: 2 * day),
    Step(testDescription: "boot time that went back", readings: [("a", 40, 60)], lived: 60),
  ])
  func `lived time counts only time that certainly passed`(step: Step) {
    var time = LivedTime(at: Self.reading("a", up: 100, wall: 0), random: Machine.current.random)
    for (boot, uptime, wall) in step.readings {
      time.advance(to: Self.reading(boot, up: uptime, wall: wall))
    }
    #expect(time.seconds == step.lived)
  }

  @Test(arguments: [
    // Server, wall clock; the result of a week without power.
    (7, 7, true, 7), (7, 40, true, 7), (40, 7, true, 7), (40, 40, false, 1), (0, 7, true, 1),
  ])
  func `time without power counts if a remote server's clock confirms it`(
    server: Int64, wall: Int64, isElsewhere: Bool, days: Int64
  ) {
    var time = LivedTime(at: Self.reading("a", up: 100, wall: 0), random: Machine.current.random)
    time.hear(Self.server(0), from: "s3://logs", isElsewhere: isElsewhere)
    time.advance(to: Self.reading("b", up: 5, wall: wall * Self.day))
    for _ in 0..<2 {
      time.hear(Self.server(server * Self.day), from: "s3://logs", isElsewhere: isElsewhere)
    }
    #expect(time.seconds == days * Self.day)
  }

  @Test func `a clock that boots set to and fro counts the way forth once`() {
    var time = LivedTime(at: Self.reading("0", up: 100, wall: 0), random: Machine.current.random)
    for number in 1...50 {
      let wall = number.isMultiple(of: 2) ? Int64(number) * 120 : -40 * Self.day
      time.advance(to: Self.reading("\(number)", up: 5, wall: wall))
    }
    #expect(time.seconds == 50 * 120)
  }

  @Test func `uptimes of one boot that differ count no time twice`() {
    var time = LivedTime(
      at: Self.reading("a", up: 30 * Self.day, wall: 0), random: Machine.current.random)
    for minute in Int64(1)...10 {
      time.advance(to: Self.reading("a", up: minute * 60, wall: minute * 60))
      time.advance(to: Self.reading("a", up: 30 * Self.day + minute * 60, wall: minute * 60))
    }
    #expect((10 * 60...20 * 60).contains(time.seconds))
  }

  @Test func `a wall clock that was far ahead once adds to boots again after a week`() {
    var time = LivedTime(at: Self.reading("a", up: 0, wall: 0), random: Machine.current.random)
    time.advance(to: Self.reading("a", up: 60, wall: 1000 * Self.day))
    time.advance(to: Self.reading("b", up: 0, wall: Self.day))
    #expect(time.seconds == 60)
    time.advance(to: Self.reading("b", up: 7 * Self.day, wall: 8 * Self.day))
    time.advance(to: Self.reading("c", up: 0, wall: 9 * Self.day))
    #expect(time.seconds == 60 + 8 * Self.day)
  }

  @Test func `the first server time after a boot is saved`() {
    var saved = LivedTime(at: Self.reading("a", up: 100, wall: 0), random: Machine.current.random)
    saved.hear(Self.server(0), from: "s3://logs", isElsewhere: true)
    saved.advance(to: Self.reading("b", up: 5, wall: -Self.start))
    var time = saved
    time.hear(Self.server(39 * Self.day), from: "s3://logs", isElsewhere: true)
    #expect(time.differs(from: saved, by: .hours(1)))
    // The clock is corrected in the same boot, after a seal: the time before the boot stays lost.
    let mark = time.mark
    time.advance(to: Self.reading("b", up: 65, wall: 39 * Self.day))
    time.hear(Self.server(39 * Self.day), from: "s3://logs", isElsewhere: true)
    #expect(time.age(since: mark) == .seconds(60))
  }

  @Test func `a step of the wall clock is saved, and the time between two steps stays young`() {
    var time = LivedTime(at: Self.reading("a", up: 0, wall: 0), random: Machine.current.random)
    time.advance(to: Self.reading("a", up: Self.hour, wall: Self.hour))
    var saved = time
    time.advance(to: Self.reading("a", up: Self.hour + 60, wall: Self.hour + 60))
    #expect(!time.differs(from: saved, by: .hours(1)))
    // For 31 days the clock is 31 days slow.
    let slow = 31 * Self.day
    time.advance(to: Self.reading("a", up: Self.hour + 120, wall: Self.hour + 120 - slow))
    #expect(time.differs(from: saved, by: .hours(1)))
    saved = time
    time.advance(to: Self.reading("a", up: slow, wall: 0))
    time.advance(to: Self.reading("a", up: 40 * Self.day, wall: 40 * Self.day))
    #expect(time.age(since: Self.date(1800)) ?? .zero <= .days(9))
  }

  @Test func `time that a server adds beyond a day counts as fresh for a day`() {
    var time = LivedTime(at: Self.reading("a", up: 100, wall: 0), random: Machine.current.random)
    time.hear(Self.server(0), from: "s3://logs", isElsewhere: true)
    time.advance(to: Self.reading("b", up: 5, wall: 2 * Self.day))
    #expect(!time.isFreshlyCredited)
    time.hear(Self.server(2 * Self.day), from: "s3://logs", isElsewhere: true)
    #expect(!time.isFreshlyCredited)
    time.advance(to: Self.reading("c", up: 5, wall: 42 * Self.day))
    time.hear(Self.server(42 * Self.day), from: "s3://logs", isElsewhere: true)
    #expect(time.isFreshlyCredited && time.seconds == 42 * Self.day)
    time.advance(to: Self.reading("c", up: 5 + Self.day, wall: 43 * Self.day))
    #expect(!time.isFreshlyCredited)
  }

  @Test func `a server's clock adds nothing within one boot`() {
    var time = LivedTime(at: Self.reading("a", up: 100, wall: 0), random: Machine.current.random)
    time.hear(Self.server(0), from: "s3://logs", isElsewhere: true)
    time.advance(to: Self.reading("a", up: 160, wall: 40 * Self.day))
    time.hear(Self.server(40 * Self.day), from: "s3://logs", isElsewhere: true)
    #expect(time.seconds == 60)
  }

  @Test func `a mark of another count has no age`() throws {
    var time = LivedTime(at: Self.reading("a", up: 100, wall: 0), random: Machine.current.random)
    let mark = time.mark
    time.advance(to: Self.reading("a", up: 700, wall: 0))
    #expect(time.age(since: mark) == .seconds(600))
    #expect(
      LivedTime(at: Self.reading("a", up: 700, wall: 0), random: Machine.current.random).age(
        since: mark) == nil)
  }

  /// Reads each hour for two days, then not for ten days without power; the clock is right.
  private func steady() -> LivedTime {
    var time = LivedTime(at: Self.reading("a", up: 0, wall: 0), random: Machine.current.random)
    for hour in 1...48 {
      time.advance(to: Self.reading("a", up: Int64(hour) * 3600, wall: Int64(hour) * 3600))
    }
    time.advance(to: Self.reading("b", up: 0, wall: 12 * Self.day))
    return time
  }

  @Test(
    arguments: [
      (12 * day, 0), (2 * day, 0), (11 * day, 0), (36 * hour, 36 * hour),
      (90 * 60, 3 * day - 90 * 60), (-400 * day, 3 * day), (13 * day, nil), (-start, nil),
    ] as [(Int64, Int64?)])
  func `the age of a date is at most the lived time since`(date: Int64, age: Int64?) {
    // A date within a gap counts from the gap's end.
    #expect(steady().age(since: Self.date(date)) == age.map { .seconds($0) })
  }

  @Test func `dates written while the clock was wrong count as recent`() throws {
    var time = LivedTime(at: Self.reading("a", up: 0, wall: 0), random: Machine.current.random)
    time.advance(to: Self.reading("a", up: 10 * Self.day, wall: 10 * Self.day))
    time.advance(to: Self.reading("a", up: 10 * Self.day + 60, wall: 50 * Self.day))
    time.advance(to: Self.reading("a", up: 10 * Self.day + 120, wall: 10 * Self.day + 120))
    time.advance(to: Self.reading("a", up: 30 * Self.day, wall: 30 * Self.day))
    #expect(time.age(since: Self.date(50 * Self.day)) == nil)
    #expect(time.age(since: Self.date(5 * Self.day)) == .days(25))
    #expect(time.age(since: Self.date(20 * Self.day)) == .days(10))
    // Written while the clock was 40 days ahead, and read when it shows that date again.
    time.advance(to: Self.reading("a", up: 51 * Self.day, wall: 51 * Self.day))
    #expect(try #require(time.age(since: Self.date(50 * Self.day))) <= .days(1))
  }

  @Test func `a year of dates takes less than 32 KB`() throws {
    var time = LivedTime(at: Self.reading("a", up: 0, wall: 0), random: Machine.current.random)
    for hour in Int64(1)...8760 {
      time.advance(to: Self.reading("a", up: hour * 3600, wall: hour * 3600))
    }
    #expect(try JSONEncoder().encode(time).count < 32_000)
    #expect(time.age(since: Self.date(100 * Self.day)) == .days(265))
  }
}
