import Platform
import SessionLog
import TestSupport
import Testing

@testable import Fleet

/// Ends of a silent device's alert without anything sent by the device.
@Suite(.tags(.medium)) struct RetiredDeviceTests {
  private static func rule(_ change: (inout AlertRule) -> Void = { _ in }) -> AlertRule {
    var rule = AlertRule(name: "silent", .silence(.seconds(1800)))
    change(&rule)
    return rule
  }

  /// Its sessions leave the store on their 20th day; another device keeps sending.
  @Test func `a device without sessions in the store is gone, not silent`() async throws {
    let world = try AlertWorld([Self.rule()])
    let retired = try world.device("d1")
    let other = try world.device("d2")
    try retired.upload(retired.begin(), ending: .exit(0))
    let server = other.begin("server")
    try other.upload(server)
    try await world.pass()
    func pass(hours: Int) async throws -> [String] {
      world.minutes(Int64(hours) * 60 - 1)
      other.write("tick", to: server)
      try other.upload(server)
      world.minutes(1)
      _ = world.store.takeRequests()
      try await world.pass()
      return world.sender.take().map(\.text)
    }
    #expect(try await pass(hours: 6) == ["silent: host-d1: silent since 2026-01-22T14:30:05.123Z"])
    for _ in 0..<79 { #expect(try await pass(hours: 6).count == 1) }
    // The devices, the folders of each, a folder of the retired one and three of the other at most.
    #expect(world.store.takeRequests().lists <= 1 + 2 + 2 + 2 + 1)
    for key in world.store.keys where key.hasPrefix("devices/d1/2") { world.store[key] = nil }
    var told: [String] = []
    for _ in 0..<12 { told += try await pass(hours: 6) }
    #expect(told.count < 12 && told.count > 7, "\(told.count)")
    #expect(told.last == "silent resolved: host-d1: nothing of it is left in the store")
    // It comes back, and is silent again.
    try retired.upload(retired.begin(), ending: .exit(0))
    #expect(try await pass(hours: 6).count == 1)
  }

  private static func heard(_ seconds: Int64) -> AlertReading {
    var reading = AlertReading()
    let device = AlertSubject(device: "d1", deviceName: "host-d1")
    reading.heard = [.init(device, newest: AlertPlanTests.time(seconds))]
    return reading
  }

  private func texts(_ passes: [(rule: AlertRule, at: Int64, sees: AlertReading)]) -> [[String]] {
    var ledger = AlertLedger()
    return passes.map { rule, seconds, reading in
      let plan = AlertPlan(
        [rule], ledger, reading, now: AlertPlanTests.time(seconds), offset: .zero)
      ledger = plan.ledger
      return plan.outgoing.map(\.notification.text)
    }
  }

  private static let since = "silent: host-d1: silent since 2026-01-22T14:30:05.123Z"

  @Test func `a device silent beyond the limit is given up until it is heard again`() {
    let day: Int64 = 86_400
    let rule = Self.rule { ($0.givesUpAfter, $0.repeatsEvery) = (.days(7), .days(30)) }
    let told = texts([
      (rule, 0, Self.heard(0)), (rule, 1801, Self.heard(0)), (rule, 7 * day, Self.heard(0)),
      (rule, 7 * day + 301, Self.heard(0)), (rule, 9 * day, Self.heard(0)),
      (rule, 9 * day + 60, Self.heard(9 * day)), (rule, 9 * day + 1801, Self.heard(9 * day)),
    ])
    #expect(
      told == [
        [], [Self.since], [],
        ["silent resolved: host-d1: silent for more than 7d, and given up"], [], [],
        ["silent: host-d1: silent since 2026-01-31T14:30:05.123Z"],
      ])
  }

  @Test func `an alert resolves when its rule no longer covers the device`() {
    let narrow = Self.rule { $0.filter.devices = [NamePattern("host-d2")] }
    let told = texts([
      (Self.rule(), 0, Self.heard(0)), (Self.rule(), 1801, Self.heard(0)),
      (narrow, 1900, Self.heard(0)), (narrow, 2101, Self.heard(0)),
    ])
    #expect(
      told == [
        [], [Self.since], [],
        ["silent resolved: host-d1: the rule does not look at it any more"],
      ])
  }
}
