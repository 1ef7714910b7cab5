public import Platform

/// How long a home has lived, counted so that no clock set wrong makes anything look old.
///
/// Within a boot only boot time adds. A new boot adds what the wall clock says has passed, at most
/// 24 hours; a server on another machine may confirm more. Nothing subtracts. So the count is never
/// ahead of the time that has really passed, and every age that deletes something is taken by it.
public struct LivedTime: Sendable, Equatable, Codable {
  /// What the clocks of this machine show at one moment.
  public struct Reading: Sendable, Equatable {
    /// The boot.
    public let boot: String
    /// Milliseconds since that boot, sleep included.
    public let uptime: Int64
    /// The wall clock.
    public let wall: Timestamp

    /// Makes a reading.
    public init(boot: String, uptime: Int64, wall: Timestamp) {
      self.boot = boot
      self.uptime = uptime
      self.wall = wall
    }
  }

  /// A moment, in a home's lived time.
  public struct Mark: Sendable, Equatable, Codable {
    /// The count that it belongs to: a home that lost its count begins another one.
    public let counter: String
    /// Seconds lived then.
    public let seconds: Int64
  }

  /// What a server's clock last showed, and this machine's with it.
  private struct Heard: Sendable, Equatable, Codable {
    var server: Int64
    var wall: Int64
    var lived: Int64
    var boot: String
  }

  /// Tells this count from another one.
  public let counter: String
  /// Milliseconds lived.
  private var lived: Int64
  private var boot: String
  private var uptime: Int64
  private var wall: Int64
  private var heard: [String: Heard] = [:]
  /// Dates by the clock that gave them, this machine's under ``wallClock``.
  private var calendars: [String: LivedCalendar] = [:]
  /// Since when, in lived seconds, plans wait that would remove most sessions, by side.
  private var bold: [String: Int64] = [:]

  /// The name of this machine's clock among those that dates come from.
  public static let wallClock = "wall"
  /// The most that a new boot adds by the word of the wall clock alone.
  private static let bootCredit = Duration.days(1)
  /// Lived time for which a bold plan waits.
  public static let boldPause = Duration.days(1)
  /// More servers than that are not listened to.
  private static let mostClocks = 32
  /// More than anyone will live, in milliseconds: 1,000 years.
  private static let longest: Int64 = 1000 * 365 * 86_400_000

  /// Begins a count.
  ///
  /// - Parameter random: gives 64 random bits, for the count's name.
  package init(at reading: Reading, random: () -> UInt64) {
    counter = RandomName.make(8, random)
    lived = 0
    (boot, uptime, wall) = (reading.boot, reading.uptime, reading.wall.milliseconds)
    note(reading.wall, by: Self.wallClock)
  }

  /// Seconds lived.
  public var seconds: Int64 { lived / 1000 }

  /// This moment.
  public var mark: Mark { Mark(counter: counter, seconds: seconds) }

  // MARK: Counting

  /// Counts what has passed since the last reading.
  public mutating func advance(to reading: Reading) {
    let elapsed = reading.uptime.subtractingReportingOverflow(uptime)
    if reading.boot == boot, !elapsed.overflow, elapsed.partialValue >= 0 {
      add(.milliseconds(elapsed.partialValue))
    } else {
      let passed = Self.difference(reading.wall.milliseconds, wall)
      add(min(.milliseconds(passed), Self.bootCredit))
    }
    (boot, uptime, wall) = (reading.boot, reading.uptime, reading.wall.milliseconds)
    note(reading.wall, by: Self.wallClock)
  }

  /// Takes note of a server's clock.
  ///
  /// - Parameters:
  ///   - date: what it shows.
  ///   - clock: its name.
  ///   - isElsewhere: whether the server is on another machine; then it confirms what passed while
  ///     this one was off.
  package mutating func hear(_ date: ServerTime, from clock: String, isElsewhere: Bool) {
    if isElsewhere, let last = heard[clock], last.boot != boot {
      let passed = min(
        Self.difference(date.milliseconds, last.server), Self.difference(wall, last.wall))
      add(.milliseconds(passed - Self.difference(lived, last.lived)))
    }
    guard heard[clock] != nil || heard.count < Self.mostClocks else { return }
    heard[clock] = Heard(server: date.milliseconds, wall: wall, lived: lived, boot: boot)
    note(date, by: clock)
  }

