public import Platform

/// How long a home has existed, counted so that a wrong clock never makes anything look old.
///
/// Within a boot only boot time adds. A new boot adds the difference between the wall clock and the
/// latest time that it has shown, at most 24 hours; a server on another machine may confirm more.
/// Nothing subtracts. So the count is never far ahead of the time that has really passed, and every
/// age that deletes something is taken by it.
public struct LivedTime: Sendable, Equatable, Codable {
  /// This machine's clocks at one moment.
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
    /// The count that it belongs to: a home that lost its count starts a new one.
    public let counter: String
    /// Seconds lived at that moment.
    public let seconds: Int64
  }

  /// The last date of a server's clock, and this machine's at the same moment.
  fileprivate struct Heard: Sendable, Equatable, Codable {
    var server: Int64
    var wall: Int64
    var lived: Int64
    var boot: String
  }

  /// The latest time that the wall clock has shown, and when in lived time, in milliseconds.
  fileprivate struct Latest: Sendable, Equatable, Codable {
    var wall: Int64
    var lived: Int64
  }

  /// A random identifier of this count.
  public let counter: String
  /// Milliseconds lived.
  private var lived: Int64
  private var boot: String
  private var uptime: Int64
  private var wall: Int64
  /// Without it, as versions before 0.2.0 wrote it, the last reading is the latest.
  private var latest: Latest?
  private var heard: [String: Heard] = [:]
  /// When a server's date last added more than a boot may add by itself, in lived milliseconds.
  private var credited: Int64?
  /// The last boot in which a moment was saved as a mark.
  private var marked: String?
  /// Dates by the clock that gave them, this machine's under ``wallClock``.
  private var calendars: [String: LivedCalendar] = [:]
  /// When plans that would delete most sessions began to wait, in lived seconds, by side.
  private var bold: [String: Int64] = [:]

  /// The name of this machine's clock.
  public static let wallClock = "wall"
  /// The most that a new boot adds according to the wall clock alone.
  private static let bootCredit = Duration.days(1)
  /// Lived time in milliseconds after which the latest wall time, if not reached again, is taken
  /// for that of a wrong clock.
  private static let latestHolds: Int64 = 7 * 86_400_000
  /// Lived time for which a bold plan waits.
  public static let boldPause = Duration.days(1)
  /// Maximum number of servers whose clocks are recorded.
  private static let mostClocks = 32
  /// The longest plausible lived time in milliseconds: 1,000 years.
  private static let longest: Int64 = 1000 * 365 * 86_400_000

  /// Starts a count.
  ///
  /// - Parameter random: returns 64 random bits, for the count's name.
  package init(at reading: Reading, random: () -> UInt64) {
    counter = RandomName.make(8, random)
    lived = 0
    (boot, uptime, wall) = (reading.boot, reading.uptime, reading.wall.milliseconds)
    record(reading.wall, by: Self.wallClock)
  }

  /// Seconds lived.
  public var seconds: Int64 { lived / 1000 }

  /// This moment.
  public var mark: Mark { Mark(counter: counter, seconds: seconds) }

  /// This moment, to be saved: in this boot no server's date adds the time before it any more, which
  /// would make what begins now look older.
  package mutating func markToSave() -> Mark {
    marked = boot
    return mark
  }

  // MARK: Counting

  /// Adds the time since the last reading.
  public mutating func advance(to reading: Reading) {
    let latest = latest ?? Latest(wall: wall, lived: lived)
    let elapsed = reading.uptime.subtractingReportingOverflow(uptime)
    if reading.boot == boot, !elapsed.overflow, elapsed.partialValue >= 0 {
      add(.milliseconds(elapsed.partialValue))
    } else {
      // A clock that each boot sets back and forth must not add the same time repeatedly.
      let passed = Self.difference(reading.wall.milliseconds, latest.wall)
      add(min(.milliseconds(passed), Self.bootCredit))
    }
    // Uptimes of one boot differ between time namespaces.
    uptime = reading.boot == boot ? max(uptime, reading.uptime) : reading.uptime
    (boot, wall) = (reading.boot, reading.wall.milliseconds)
    let isPast = wall < latest.wall && lived - latest.lived < Self.latestHolds
    self.latest = isPast ? latest : Latest(wall: wall, lived: lived)
    record(reading.wall, by: Self.wallClock)
  }

  /// Records a server's date.
  ///
  /// - Parameters:
  ///   - date: the date.
  ///   - clock: the clock's name.
  ///   - isElsewhere: whether the server is on another machine; then it confirms the time that
  ///     passed while this one was off.
  package mutating func hear(_ date: ServerTime, from clock: String, isElsewhere: Bool) {
    if isElsewhere, let last = heard[clock], last.boot != boot, marked != boot {
      let passed = min(
        Self.difference(date.milliseconds, last.server), Self.difference(wall, last.wall))
      let credit = Duration.milliseconds(passed - Self.difference(lived, last.lived))
      add(credit)
      if credit > Self.bootCredit { credited = lived }
    }
    guard heard[clock] != nil || heard.count < Self.mostClocks else { return }
    heard[clock] = Heard(server: date.milliseconds, wall: wall, lived: lived, boot: boot)
    record(date, by: clock)
  }

  private mutating func add(_ span: Duration) {
    lived = min(Self.longest, lived + max(0, min(span.milliseconds, Self.longest)))
  }

  private mutating func record(_ date: some ClockTime, by clock: String) {
    calendars[clock, default: LivedCalendar()].record(date, lived: seconds)
  }

  /// How much later one time is than another; 0 if it is not.
  private static func difference(_ later: Int64, _ earlier: Int64) -> Int64 {
    let (difference, isTooMuch) = later.subtractingReportingOverflow(earlier)
    return isTooMuch ? 0 : max(0, difference)
  }

  // MARK: Ages

  /// Time lived since a moment, in whole seconds; nil if the moment belongs to another count.
  public func age(since mark: Mark) -> Duration? {
    mark.counter == counter ? .seconds(Self.difference(seconds, mark.seconds)) : nil
  }

  /// Minimum time lived since a date, to within two minutes; nil for a date in the future, or from
  /// a clock that was never set.
  ///
  /// - Parameter date: the time of the event, by this machine's clock.
  public func age(since date: Timestamp) -> Duration? {
    calendar(of: Self.wallClock).age(since: date, lived: seconds)
  }

  /// Time lived since a server's date, with the bounds of ``age(since:)-(Timestamp)``.
  ///
  /// - Parameters:
  ///   - date: the time of the event.
  ///   - clock: the name of the server's clock, as in ``hear(_:from:isElsewhere:)``.
  package func age(since date: ServerTime, by clock: String) -> Duration? {
    calendar(of: clock).age(since: date, lived: seconds)
  }

  private func calendar(of clock: String) -> LivedCalendar { calendars[clock] ?? LivedCalendar() }

  // MARK: Bold plans

  /// Makes a plan wait that would delete most sessions.
  ///
  /// - Parameters:
  ///   - isBold: whether the plan is such a plan; any other ends the wait.
  ///   - side: the copies concerned.
  /// - Returns: the remaining lived time to wait, zero if the plan may be carried out; and whether
  ///   the wait has just begun.
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

  /// Whether a server's date has added more than a day within the last lived day: a server that
  /// uses this machine's clock may have been mistaken for one on another machine.
  public var isFreshlyCredited: Bool {
    credited.map { .milliseconds(Self.difference(lived, $0)) < Self.boldPause } ?? false
  }

  /// Remaining lived time for which a plan of a side waits; nil if none does.
  public func pause(on side: String) -> Duration? {
    bold[side].map { Self.rest(of: .seconds(max(0, seconds - $0))) }
  }

  private static func rest(of waited: Duration) -> Duration { max(.zero, boldPause - waited) }
}

