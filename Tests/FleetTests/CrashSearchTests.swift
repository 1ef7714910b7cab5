import LogRecords
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Fleet

@Suite(.tags(.medium)) struct CrashSearchTests {
  @Test func `crashes are found by object names and grouped by signature`() async throws {
    let clock = TestClock()
    let store = TimedStore(clock)
    let devices = try ["d1", "d2", "d3"].map { try SimulatedDevice($0, store) }
    for (number, device) in devices.enumerated() {
      for round in 0..<4 {
        clock.advance(seconds: 3600)
        let session = device.begin("player", version: "1.\(number + round)")
        device.write("worker \(round) gone", .error, to: session)
        try device.upload(
          session, ending: round == 0 ? .exit(0) : round == 1 ? .exit(3) : .signal(11))
      }
    }
    _ = store.takeRequests()
    let since = clock.now() - .hours(10)
    let search = CrashSearch(
      store, knowing: nil, since: since, at: clock.now(), includesFailures: false)
    let crashes = try await search.crashes(of: ["d1", "d2", "d3"]) { _ in }
    // Only the sidecars of crashes are fetched.
    #expect(store.takeRequests().gets == 6)
    let groups = CrashGroup.groups(of: crashes)
    #expect(groups.count == 1)
    #expect(groups[0].count == 6 && groups[0].devices == ["host-d1", "host-d2", "host-d3"])
    #expect(groups[0].firstVersion == "1.2" && groups[0].lastVersion == "1.5")
    #expect(groups[0].signature.title == "worker <n> gone")
    let all = CrashSearch(
      store, knowing: nil, since: since, at: clock.now(), includesFailures: true)
    #expect(
      CrashGroup.groups(of: try await all.crashes(of: ["d1", "d2", "d3"]) { _ in }).count == 2)
  }

  @Test func `a summary lists each device's activity, crashes and errors`() async throws {
    let clock = TestClock()
    let store = TimedStore(clock)
    let old = try SimulatedDevice("old", store)
    try old.upload(old.begin("former", version: "0.9"), ending: .exit(0))
    let seen = clock.now()
    clock.advance(seconds: 40 * 86_400)
    let device = try SimulatedDevice("new", store)
    let crashed = device.begin("player", version: "1.4") {
      $0.levels = ["ERROR": 3, "FAULT": 1, "INFO": 9]
    }
    device.write("x", to: crashed)
    try device.upload(crashed, ending: .signal(11))
    clock.advance(seconds: 60)
    let open = device.begin("player", version: "1.5")
    device.write("y", to: open)
    try device.upload(open)
    let records = try await DeviceRecord.all(in: store)
    let found = try await DeviceSummary.read(records, in: store, knowing: nil, now: clock.now())
    let summaries = Dictionary(uniqueKeysWithValues: found.map { ($0.deviceId, $0) })
    #expect(summaries["old"]?.lastSeen == seen && summaries["old"]?.version == "0.9")
    let new = try #require(summaries["new"])
    #expect(new.lastSeen == clock.now() && new.crashes == 1 && new.errors == 4)
    #expect(new.openSessions == 1 && new.version == "1.5" && new.waitingBytes == 0)
  }

  @Test func `unsigned sessions of a signing device are reported and not counted`()
    async throws
  {
    let clock = TestClock()
    let store = TimedStore(clock)
    let device = try SimulatedDevice("device", store)
    let session = device.begin("player")
    device.write("gone", .error, to: session)
    try device.upload(session)
    clock.advance(seconds: 60)
    let home = try TestHome()
    try home.home.create()
    let key = try DeviceKey(
      deviceId: "device", created: Timestamp(milliseconds: 0), seed: Array(repeating: 7, count: 32))
    let keys = KnownKeys(home.home, named: [:], own: key)
    let rule = AlertRule(name: "errors", .records(RecordCondition()))
    func passes(_ keys: KnownKeys?) async throws -> AlertReading {
      var cursors = AlertCursors()
      return try await AlertScan(
        store, knowing: keys, [rule], now: clock.now().assumingSynchronizedClocks
      ).read(&cursors)
    }
    #expect(try await passes(nil).records.count == 1)
    let refused = try await passes(keys)
    #expect(refused.records.isEmpty)
    #expect(refused.problems.first?.contains("is not signed") == true)

    try device.upload(session, ending: .signal(11))
    let search = CrashSearch(
      store, knowing: keys, since: clock.now() - .hours(1), at: clock.now(),
      includesFailures: true)
    var problems: [String] = []
    #expect(try await search.crashes(of: ["device"]) { problems.append($0) }.isEmpty)
    #expect(problems.first?.contains("is not signed") == true)
    let records = try await DeviceRecord.all(in: store)
    for (keys, crashes) in [(nil, 1), (keys, 0)] {
      let found = try await DeviceSummary.read(
        records, in: store, knowing: keys, now: clock.now())
      #expect(found.map(\.crashes) == [crashes])
      #expect(found.map(\.rejected) == [crashes == 0 ? [session] : []])
    }
  }

  /// What anybody with write access can put over a crash.
  @Test(arguments: ["an open revision", "an end with status 0", "no revision"])
  func `a crash that a forged name hides is named`(forgery: String) async throws {
    let clock = TestClock()
    let store = TimedStore(clock)
    let device = try SimulatedDevice("device", store)
    let session = device.begin("player")
    device.write("gone", .error, to: session)
    try device.upload(session, ending: .signal(11))
    let folder = SessionFolder(device: "device", session: session)
    if forgery == "no revision" {
      let listing = try await FolderListing(folder, in: store)
      for revision in listing[session, in: folder].revisions {
        store[folder.key + revision.fileName] = nil
      }
    } else {
      let json = Array("{}".utf8)
      let name = RevisionName(
        session: session, number: 9, status: forgery == "an open revision" ? .active : .terminated,
        length: 0, json: json)
      store[folder.key + name.fileName] = json
    }
    let home = try TestHome()
    try home.home.create()
    let key = try DeviceKey(
      deviceId: "device", created: Timestamp(milliseconds: 0), seed: Array(repeating: 7, count: 32))
    let keys = KnownKeys(home.home, named: [:], own: key)
    clock.advance(seconds: 10)
    let rule = AlertRule(name: "crashes", .crash(includesFailures: false))
    var cursors = AlertCursors()
    func read() async throws -> (crashes: [String], alerts: [String]) {
      var found: [String] = []
      let search = CrashSearch(
        store, knowing: keys, since: clock.now() - .days(1), at: clock.now(),
        includesFailures: false)
      #expect(try await search.crashes(of: ["device"]) { found.append($0) }.isEmpty)
      let scan = AlertScan(
        store, knowing: keys, [rule], now: clock.now().assumingSynchronizedClocks)
      return (found, try await scan.read(&cursors).problems)
    }
    let first = try await read()
    clock.advance(seconds: 3600)
    let second = try await read()
    // Log bytes come before the first revision, for a moment.
    let named =
      forgery == "no revision" ? [second.crashes, second.alerts] : [first.crashes, first.alerts]
    for problems in named {
      #expect(problems.count == 1 && problems[0].hasPrefix("\(session): "), "\(problems)")
    }
    if forgery == "no revision" { #expect(first.crashes.isEmpty && first.alerts.isEmpty) }
    #expect(try await read().alerts.isEmpty)
  }
}