  private mutating func add(_ span: Duration) {
    lived = min(Self.longest, lived + max(0, min(span.milliseconds, Self.longest)))
  }

  private mutating func note(_ date: some ClockTime, by clock: String) {
    calendars[clock, default: LivedCalendar()].note(date, lived: seconds)
  }

  /// How much later one time is than another; 0 where it is not.
  private static func difference(_ later: Int64, _ earlier: Int64) -> Int64 {
    let (difference, isTooMuch) = later.subtractingReportingOverflow(earlier)
    return isTooMuch ? 0 : max(0, difference)
  }

  // MARK: Ages

  /// Time lived since a moment, in whole seconds; nil where that was counted by another count.
  public func age(since mark: Mark) -> Duration? {
    mark.counter == counter ? .seconds(Self.difference(seconds, mark.seconds)) : nil
  }

  /// Time lived since a date, at least, to two minutes; nil for one that has not come yet, and for one
  /// from a clock that was never set.
  ///
  /// - Parameter date: when something happened, by this machine's clock.
  public func age(since date: Timestamp) -> Duration? {
    calendar(of: Self.wallClock).age(since: date, lived: seconds)
  }

  /// Time lived since a server's date, with the bounds of ``age(since:)-(Timestamp)``.
  ///
  /// - Parameters:
  ///   - date: when something happened.
  ///   - clock: the name of the server's clock, as in ``hear(_:from:isElsewhere:)``.
  package func age(since date: ServerTime, by clock: String) -> Duration? {
    calendar(of: clock).age(since: date, lived: seconds)
  }

  private func calendar(of clock: String) -> LivedCalendar { calendars[clock] ?? LivedCalendar() }

  // MARK: Bold plans

  /// Lets a plan wait that removes most sessions.
  ///
  /// - Parameters:
  ///   - isBold: whether the plan is such a one; another one ends the waiting.
  ///   - side: which copies it is about.
  /// - Returns: the lived time for which it still has to wait, zero when it may be carried out; and
  ///   whether it has only begun to wait.
  public mutating func pause(
    ofBoldPlan isBold: Bool, on side: String
  ) -> (rest: Duration, isNew: Bool) {
    guard isBold else {
      bold[side] = nil
      return (.zero, false)
    }
    let known = bold[side]
    let since = min(known ?? seconds, seconds)
    bold[side] = since
    return (Self.rest(of: .seconds(seconds - since)), known == nil)
  }

  /// Lived time for which a plan of a side waits still; nil when none does.
  public func pause(on side: String) -> Duration? {
    bold[side].map { Self.rest(of: .seconds(max(0, seconds - $0))) }
  }

  private static func rest(of waited: Duration) -> Duration { max(.zero, boldPause - waited) }
}

extension LivedTime {
  /// The same, or nil where numbers read from a file are out of range.
  package var checked: LivedTime? {
    let range = 0...Self.longest
    let isPossible =
      range.contains(lived) && calendars.values.allSatisfy(\.isPossible)
      && bold.values.allSatisfy(range.contains) && calendars.count <= Self.mostClocks + 1
      && heard.count <= Self.mostClocks
      && heard.values.allSatisfy { range.contains($0.lived) }
    return isPossible ? self : nil
  }

  /// Whether it is worth saving: since an earlier state the boot, the count, the waiting plans or the
  /// servers heard in this boot have changed, or so much time was lived.
  ///
  /// A server's word on the time before a boot must not count twice, nor after a seal of this boot.
  package func differs(from earlier: LivedTime, by interval: Duration) -> Bool {
    boot != earlier.boot || bold != earlier.bold || counter != earlier.counter
      || .seconds(seconds - earlier.seconds) >= interval
      || heard.mapValues(\.boot) != earlier.heard.mapValues(\.boot)
  }
}
