import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Fleet

/// The messages that follow from readings: one rule, several passes.
@Suite(.tags(.small)) struct AlertPlanTests {
  /// A pass: seconds after the start, its readings, the expected messages.
  struct Pass: Sendable {
    let at: Int64
    let sees: [AlertReading]
    let tells: [String]
  }

  static let start = ServerTime(milliseconds: 1_769_092_205_123)

  static func time(_ seconds: Int64) -> ServerTime { start + .seconds(seconds) }

  static func subject(
    _ device: String = "d1", session: String? = "s1", app: String = "app", version: String? = nil
  ) -> AlertSubject {
    var subject = AlertSubject(device: device, deviceName: "host-\(device)")
    (subject.session, subject.app, subject.version) = (session, app, version)
    return subject
  }

  static func reading(_ change: (inout AlertReading) -> Void) -> AlertReading {
    var reading = AlertReading()
    change(&reading)
    return reading
  }

  static func errors(_ count: Int, at seconds: Int64, of subject: AlertSubject = subject())
    -> AlertReading
  {
    reading {
      var records = MatchedRecords(
        rule: "r", subject, at: time(seconds), level: "ERROR", offset: 7)
      for _ in 0..<count { records.add(at: time(seconds)) }
      $0.records = [records]
    }
  }

  static func crash(
    _ subject: AlertSubject = subject(), at seconds: Int64, line: String = "x",
    isCrash: Bool = true
  ) -> AlertReading {
    reading {
      $0.crashes = [
        CrashReport(
          subject, cause: isCrash ? "reboot" : "exit 3",
          endedAt: time(seconds).assumingSynchronizedClocks, isCrash: isCrash, lines: [line])
      ]
    }
  }

  static func heard(_ seconds: Int64, device: String = "d1") -> AlertReading {
    reading {
      $0.heard = [
        .init(subject(device, session: nil), newest: time(seconds))
      ]
    }
  }

  private func told(_ plan: AlertPlan) -> [String] {
    plan.outgoing.map {
      let message = $0.notification
      let others = message.otherCount > 0 ? "+\(message.otherCount)" : ""
      return "\(message.state) \(message.count)/\(message.new)\(others)"
    }
  }

  private func check(
    _ rule: AlertRule, silences: [AlertSilence] = [], _ passes: [Pass],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var ledger = AlertLedger()
    ledger.silences = silences
    for pass in passes {
      var reading = AlertReading()
      for seen in pass.sees { reading.add(seen) }
      let plan = AlertPlan([rule], ledger, reading, now: Self.time(pass.at), offset: .zero)
      #expect(told(plan) == pass.tells, "pass at \(pass.at)", sourceLocation: sourceLocation)
      ledger = plan.ledger
    }
  }

  private static func rule(
    _ condition: AlertRule.Condition = .records(RecordCondition(levels: .from(.error))),
    _ change: (inout AlertRule) -> Void = { _ in }
  ) -> AlertRule {
    var rule = AlertRule(name: "r", condition)
    change(&rule)
    return rule
  }

  @Test func `an alert fires once, repeats after repeat and resolves after keep`() {
    check(
      Self.rule { $0.repeatsEvery = .seconds(600) },
      [
        Pass(at: 0, sees: [], tells: []),
        Pass(at: 60, sees: [Self.errors(2, at: 50)], tells: ["firing 2/2"]),
        Pass(at: 120, sees: [Self.errors(1, at: 110)], tells: []),
        Pass(at: 360, sees: [Self.errors(1, at: 350)], tells: []),
        Pass(at: 640, sees: [], tells: []),
        // Ten minutes after the first message there is news since then.
        Pass(at: 659, sees: [], tells: []),
        Pass(at: 661, sees: [], tells: ["resolved 4/2"]),
        Pass(at: 700, sees: [Self.errors(1, at: 690)], tells: ["firing 1/1"]),
        Pass(at: 900, sees: [Self.errors(1, at: 890)], tells: []),
        Pass(at: 1199, sees: [Self.errors(1, at: 1190)], tells: []),
        Pass(at: 1300, sees: [], tells: ["firing 3/2"]),
      ])
  }

  @Test func `an alert fires only after its condition has held for the hold time`() {
    check(
      Self.rule { ($0.delay, $0.keep) = (.seconds(600), .seconds(300)) },
      [
        Pass(at: 0, sees: [Self.errors(1, at: 0)], tells: []),
        Pass(at: 240, sees: [Self.errors(1, at: 240)], tells: []),
        Pass(at: 480, sees: [Self.errors(1, at: 480)], tells: []),
        Pass(at: 600, sees: [], tells: ["firing 3/3"]),
      ])
    check(
      Self.rule { ($0.delay, $0.keep) = (.seconds(600), .seconds(300)) },
      [
        Pass(at: 0, sees: [Self.errors(1, at: 0)], tells: []),
        Pass(at: 300, sees: [], tells: []),
        // It had ended, and begins again.
        Pass(at: 360, sees: [Self.errors(1, at: 360)], tells: []),
        Pass(at: 620, sees: [Self.errors(1, at: 620)], tells: []),
        Pass(at: 960, sees: [Self.errors(1, at: 960)], tells: []),
      ])
  }

  @Test func `alerts that fire together are grouped into one message`() {
    check(
      Self.rule(),
      [
        Pass(
          at: 0,
          sees: [
            Self.errors(1, at: 0, of: Self.subject("d1")),
            Self.errors(1, at: 0, of: Self.subject("d2")),
            Self.errors(1, at: 0, of: Self.subject("d3")),
          ], tells: ["firing 1/1+2"]),
        // Within a minute of a message, further ones wait.
        Pass(at: 30, sees: [Self.errors(1, at: 30, of: Self.subject("d4"))], tells: []),
        Pass(at: 49, sees: [Self.errors(1, at: 49, of: Self.subject("d5"))], tells: []),
        Pass(at: 50, sees: [], tells: ["firing 1/1+1"]),
      ])
  }

  @Test func `an alert that waits for its group is still sent after it resolves`() {
    check(
      Self.rule { ($0.group, $0.keep, $0.reportsEnd) = (.seconds(900), .seconds(60), false) },
      [
        Pass(at: 0, sees: [Self.errors(1, at: 0, of: Self.subject("d1"))], tells: ["firing 1/1"]),
        Pass(at: 10, sees: [Self.errors(1, at: 10, of: Self.subject("d2"))], tells: []),
        Pass(at: 600, sees: [], tells: []),
        Pass(at: 900, sees: [], tells: ["firing 1/1"]),
        Pass(at: 960, sees: [], tells: []),
      ])
  }

  @Test func `a silenced alert sends neither its start nor its end`() {
    let silence = AlertSilence(
      alert: "r", device: "host-d1", until: Self.time(1000).asLocal(offset: .zero), reason: "known")
    check(
      Self.rule { $0.repeatsEvery = .seconds(600) }, silences: [silence],
      [
        Pass(at: 0, sees: [Self.errors(2, at: 0)], tells: []),
        Pass(at: 10, sees: [Self.errors(1, at: 10, of: Self.subject("d2"))], tells: ["firing 1/1"]),
        // No beginning was reported, so no end is.
        Pass(at: 400, sees: [], tells: ["resolved 1/0"]),
        Pass(at: 900, sees: [Self.errors(1, at: 900)], tells: []),
        Pass(at: 1001, sees: [], tells: []),
        Pass(at: 1100, sees: [Self.errors(1, at: 1100)], tells: []),
        Pass(at: 1390, sees: [Self.errors(1, at: 1390)], tells: []),
        Pass(at: 1500, sees: [Self.errors(1, at: 1499)], tells: ["firing 4/3"]),
      ])
  }

  @Test func `silences and the ages of messages go by this machine's clock`() {
    let offset = Duration.hours(2)
    var ledger = AlertLedger()
    ledger.silences = [
      AlertSilence(
        alert: "r", device: nil, until: Self.time(60).asLocal(offset: offset), reason: "known")
    ]
    let muted = AlertPlan(
      [Self.rule()], ledger, Self.errors(1, at: 0), now: Self.start, offset: offset)
    #expect(muted.outgoing.isEmpty && muted.ledger.silences == ledger.silences)
    let told = AlertPlan(
      [Self.rule()], AlertLedger(), Self.errors(1, at: 0), now: Self.start, offset: offset)
    #expect(told.outgoing.map(\.decidedAt) == [Self.start.asLocal(offset: offset)])
  }

  @Test func `an alert outside its hours waits until they begin`() throws {
    // The start is 14:30:05 UTC.
    let hours = try #require(AlertHours("15:00-16:00 UTC"))
    check(
      Self.rule { ($0.hours, $0.keep) = (hours, .seconds(60)) },
      [
        Pass(at: 0, sees: [Self.errors(2, at: 0)], tells: []),
        Pass(at: 1700, sees: [], tells: []),
        Pass(at: 1800, sees: [], tells: ["firing 2/2"]),
        Pass(at: 1900, sees: [], tells: ["resolved 2/0"]),
      ])
  }

  @Test func `crashes with the same signature are one alert`() throws {
    let rule = Self.rule(.crash(includesFailures: false))
    check(
      rule,
      [
        Pass(
          at: 0,
          sees: [
            Self.crash(Self.subject("d1"), at: 0, line: "worker 1"),
            Self.crash(Self.subject("d2"), at: 0, line: "worker 2"),
            Self.crash(Self.subject("d2"), at: 0, line: "another"),
            Self.crash(at: 0, line: "failed", isCrash: false),
          ], tells: ["firing 1/1", "firing 2/2"].reversed().sorted()),
        Pass(at: 300, sees: [Self.crash(Self.subject("d3"), at: 300, line: "worker 9")], tells: []),
        Pass(at: 14_399, sees: [], tells: []),
        Pass(at: 14_400, sees: [], tells: ["firing 3/1"]),
        Pass(at: 99_000, sees: [], tells: []),
        Pass(at: 99_001, sees: [Self.crash(at: 99_001, line: "worker 3")], tells: ["firing 4/1"]),
        // After a month it is a new one.
        Pass(at: 3_000_000, sees: [], tells: []),
        Pass(
          at: 3_000_001, sees: [Self.crash(at: 3_000_000, line: "worker 1")], tells: ["firing 1/1"]),
      ])
    check(
      Self.rule(.crash(includesFailures: true)) { $0.scope = .session },
      [
        Pass(
          at: 0,
          sees: [
            Self.crash(at: 0), Self.crash(Self.subject(session: "s2"), at: 0, isCrash: false),
          ],
          tells: ["firing 1/1", "firing 1/1"])
      ])
  }

  @Test func `a crash message states count, devices, first version and times`() throws {
    var ledger = AlertLedger()
    let rule = Self.rule(.crash(includesFailures: false)) { $0.repeatsEvery = .zero }
    var text = ""
    for number in 0..<5 {
      let subject = Self.subject("d\(number / 2)", version: number < 3 ? "1.4" : "1.5")
      let plan = AlertPlan(
        [rule], ledger, Self.crash(subject, at: Int64(number) * 60),
        now: Self.time(Int64(number) * 60), offset: .zero)
      ledger = plan.ledger
      text = try #require(plan.outgoing.first).notification.text
    }
    #expect(
      text == """
        r: app on 3 devices: reboot, 5 crashes on 3 devices since version 1.4; first \
        2026-01-22T14:30:05.123Z, last 2026-01-22T14:34:05.123Z; x; tidemark show s1
        """)
  }

  @Test func `a rate counts records by their own timestamps`() {
    let rule = Self.rule(.rate(RecordCondition(), moreThan: 10, within: .seconds(300))) {
      $0.scope = .device
    }
    check(
      rule,
      [
        Pass(at: 0, sees: [Self.errors(10, at: 0)], tells: []),
        Pass(at: 400, sees: [Self.errors(10, at: 400)], tells: []),
        Pass(at: 500, sees: [Self.errors(1, at: 500)], tells: ["firing 1/1"]),
      ])
    // Records that were sent late count for the time in which they were written.
    check(
      rule,
      [
        Pass(at: 7000, sees: [Self.errors(6, at: 100)], tells: []),
        Pass(at: 7100, sees: [Self.errors(6, at: 6900)], tells: []),
        Pass(
          at: 7200, sees: [Self.errors(5, at: 7000, of: Self.subject(session: "s2"))],
          tells: ["firing 5/5"]),
      ])
  }

  /// Each minute was compared with all others.
  @Test func `a rate counts records of very many minutes`() {
    let minutes = 300_000
    var window = RateWindow()
    let even = Dictionary(uniqueKeysWithValues: (0..<minutes).map { (Int64($0), 2) })
    #expect(window.add(even, within: .seconds(300)) == 10)
    let last = Int64(minutes)
    #expect(window.add([last: 5, last - 3: 1], within: .seconds(300)) == 14)
    #expect(window.add([last + 4: .max], within: .seconds(300)) > 1 << 32)
    #expect(window.add([last + 20: 3], within: .seconds(300)) == 3)
    #expect(window.add([last + 19: 3, 0: 7], within: .seconds(300)) == 7)
  }

  @Test func `a silent device alerts again until it is heard from`() {
    let rule = Self.rule(.silence(.seconds(1800))) { $0.repeatsEvery = .seconds(3600) }
    check(
      rule,
      [
        Pass(at: 0, sees: [Self.heard(0)], tells: []),
        Pass(at: 1800, sees: [Self.heard(0)], tells: []),
        Pass(at: 1801, sees: [Self.heard(0)], tells: ["firing 1/1"]),
        Pass(at: 3600, sees: [Self.heard(0)], tells: []),
        Pass(at: 5401, sees: [Self.heard(0)], tells: ["firing 1/0"]),
        Pass(at: 5500, sees: [Self.heard(5490)], tells: []),
        Pass(at: 5701, sees: [Self.heard(5490)], tells: ["resolved 1/0"]),
      ])
  }

  @Test func `a device silent since before the first pass does not alert`() {
    check(
      Self.rule(.silence(.seconds(1800))),
      [
        Pass(at: 0, sees: [Self.heard(-3601)], tells: []),
        Pass(
          at: 9000, sees: [Self.heard(-3601), Self.heard(0, device: "d2")], tells: ["firing 1/1"]),
      ])
  }

  @Test func `silence counts only within the rule's hours`() throws {
    let hours = try #require(AlertHours("15:00-16:00 UTC"))
    // 15:00 is 1795 s after the start.
    check(
      Self.rule(.silence(.seconds(600))) { $0.hours = hours },
      [
        Pass(at: 0, sees: [Self.heard(0)], tells: []),
        Pass(at: 1700, sees: [Self.heard(0)], tells: []),
        Pass(at: 1800, sees: [Self.heard(0)], tells: []),
        Pass(at: 2390, sees: [Self.heard(0)], tells: []),
        Pass(at: 2400, sees: [Self.heard(0)], tells: ["firing 1/1"]),
        // The hours end and begin again while the device stays silent.
        Pass(at: 6000, sees: [Self.heard(0)], tells: []),
        Pass(at: 88_200, sees: [Self.heard(0)], tells: ["firing 1/0"]),
      ])
  }

  /// A device that fell silent three hours before the first pass.
  @Test func `a first pass reports silence no older than asked`() {
    for (age, isReported) in [(Duration.hours(1), false), (.days(7), true)] {
      let plan = AlertPlan(
        [Self.rule(.silence(.seconds(3600)))], AlertLedger(), Self.heard(-10_800),
        now: Self.start, offset: .zero, newsAge: age)
      #expect(plan.outgoing.isEmpty != isReported)
    }
  }

  @Test func `a failing store neither starts nor ends alerts`() {
    let rule = Self.rule(.silence(.seconds(1800)))
    let first = AlertPlan([rule], AlertLedger(), Self.heard(0), now: Self.start, offset: .zero)
    let second = AlertPlan([rule], first.ledger, nil, now: Self.time(9000), offset: .zero)
    #expect(second.outgoing.isEmpty && second.ledger == first.ledger)
  }

  @Test func `a pass sends at most 20 messages and counts the omitted ones`() throws {
    var reading = AlertReading()
    for number in 0..<50 {
      let shape = String(repeating: "x", count: number + 1)
      reading.add(Self.crash(Self.subject("d\(number)"), at: Int64(number) - 100, line: shape))
    }
    let plan = AlertPlan(
      [Self.rule(.crash(includesFailures: false))], AlertLedger(), reading, now: Self.start,
      offset: .zero)
    #expect(plan.outgoing.count == 20)
    #expect(plan.outgoing.last?.notification.omitted == 30)
    #expect(plan.outgoing.last?.notification.text.contains("and 30 more messages") == true)
    #expect(Set(plan.outgoing.map(\.notification.id)).count == 20)
    #expect(plan.firing.count == 50)
  }

  /// Crashes of as many kinds.
  private static func kinds(
    _ count: Int, of device: String, at seconds: Int64 = 0, shape: String = "x"
  ) -> AlertReading {
    var reading = AlertReading()
    for number in 0..<count {
      let line = String(repeating: shape, count: number + 1)
      reading.add(crash(subject(device), at: seconds, line: line))
    }
    return reading
  }

  @Test func `crashes of one device leave messages to those of others`() throws {
    var reading = Self.kinds(25, of: "evil", at: -300)
    reading.add(Self.crash(Self.subject("honest"), at: -1, line: "pump"))
    let plan = AlertPlan(
      [Self.rule(.crash(includesFailures: false))], AlertLedger(), reading, now: Self.start,
      offset: .zero)
    let told = plan.outgoing.map(\.notification)
    #expect(told.count == 20 && told.count { $0.device.id == "honest" } == 1)
    let last = try #require(told.last)
    #expect(last.omitted == 6 && last.omittedDevices?.map(\.count) == [6])
    #expect(last.text.contains("; and 6 more messages (of host-evil: 6)"))
  }

  @Test func `omitted messages name first the devices of which none is sent`() throws {
    var reading = Self.kinds(5, of: "evil", at: -300)
    for number in 0..<25 {
      let line = String(repeating: "y", count: number + 1)
      reading.add(Self.crash(Self.subject("d\(number)"), at: -200, line: line))
    }
    let plan = AlertPlan(
      [Self.rule(.crash(includesFailures: false))], AlertLedger(), reading, now: Self.start,
      offset: .zero)
    let told = plan.outgoing.map(\.notification)
    let last = try #require(told.last)
    let devices = Set((0..<25).map { "d\($0)" } + ["evil"])
    let named = Set(told.map(\.device.id) + (last.omittedDevices ?? []).map(\.device.id))
    #expect(named == devices && last.omitted == 10)
    let omitted = try #require(last.omittedDevices)
    #expect(omitted.last?.device.id == "evil" && omitted.reduce(0) { $0 + $1.count } == 10)
  }

  @Test func `a message about several alerts names each device before any twice`() throws {
    var reading = AlertReading()
    for number in 0..<15 {
      let subject = Self.subject("evil", session: "s\(number)")
      reading.add(Self.errors(1, at: Int64(number) - 100, of: subject))
    }
    reading.add(Self.errors(1, at: 0, of: Self.subject("honest")))
    let plan = AlertPlan([Self.rule()], AlertLedger(), reading, now: Self.start, offset: .zero)
    let message = try #require(plan.outgoing.first?.notification)
    #expect(plan.outgoing.count == 1 && message.otherCount == 15 && message.others.count == 10)
    #expect(message.others.first?.device.id == "honest")
    #expect(message.text.contains("; and 15 other alerts (of host-honest, host-evil: 14)"))
  }

  @Test func `alerts of one device take no room from those of others`() {
    let rule = Self.rule(.crash(includesFailures: false))
    var ledger = AlertLedger()
    func pass(_ seconds: Int64, _ reading: AlertReading) -> AlertPlan {
      let plan = AlertPlan(
        [rule], ledger, reading, now: Self.time(seconds), offset: .zero, mostAlerts: 10)
      ledger = plan.ledger
      #expect(ledger.alerts.count <= 10)
      return plan
    }
    #expect(pass(0, Self.kinds(30, of: "evil")).outgoing.count == 20)
    #expect(ledger.alerts.count == 10)
    let honest = Self.crash(Self.subject("honest"), at: 60, line: "pump")
    #expect(pass(60, honest).outgoing.map(\.notification.device.id) == ["honest"])
    // It stays known, and is not reported again, whatever the other does.
    _ = pass(120, Self.kinds(30, of: "evil", at: 120, shape: "z"))
    #expect(pass(180, Self.crash(Self.subject("honest"), at: 180, line: "pump")).outgoing.isEmpty)
  }

  @Test func `alerts that had no room before they were reported are counted by device`() throws {
    // The start is 14:30:05 UTC.
    let hours = try #require(AlertHours("15:00-16:00 UTC"))
    let rule = Self.rule(.crash(includesFailures: false)) { $0.hours = hours }
    var reading = Self.kinds(30, of: "evil")
    reading.add(Self.crash(Self.subject("honest"), at: 0, line: "pump"))
    let first = AlertPlan(
      [rule], AlertLedger(), reading, now: Self.start, offset: .zero, mostAlerts: 10)
    #expect(first.outgoing.isEmpty && first.leftOut == ["host-evil": 21])
    let second = AlertPlan(
      [rule], first.ledger, AlertReading(), now: Self.time(1800), offset: .zero, mostAlerts: 10)
    #expect(second.outgoing.count == 10 && second.leftOut.isEmpty)
    #expect(second.outgoing.contains { $0.notification.device.id == "honest" })
  }

  @Test func `a reported crash is remembered without its lines`() throws {
    let rule = Self.rule(.crash(includesFailures: false)) { $0.repeatsEvery = .zero }
    let first = AlertPlan(
      [rule], AlertLedger(), Self.crash(at: 0, line: "worker 1"), now: Self.start, offset: .zero)
    #expect(first.outgoing.first?.notification.lines == ["worker 1"])
    #expect(first.ledger.alerts.values.map(\.sample.lines) == [[]])
    // One that ended before the first, and is heard of later, has its lines.
    let second = AlertPlan(
      [rule], first.ledger, Self.crash(at: -9, line: "worker 2"), now: Self.time(60), offset: .zero)
    let message = try #require(second.outgoing.first?.notification)
    #expect(message.lines == ["worker 2"] && message.headline == "worker 2")
  }
}
