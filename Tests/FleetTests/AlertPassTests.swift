import Foundation
import LogRecords
import Platform
import Replica
import SessionLog
import TestServers
import TestSupport
import Testing

@testable import Fleet

/// Passes over a store in memory: what they read, report and remember, and how many requests that
/// takes.
@Suite(.tags(.medium)) struct AlertPassTests {
  typealias World = AlertWorld

  private static func rule(
    _ name: String, _ condition: AlertRule.Condition, _ change: (inout AlertRule) -> Void = { _ in }
  ) -> AlertRule {
    var rule = AlertRule(name: name, condition)
    change(&rule)
    return rule
  }

  @Test func `a crash alerts once, in the first pass after its upload`() async throws {
    let world = try World()
    try await world.pass()
    let device = try world.device("d1")
    let session = device.begin("player", version: "1.4")
    device.write("worker 7 failed", .error, to: session)
    try device.upload(session)
    world.minutes(20)
    try await world.pass()
    #expect(world.sender.take().isEmpty)
    try device.upload(session, ending: .signal(11))
    world.minutes(5)
    try await world.pass()
    let message = try #require(world.sender.take().first)
    #expect(message.text.contains("player on host-d1: signal 11 (SIGSEGV); worker 7 failed; "))
    #expect(message.session == session.description && message.version == "1.4")
    #expect(message.lines.last?.hasSuffix("worker 7 failed") == true)
    for _ in 0..<20 {
      world.minutes(60)
      try await world.pass()
    }
    #expect(world.sender.take().isEmpty)
  }

  @Test func `very many sessions of a device do not hide those of others`() async throws {
    let world = try World()
    world.sessionLimit = 12
    try await world.pass()
    let flooded = try world.device("d1")
    for _ in 0..<50 { try flooded.upload(flooded.begin()) }
    world.minutes(20)
    let first = try await world.pass()
    #expect(first.problems.count == 1)
    #expect(first.problems.first?.hasPrefix("d1: 40 sessions are left out") == true)
    let honest = try world.device("d2")
    let session = honest.begin("player")
    try honest.upload(session, ending: .signal(11))
    world.minutes(20)
    #expect(try await world.pass().problems.isEmpty)
    #expect(world.sender.take().map(\.session) == [session.description])
    let state = try AlertState.load(world.path) { Issue.record("\($0)") }
    let devices = try #require(state.cursors.values.first).devices
    #expect(devices.mapValues(\.sessionCount) == ["d1": 10, "d2": 1])
    // The next day it is said again.
    world.minutes(24 * 60)
    #expect(try await world.pass().problems.count == 1)
  }

  @Test func `the first device of a store alerts in the next pass`() async throws {
    let world = try World()
    try await world.pass()
    let device = try world.device("d1")
    let session = device.begin("player")
    try device.upload(session, ending: .signal(11))
    world.minutes(1)
    try await world.pass()
    #expect(world.sender.take().map(\.session) == [session.description])
  }

  @Test func `a program that exits with 0 or is asked to end is no failure`() async throws {
    let world = try World([
      Self.rule("failed", .crash(includesFailures: true)) { $0.scope = .session }
    ])
    let device = try world.device("d1")
    try await world.pass()
    var failed: [String] = []
    for ending in [.exit(0), .signal(15), .exit(3), .signal(11)] as [ExitCause] {
      let session = device.begin()
      try device.upload(session, ending: ending)
      if ending.isFailure { failed.append(session.description) }
    }
    world.minutes(5)
    try await world.pass()
    #expect(world.sender.take().compactMap(\.session).sorted() == failed.sorted())
  }

  @Test func `a first pass and a lost state alert on nothing old`() async throws {
    let world = try World([
      Self.rule("crashed", .crash(includesFailures: true)),
      Self.rule("errors", .records(RecordCondition(levels: .from(.error)))),
    ])
    let device = try world.device("d1")
    let running = device.begin("server")
    device.write("old trouble", .error, to: running)
    try device.upload(running)
    let crashed = device.begin()
    device.write("old", .error, to: crashed)
    try device.upload(crashed, ending: .reboot)
    world.minutes(61)
    // The newest object of this session is recent, its end is not.
    let late = device.begin { $0.endedAt = Timestamp(milliseconds: 1_769_092_205_123) }
    try device.upload(late, ending: .exit(3))
    try await world.pass()
    #expect(world.sender.take().isEmpty)

    let recent = device.begin("recent")
    device.write("new trouble", .error, to: recent)
    try device.upload(recent, ending: .signal(9))
    world.minutes(30)
    try await world.pass()
    #expect(Set(world.sender.take().map(\.alert)) == ["crashed", "errors"])

    // State lost: events of the last hour are reported again, and nothing else.
    try FileManager.default.removeItem(atPath: world.path)
    try await world.pass()
    #expect(world.sender.take().map(\.app) == ["recent", "recent"])
    try Array("{".utf8).withUnsafeBytes { try Data($0).write(to: URL(filePath: world.path)) }
    world.minutes(61)
    try await world.pass()
    #expect(world.sender.take().isEmpty)
    #expect(FileManager.default.fileExists(atPath: world.path + ".damaged"))
    // Later events are reported.
    device.write("more trouble", .error, to: running)
    try device.upload(running)
    world.minutes(1)
    try await world.pass()
    #expect(world.sender.take().map(\.lines.count) == [1])
  }

  @Test func `a device that reconnects alerts on crashes in the meantime`() async throws {
    let world = try World()
    let device = try world.device("d1")
    let first = device.begin()
    try device.upload(first, ending: .exit(0))
    try await world.pass()
    // Two days without a network; one session of the first day, one of the second.
    world.minutes(60)
    let early = device.begin("early")
    for _ in 0..<48 {
      world.minutes(60)
      try await world.pass()
    }
    let late = device.begin("late")
    try device.upload(early, ending: .signal(11))
    try device.upload(late, ending: .signal(11))
    world.minutes(5)
    try await world.pass()
    #expect(Set(world.sender.take().map(\.app)) == ["early", "late"])
  }

  @Test func `each matching record is counted once`() async throws {
    let world = try World([
      Self.rule("errors", .records(RecordCondition(levels: .from(.error)))) {
        ($0.repeatsEvery, $0.group) = (.zero, .zero)
      },
      Self.rule(
        "declined", .records(RecordCondition(pattern: "DECLINED|refused", ignoresCase: true))
      ) {
        ($0.repeatsEvery, $0.group) = (.zero, .zero)
        $0.filter.apps = [NamePattern("pay*")]
      },
    ])
    try await world.pass()
    let device = try world.device("d1")
    let session = device.begin("payment")
    let other = device.begin("other")
    world.minutes(16)
    for round in 0..<5 {
      device.write("fine", to: session)
      device.write("card declined \(round)", to: session)
      if round == 2 { device.write("boom", .fault, to: session) }
      device.write("declined", to: other)
      try device.upload(session)
      try device.upload(other)
      world.minutes(1)
      try await world.pass()
      let told = world.sender.take()
      #expect(told.filter { $0.alert == "declined" }.map(\.count) == [round + 1])
      #expect(told.filter { $0.alert == "errors" }.map(\.level) == (round == 2 ? ["FAULT"] : []))
    }
  }

  @Test func `filters select by app, user, device, category and scenario`() async throws {
    var rules: [AlertRule] = []
    for (name, change) in [
      ("app", { $0.filter.apps = [NamePattern("kiosk-*")] }),
      ("user", { $0.filter.users = [NamePattern("anna")] }),
      ("device", { $0.filter.devices = [NamePattern("host-d1")] }),
      ("category", { $0.filter.categories = [NamePattern("Net")] }),
      ("scenario", { $0.filter.scenarios = [NamePattern("Sync")] }),
      ("none", { $0.filter.apps = [NamePattern("x")] }),
    ] as [(String, (inout AlertRule) -> Void)] {
      rules.append(Self.rule(name, .records(RecordCondition(pattern: "hit")), change))
    }
    let world = try World(rules)
    try await world.pass()
    world.minutes(16)
    let one = try world.device("d1")
    let other = try world.device("d2")
    let net = one.begin("a")
    one.write("x", to: net)
    try one.upload(net)
    let kiosk = other.begin("kiosk-07") { $0.userId = "anna" }
    other.write("hit", to: kiosk)
    try other.upload(kiosk)
    let named = other.begin("b")
    other.writeLine("[INFO] [Net] {Sync} hit", to: named)
    try other.upload(named)
    try await world.pass()
    #expect(Set(world.sender.take().map(\.alert)) == ["app", "user", "category", "scenario"])
    one.write("hit", to: net)
    try one.upload(net)
    world.minutes(2)
    try await world.pass()
    #expect(world.sender.take().filter { $0.state == .firing }.map(\.alert) == ["device"])
  }

  @Test func `silence is measured by the server's clock, not during an outage`() async throws {
    let world = try World(
      [
        Self.rule("silent", .silence(.seconds(1800))) {
          $0.filter.devices = [NamePattern("host-*")]
        }
      ],
      offset: .seconds(-7200))
    let device = try world.device("d1")
    let session = device.begin()
    device.write("x", to: session)
    try device.upload(session)
    try await world.pass()
    world.minutes(29)
    try await world.pass()
    #expect(world.sender.take().isEmpty)
    world.store.setDown(true)
    world.minutes(60)
    let report = try await world.pass()
    #expect(report.storeError != nil && world.sender.take().isEmpty)
    world.store.setDown(false)
    try await world.pass()
    #expect(
      world.sender.take().map(\.text) == [
        "silent: host-d1: silent since 2026-01-22T12:30:05.123Z"
      ])
  }

  @Test func `a message of unknown delivery is sent again with the same key`() async throws {
    struct Killed: Error {}
    /// Delivers, and dies before the delivery is recorded.
    struct Dying: AlertSender {
      let sender: RecordingSender
      func send(_ message: AlertNotification, to target: String) async -> String? {
        _ = await sender.send(message, to: target)
        return "killed"
      }
    }
    let world = try World()
    try await world.pass()
    let device = try world.device("d1")
    world.minutes(16)
    let session = device.begin()
    try device.upload(session, ending: .signal(6))
    try await world.pass(Dying(sender: world.sender))
    let first = try #require(world.sender.take().first)
    for _ in 0..<10 {
      world.minutes(1)
      try await world.pass()
    }
    #expect(world.sender.take().map(\.id) == [first.id])
  }

  @Test func `a target that fails for an hour then gets all messages in order`() async throws {
    let world = try World([
      Self.rule("crashed", .crash(includesFailures: false)) { $0.targets = ["hook", "mail"] }
    ])
    try await world.pass()
    let device = try world.device("d1")
    world.sender.setDown("hook", true)
    world.minutes(16)
    var attempts = 0
    for minute in 0..<60 {
      if minute % 20 == 0 {
        let session = device.begin("app\(Character(Unicode.Scalar(UInt8(97 + minute / 20))))")
        try device.upload(session, ending: .signal(6))
      }
      let before = try AlertState.load(world.path) { _ in }.failing["hook"]?.attempts ?? 0
      let report = try await world.pass()
      attempts += (report.failing["hook"]?.attempts ?? 0) > before ? 1 : 0
      world.minutes(1)
    }
    #expect((5...9).contains(attempts), "\(attempts) attempts")
    #expect(world.sender.sent.map(\.target) == ["mail", "mail", "mail"])
    world.sender.setDown("hook", false)
    for _ in 0..<16 {
      try await world.pass()
      world.minutes(1)
    }
    let hook = world.sender.sent.filter { $0.target == "hook" }.map(\.message.app)
    #expect(hook == ["appa", "appb", "appc"])
    let mail = world.sender.sent.filter { $0.target == "mail" }.map(\.message.id)
    #expect(mail.count == 3 && Set(mail).count == 3)
  }

  @Test func `an undeliverable message is dropped after a day`() async throws {
    let world = try World([
      Self.rule("crashed", .crash(includesFailures: false)) { $0.targets = ["hook"] }
    ])
    try await world.pass()
    world.sender.setDown("hook", true)
    let device = try world.device("d1")
    world.minutes(16)
    try device.upload(device.begin(), ending: .signal(6))
    try await world.pass()
    world.minutes(24 * 60 + 1)
    let report = try await world.pass()
    #expect(report.lost.count == 1 && report.undelivered == 0)
  }

  @Test func `a damaged sidecar or segment is reported and skipped`() async throws {
    let world = try World([
      Self.rule("crashed", .crash(includesFailures: false)),
      Self.rule("errors", .records(RecordCondition(levels: .from(.error)))),
    ])
    try await world.pass()
    world.minutes(16)
    let device = try world.device("d1")
    let crashed = device.begin()
    try device.upload(crashed, ending: .signal(6))
    let running = device.begin("server")
    device.write("boom", .error, to: running)
    try device.upload(running)
    for key in world.store.keys where key.contains(crashed.description) || key.hasSuffix(".zst") {
      world.store[key]?[5] ^= 0xff
    }
    let report = try await world.pass()
    #expect(report.problems.count == 2, "\(report.problems)")
    #expect(world.sender.take().map(\.cause) == ["unknown"])
    #expect(try await world.pass().problems.isEmpty)
  }

  @Test func `a crash is reported after an end that cannot be read`() async throws {
    let world = try World([Self.rule("crashed", .crash(includesFailures: false))])
    try await world.pass()
    world.minutes(16)
    let device = try world.device("d1")
    let session = device.begin()
    try device.upload(session)
    try await world.pass()
    let json = Array("{}".utf8)
    let folder = SessionFolder(device: "d1", session: session)
    let name = RevisionName(
      session: session, number: 9, status: .crashed, length: 0, json: json)
    world.store[folder.key + name.fileName] = json
    world.minutes(16)
    #expect(try await world.pass().problems.count == 1)
    #expect(try await world.pass().problems.isEmpty)
    #expect(world.sender.take().map(\.cause) == ["unknown"])
    world.store[folder.key + name.fileName] = nil
    try device.upload(session, ending: .signal(11))
    world.minutes(16)
    try await world.pass()
    #expect(world.sender.take().map(\.cause) == ["signal 11 (SIGSEGV)"])
  }

  @Test func `text from logs and sidecars is escaped in every message form`() async throws {
    let bad = "\u{1b}]0;x\u{7}`$(id)`\r\n\u{202e}<!channel>\u{9b}31m\u{0}"
    let world = try World([
      Self.rule("crashed", .crash(includesFailures: false)),
      Self.rule("hits", .records(RecordCondition(pattern: "id"))),
    ])
    try await world.pass()
    world.minutes(16)
    let device = try world.device("d1")
    let session = device.begin(bad + "app", version: bad) {
      ($0.userId, $0.deviceName) = (bad, bad + String(repeating: "x", count: 9000))
    }
    device.write(bad + String(repeating: "y", count: 9000), .error, to: session)
    try device.upload(session, ending: .signal(6))
    try await world.pass()
    let messages = world.sender.take()
    #expect(messages.count == 2)
    for message in messages {
      for form in Webhook.Form.allCases {
        let (headers, body) = try AlertBody.of(message, form)
        #expect(body.count < 20_000)
        for (name, value) in headers {
          #expect((name + value).utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
        }
        let text: String
        switch form {
        case .json, .slack:
          let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
          let texts = Self.texts(try #require(object))
          text = texts.joined(separator: "\n")
          if form == .slack {
            #expect(!text.contains("<!") && text.contains("&lt;!channel&gt;"))
            #expect(text.hasPrefix("```\n") && text.hasSuffix("\n```"))
            #expect(!text.dropFirst(3).dropLast(3).contains("`"))
          }
        case .ntfy, .text: text = String(decoding: body, as: UTF8.self)
        }
        let isHarmless = text.unicodeScalars.allSatisfy { scalar in
          scalar == "\n"
            || (scalar.value >= 0x20 && !(0x7f...0x9f).contains(scalar.value)
              && scalar.value != 0x202e)
        }
        #expect(isHarmless)
        #expect(!message.text.contains("\n"))
      }
    }
  }

  private static func texts(_ value: Any) -> [String] {
    switch value {
    case let text as String: [text]
    case let list as [Any]: list.flatMap(texts)
    case let object as [String: Any]: object.values.flatMap(texts)
    default: []
    }
  }

  @Test func `only one pass holds the lock at a time`() async throws {
    let world = try World()
    let pass = AlertPass(world.rules, state: world.path) { Timestamp(milliseconds: 0) }
    let lock = try pass.lock()
    #expect(lock != nil)
    #expect(try pass.lock() == nil)
    withExtendedLifetime(lock) {}
  }

  /// Since when the pass that has the lock has run, by the clock of another one.
  @Test(arguments: [
    (599, 10_000, false), (700, 10_000, true), (700, 500, false), (-700, 10_000, false),
  ])
  func `a pass that has run for too long is noticed`(
    age: Int, uptime: Int, isNoticed: Bool
  ) throws {
    let world = try World()
    let start = Timestamp.now()
    let lock = try #require(
      try AlertPass(world.rules, state: world.path) { start }.lock())
    // The lock's time is that of the file system, up to a few seconds after the start.
    let later = AlertPass(world.rules, state: world.path) { start + .seconds(age) }
    #expect(try later.lock() == nil)
    #expect(try (later.busySince(up: .seconds(uptime)) != nil) == isNoticed)
    withExtendedLifetime(lock) {}
  }
}
