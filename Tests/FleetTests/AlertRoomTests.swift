import Foundation
import LogRecords
import Platform
import SessionLog
import TestServers
import TestSupport
import Testing

@testable import Fleet

/// The file between passes: whatever devices send, it can be read again, and no device takes the room
/// of others.
@Suite(.tags(.medium)) struct AlertRoomTests {
  private let hostile = String(repeating: "\u{e0041}", count: 1024)

  /// A small room: 30,000 bytes, of which alerts and messages get 10,000 each.
  private static let room: AlertState.Room = {
    var room = AlertState.Room()
    (room.whole, room.alerts, room.rates, room.outbox) = (15_000, 10_000, 1000, 10_000)
    return room
  }()

  private func length(_ value: some Encodable) throws -> Int {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value).count
  }

  private func state(of world: AlertWorld) throws -> AlertState {
    try AlertState.load(world.path) { Issue.record("\($0)") }
  }

  @Test func `the longest sessions that fit are shorter than the file may be`() throws {
    let world = try AlertWorld()
    let device = try world.device("evilevilevilevil")
    let id = device.begin(hostile, version: hostile) {
      ($0.userId, $0.deviceName) = (hostile, hostile)
    }
    let sidecar = try #require(device.sessions[id]?.sidecar)
    var session = AlertCursors.Session()
    (session.revision, session.unreadable, session.status) = (9999, 9999, .terminated)
    session.end = StreamOffset(999_999_999_999)
    let time = ServerTime(milliseconds: 1_769_092_205_123)
    (session.newest, session.missingSince) = (time, time)
    let name = id.description.utf8.count + 4
    #expect(try name + length(session) <= SessionRoom.longestSession)
    session.facts = SessionFacts(sidecar)
    let longest = SessionRoom.longestSession * SessionRoom.factsFactor
    #expect(try name + length(session) <= longest)
    #expect(SessionRoom.standard * SessionRoom.longestSession <= AlertState.longest / 5 * 3)
  }

  /// The state was set aside in each pass, and with it what others had to report.
  @Test func `long texts of one device neither lose the state nor hide the errors of another`()
    async throws
  {
    let world = try AlertWorld([
      AlertRule(name: "crashed", .crash(includesFailures: false)),
      AlertRule(name: "errors", .records(RecordCondition(levels: .from(.error)))),
    ])
    world.rules[0].targets = ["hook"]
    // The messages of one pass fit, as they do in the product's room.
    world.room = Self.room
    world.room.outbox = 300_000
    try await world.pass()
    let (evil, honest) = (try world.device("d1"), try world.device("d2"))
    let running = honest.begin("player")
    honest.write("fine", to: running)
    try honest.upload(running)
    world.minutes(16)
    try await world.pass()
    world.sender.setDown("hook", true)
    var problems: [String] = []
    for round in 0..<3 {
      for number in 0..<25 {
        let session = evil.begin("a\(round)" + String(repeating: "b", count: number))
        for _ in 0..<5 { evil.write(hostile, .error, to: session) }
        try evil.upload(session, ending: .signal(11))
      }
      if round == 2 {
        let crashed = honest.begin("pump")
        try honest.upload(crashed, ending: .signal(6))
        honest.write("the honest device fails", .error, to: running)
        try honest.upload(running)
      }
      world.minutes(16)
      problems += try await world.pass().problems
    }
    let isSaid = problems.contains {
      $0.hasPrefix("host-d1: ") && $0.contains("messages are left out")
    }
    #expect(isSaid, "\(problems)")
    #expect(!problems.contains { $0.hasPrefix("host-d2: ") })
    let errors = world.sender.take().filter { $0.alert == "errors" }
    let named = errors.flatMap { [$0.device.id] + $0.others.map(\.device.id) }
    #expect(named.contains("d2"))
    #expect(try length(state(of: world).outbox) <= 310_000)
    world.sender.setDown("hook", false)
    for _ in 0..<20 {
      world.minutes(1)
      try await world.pass()
    }
    #expect(world.sender.take().contains { $0.alert == "crashed" && $0.device.id == "d2" })
  }

  @Test func `alerts, counts and messages that do not fit are those of the greedy`() throws {
    var state = AlertState()
    state.cursors = ["used": AlertCursors(), "other": AlertCursors()]
    let now = Timestamp(milliseconds: 1_769_092_205_123).assumingSynchronizedClocks
    for number in 0..<50 {
      let device = number == 25 ? "honest" : "evil"
      let subject = AlertSubject(device: device, deviceName: "host-\(device)")
      var sample = AlertSample(subject)
      sample.lines = [device == "honest" ? "the pump fails" : LineText.sanitized(hostile)]
      let match = AlertMatch(key: "\(number)", count: 1, first: now, last: now, sample: sample)
      let alert = Alert(rule: "r", key: match.key, match, at: now)
      let id = AlertFingerprint.make(["r", match.key])
      state.ledger.alerts[id] = alert
      var window = RateWindow(of: device)
      _ = window.add([Int64(number): 1, Int64(number) + 1: 2], within: .seconds(600))
      state.ledger.rates["r", default: [:]][match.key] = window
      let message = AlertNotification(alert, .firing, fingerprint: id, new: 1, at: now)
      state.outbox.append(
        OutgoingAlert(
          target: "", notification: message, decidedAt: now.asLocal(offset: .zero)))
    }
    let lines = try state.fit(Self.room, reading: "used")
    #expect(lines.count == 3 && lines.allSatisfy { $0.contains("evil: ") }, "\(lines)")
    #expect(state.cursors.keys.sorted() == ["used"])
    #expect(state.ledger.alerts.values.contains { $0.sample.subject.device == "honest" })
    #expect(state.ledger.rates["r"]?["25"] != nil)
    #expect(state.outbox.contains { $0.notification.device.id == "honest" })
    #expect(try length(state) < 30_000)
    let before = state
    let more = try state.fit(AlertState.Room(), reading: "used")
    #expect(more.isEmpty && state == before)
  }

  @Test func `each device has room for sessions, even if others have taken all`() async throws {
    let world = try AlertWorld()
    world.sessionLimit = 24
    try await world.pass()
    let devices = try (1...4).map { try world.device("d\($0)") }
    for device in devices.prefix(3) {
      for _ in 0..<50 { try device.upload(device.begin(), ending: .exit(0)) }
    }
    world.minutes(20)
    try await world.pass()
    func counts() throws -> [String: Int] {
      try #require(try state(of: world).cursors.values.first).devices.mapValues(\.sessionCount)
    }
    #expect(try counts().values.reduce(0, +) == 24)
    let session = devices[3].begin("player")
    try devices[3].upload(session, ending: .signal(11))
    world.minutes(20)
    try await world.pass()
    #expect(world.sender.take().map(\.session) == [session.description])
    #expect(try counts()["d4"] == 1)
    #expect(try counts().values.reduce(0, +) == 24)
    world.minutes(20)
    try await world.pass()
    #expect(world.sender.take().isEmpty)
  }
}
