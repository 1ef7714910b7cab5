import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Fleet

/// A day of a fleet, and the requests that its alerts take.
@Suite(.tags(.medium)) struct AlertCampaignTests {
  /// 100 devices with 20 sessions each, spread over a day, some of which crash, log errors, or fall
  /// silent: each is reported, and nothing else.
  @Test func `a day of 100 devices gives no false and no missed alerts`() async throws {
    var crash = AlertRule(name: "crashed", .crash(includesFailures: false))
    crash.repeatsEvery = .zero
    var errors = AlertRule(name: "errors", .records(RecordCondition(levels: .from(.error))))
    errors.reportsEnd = false
    var silent = AlertRule(name: "silent", .silence(.seconds(3 * 3600)))
    silent.reportsEnd = false
    (errors.group, silent.group) = (.zero, .zero)
    let world = try AlertWorld([crash, errors, silent])
    var random = SeededGenerator(case: 22)
    let devices = try (0..<100).map { try world.device("d\($0)") }
    // Device 7 is silent after noon, all others send something about once an hour.
    var expected: (crashes: Set<String>, errors: Set<String>) = ([], [])
    var open: [(device: SimulatedDevice, session: SessionID, fate: Int, isDue: Int)] = []
    var begun = [Int](repeating: 0, count: devices.count)
    var told: (crashes: [String: Int], errors: Set<String>, silent: [String]) = ([:], [], [])
    var requests = TimedStore.Requests()
    _ = try await world.pass()
    for half in 0..<48 {
      for (number, device) in devices.enumerated() {
        // Twenty sessions in 48 half hours.
        let isDue = begun[number] * 48 < (half + number % 5) * 20 && begun[number] < 20
        guard isDue, number != 7 || half < 24 else { continue }
        let session = device.begin("app\(Character(Unicode.Scalar(UInt8(97 + number % 7))))")
        begun[number] += 1
        device.write("hello from \(number)", to: session)
        try device.upload(session)
        open.append((device, session, Int.random(in: 0..<40, using: &random), half + 1))
      }
      var rest: [(device: SimulatedDevice, session: SessionID, fate: Int, isDue: Int)] = []
      for one in open {
        guard one.isDue <= half else {
          rest.append(one)
          continue
        }
        switch one.fate {
        case 0:
          one.device.write("bad \(one.session)", to: one.session)
          try one.device.upload(one.session, ending: .signal(11))
          expected.crashes.insert("\(one.device.id)/\(one.session)")
        case 1:
          one.device.write("trouble", .error, to: one.session)
          try one.device.upload(one.session, ending: .exit(1))
          expected.errors.insert("\(one.device.id)/\(one.session)")
        default: try one.device.upload(one.session, ending: .exit(0))
        }
      }
      open = rest
      world.minutes(30)
      _ = world.store.takeRequests()
      try await world.pass()
      let asked = world.store.takeRequests()
      (requests.lists, requests.gets) = (
        requests.lists + asked.lists, requests.gets + asked.gets
      )
      for message in world.sender.take() {
        switch message.alert {
        case "crashed": told.crashes[message.fingerprint] = message.count
        case "errors":
          told.errors.insert("\(message.device.id)/\(message.session ?? "")")
          for other in message.others {
            told.errors.insert("\(other.device.id)/\(other.session ?? "")")
          }
        default: told.silent.append(message.device.id)
        }
      }
    }
    #expect(told.crashes.values.reduce(0, +) == expected.crashes.count)
    #expect(expected.crashes.count > 20)
    // One kind of crash for each of the seven programs.
    #expect(told.crashes.count == 7)
    #expect(told.errors == expected.errors)
    #expect(Set(told.silent) == ["d7"])
    // Each pass: the devices, their folders, and today's. A name for each device, a sidecar and a
    // segment for each session, and for each end with something new. Yesterday's folder is listed
    // until six in the morning, and all folders four times.
    #expect(requests.lists <= 48 * (1 + 100 * 2) + 12 * 100 + 8 * 100, "\(requests)")
    #expect(
      requests.gets <= 200 + 2 * (2000 + expected.errors.count + expected.crashes.count),
      "\(requests)")
  }

  /// The usual case: a server with an open session that sends a segment a minute, and a pass every
  /// five minutes.
  @Test(arguments: [false, true])
  func `a pass over a running server costs a fixed number of requests`(
    readsRecords: Bool
  ) async throws {
    var rules = [AlertRule(name: "crashed", .crash(includesFailures: true))]
    if readsRecords {
      rules.append(AlertRule(name: "hits", .records(RecordCondition(pattern: "hit"))))
    }
    let world = try AlertWorld(rules)
    let device = try world.device("d1")
    let session = device.begin("server")
    device.write("up", to: session)
    try device.upload(session)
    try await world.pass()
    _ = world.store.takeRequests()
    let passes = 36
    for _ in 0..<passes {
      for _ in 0..<5 {
        world.minutes(1)
        device.write("tick", to: session)
        try device.upload(session)
      }
      try await world.pass()
    }
    let asked = world.store.takeRequests()
    // Each pass lists today's folder; every third also the devices and the day folders.
    #expect(asked.lists == passes + 2 * (passes / 3), "\(asked)")
    // With rules on records: each segment once.
    #expect(asked.gets == (readsRecords ? passes * 5 : 0), "\(asked)")
  }
}