extension LivedTime {
  /// The value, or nil if numbers from a file are out of range.
  package var checked: LivedTime? {
    let range = 0...Self.longest
    let isPossible =
      range.contains(lived) && calendars.values.allSatisfy(\.isPossible)
      && bold.values.allSatisfy(range.contains) && calendars.count <= Self.mostClocks + 1
      && heard.count <= Self.mostClocks
      && heard.values.allSatisfy { range.contains($0.lived) }
      && [latest?.lived, credited].allSatisfy { $0.map(range.contains) ?? true }
    return isPossible ? self : nil
  }

  /// Whether it should be saved: the boot, the count, the waiting plans or the servers heard in
  /// this boot differ from an earlier state, a clock was set, or an interval of lived time has
  /// passed.
  ///
  /// A server's confirmation of the time before a boot must not count twice, nor after a seal of
  /// this boot. Dates given between two steps of a clock would look older without them.
  package func differs(from earlier: LivedTime, by interval: Duration) -> Bool {
    boot != earlier.boot || bold != earlier.bold || credited != earlier.credited
      || counter != earlier.counter || marked != earlier.marked
      || .seconds(seconds - earlier.seconds) >= interval
      || heard.mapValues(\.boot) != earlier.heard.mapValues(\.boot)
      || calendars.contains { $0.value.showsStep(since: earlier.calendars[$0.key]) }
  }
}

// MARK: Reading it

extension LivedTime {
  /// Reads a home's lived time.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    counter = try fields.decode(String.self, forKey: "counter")
    lived = try fields.decode(Int64.self, forKey: "lived")
    boot = try fields.decode(String.self, forKey: "boot")
    uptime = try fields.decode(Int64.self, forKey: "uptime")
    wall = try fields.decode(Int64.self, forKey: "wall")
    latest = try fields.decodeIfPresent(Latest.self, forKey: "latest")
    heard = try fields.decode([String: Heard].self, forKey: "heard")
    credited = try fields.decodeIfPresent(Int64.self, forKey: "credited")
    marked = try fields.decodeIfPresent(String.self, forKey: "marked")
    calendars = try fields.decode([String: LivedCalendar].self, forKey: "calendars")
    bold = try fields.decode([String: Int64].self, forKey: "bold")
  }
}

extension LivedTime.Heard {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    server = try fields.decode(Int64.self, forKey: "server")
    wall = try fields.decode(Int64.self, forKey: "wall")
    lived = try fields.decode(Int64.self, forKey: "lived")
    boot = try fields.decode(String.self, forKey: "boot")
  }
}

extension LivedTime.Latest {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    wall = try fields.decode(Int64.self, forKey: "wall")
    lived = try fields.decode(Int64.self, forKey: "lived")
  }
}
