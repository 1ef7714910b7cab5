import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync
import TestSupport
import Testing

@Suite(.tags(.medium)) struct ReapTests {
  private static let day: Int64 = 86_400

  private func localPlan(_ site: Site, _ retention: Retention = Retention()) async throws
    -> ReapPlan
  {
    try await LocalReaper(site.context()).plan(retention)
  }

  @Test func `a proven session is reaped after seven days`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    // The remains of a process killed while replacing the sidecar.
    let left = site.local.home.files(for: session).sidecar + ".abc123.tmp"
    try Data("{".utf8).write(to: URL(filePath: left))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day - 1)
    #expect(try await localPlan(site).isEmpty)
    site.local.clock.advance(seconds: 1)
    let plan = try await localPlan(site)
    #expect(plan.local.map(\.session) == [session])
    let reaper = LocalReaper(try site.context())
    #expect(try reaper.execute(plan).allSatisfy { $0.error == nil })
    #expect(try site.local.home.days() == [])
  }

  /// What a killed import has unpacked is as long as a log, and nothing counts it.
  @Test(arguments: [false, true])
  func `files of killed processes in day folders go after a day`(_ hasStore: Bool) async throws {
    let site = try Site()
    let files = site.local.home.files(for: try site.local.session(Array("x\n".utf8)))
    let left = files.log + ".abc123.tmp"
    try Data("unpacked".utf8).write(to: URL(filePath: left))
    func reap(after age: Int64) async throws {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date.addingTimeInterval(-Double(age))],
        ofItemAtPath: left)
      let lock = try #require(try HomeLock.acquire(site.local.home))
      guard !hasStore else {
        OpenSessionReview(try site.context()).runIfDue(holding: lock)
        return site.local.clock.advance(seconds: Self.day)
      }
      let lived = try LivedClock(home: site.local.home, machine: site.local.clock.machine)
      let reaper = LocalReaper(home: site.local.home, lived: lived, now: site.local.clock.now())
      _ = try await reaper.execute(reaper.plan(Retention()), Retention(), holding: lock)
    }
    try await reap(after: Self.day - 60)
    #expect(File.exists(left))
    try await reap(after: Self.day + 60)
    #expect(!File.exists(left) && File.exists(files.log) && File.exists(files.sidecar))
  }

  @Test(arguments: ["unsent", "seal gone", "half a segment", "log grew"])
  func `a session without proof in the store is kept`(how: String) async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    if how != "unsent" { try await site.upload() }
    let remote = try await site.remote(session)
    switch how {
    case "seal gone":
      _ = try await site.store.delete(remote.keys.filter { $0.hasSuffix(".json") })
    case "half a segment":
      let key = remote.folder.key + (try #require(remote.segments.first).fileName)
      _ = try await site.store.put(key, [1, 2, 3])
    case "log grew":
      let log = try #require(
        FileHandle(forWritingAtPath: site.local.home.files(for: session).log))
      try log.seekToEnd()
      try log.write(contentsOf: Data("more\n".utf8))
    default: break
    }
    site.local.clock.advance(seconds: 100 * Self.day)
    let plan = try await localPlan(site)
    #expect(plan.local.isEmpty && plan.kept.count == 1, "\(plan)")
  }

  @Test func `without a store, age alone decides about reaping`() async throws {
    let home = try TestHome()
    try home.session(Array("x\n".utf8))
    let running = try home.writer()
    func reaper() throws -> LocalReaper {
      let clock = home.clock
      let lived = try LivedClock(
        home: home.home, machine: clock.machine)
      try lived.save()
      return LocalReaper(home: home.home, lived: lived, now: clock.now())
    }
    #expect(try await reaper().plan(Retention()).local.isEmpty)
    home.clock.advance(seconds: 8 * Self.day)
    let plan = try await reaper().plan(Retention())
    #expect(plan.local.count == 1)
    #expect(!plan.local.map(\.session).contains(running.session))
  }

  @Test func `local-max reaps the oldest proven sessions`() async throws {
    let site = try Site()
    var sessions: [SessionID] = []
    for _ in 0..<3 {
      sessions.append(try site.local.session([UInt8](repeating: 0x61, count: 10_000)))
      site.local.clock.advance(seconds: 60)
    }
    try await site.upload()
    site.local.clock.advance(seconds: 3600)
    var retention = Retention()
    retention.localMax = 31_000
    #expect(try await localPlan(site, retention).local.map(\.session) == [sessions[0]])
  }

  @Test func `temporary files of killed processes are removed after a day`() async throws {
    let site = try Site()
    let home = site.local.home
    for (name, age) in [("device.json.a2b3c4.tmp", 90_000.0), ("device.json.d5e6f7.tmp", 80_000)] {
      let path = "\(home.path)/\(name)"
      try Data().write(to: URL(filePath: path))
      let written = site.local.clock.now().date.addingTimeInterval(-age)
      try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: path)
    }
    let reaper = LocalReaper(try site.context())
    #expect(try await reaper.execute(reaper.plan(Retention())).isEmpty)
    let names = try FileManager.default.contentsOfDirectory(atPath: home.path)
    #expect(
      names.filter { $0.hasPrefix("device.json") }.sorted() == [
        "device.json", "device.json.d5e6f7.tmp",
      ])
  }

  /// Server time is the real clock here: the directory's files are as old as the test.
  private func remotePlan(_ site: Site, age: Int64) async throws -> ReapPlan {
    var retention = Retention()
    retention.remote = .seconds(age)
    let context = try site.context()
    let plan = try await RemoteReaper(context, devices: [site.local.device.deviceId])
      .plan(retention)
    try context.saveLivedTime()
    return plan
  }

  @Test
  func `a remote session is reaped only if server and sidecar agree on its age`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    // Old by its sidecar (January), new by the server.
    #expect(try await remotePlan(site, age: 30 * Self.day).remote.isEmpty)
    #expect(try await remotePlan(site, age: 0).remote.map(\.session) == [session])
    let reaper = RemoteReaper(try site.context(), devices: [site.local.device.deviceId])
    let outcomes = try await reaper.execute(remotePlan(site, age: 0))
    #expect(outcomes.count == 2 && outcomes.allSatisfy { $0.error == nil })
    #expect(outcomes[0].key.hasSuffix(".json"))
    #expect(try await site.remote(session).keys == [])
    #expect(try Sidecar.load(site.local.home.files(for: session).sidecar).remoteReapedAt != nil)
    let device = SessionFolder.deviceKey(site.local.device.deviceId)
    #expect(try await site.store.listAll(device).directories.isEmpty)
  }

  @Test func `last copies that expire soon are reported where that is wanted`() async throws {
    let site = try Site()
    let here = try site.local.session(Array("x\n".utf8))
    let away = try site.local.session(Array("y\n".utf8))
    try await site.upload()
    try FileManager.default.removeItem(atPath: site.local.home.files(for: away).log)
    try FileManager.default.removeItem(atPath: site.local.home.files(for: away).sidecar)
    let keys = try await site.remote(here).keys + site.remote(away).keys
    let begun = site.local.clock.now().date
    for key in keys {
      try FileManager.default.setAttributes(
        [.modificationDate: begun], ofItemAtPath: "\(site.local.folder)/store/\(key)")
    }
    _ = try await remotePlan(site, age: 30 * Self.day)
    site.local.clock.advance(seconds: 28 * Self.day)
    func expiring(_ notice: Duration?) async throws -> [SessionID] {
      var retention = Retention()
      retention.warnBefore = notice
      let reaper = RemoteReaper(try site.context(), devices: [site.local.device.deviceId])
      return try await reaper.plan(retention).expiring
    }
    #expect(try await expiring(.days(3)) == [away])
    #expect(try await expiring(.days(1)).isEmpty)
    #expect(try await expiring(nil).isEmpty)
  }

  @Test func `revisions superseded by a seal are deleted after a week`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    try await site.upload()
    try writer.end(.exit(0))
    try await site.upload()
    // The cache that knew of it is lost.
    try FileManager.default.removeItem(atPath: site.local.home.cachePath)
    #expect(try await remotePlan(site, age: 30 * Self.day).superseded.isEmpty)
    let remote = try await site.remote(writer.session)
    #expect(remote.revisions.count == 2)
    for key in remote.keys {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date],
        ofItemAtPath: "\(site.local.folder)/store/\(key)")
    }
    #expect(try await remotePlan(site, age: 30 * Self.day).superseded.isEmpty)
    site.local.clock.advance(seconds: 8 * Self.day)
    let reaper = RemoteReaper(try site.context(), devices: [site.local.device.deviceId])
    let plan = try await remotePlan(site, age: 30 * Self.day)
    #expect(plan.superseded.map(\.session) == [writer.session] && plan.remote.isEmpty)
    #expect(try await reaper.execute(plan).allSatisfy { $0.error == nil })
    #expect(try await site.remote(writer.session).revisions.count == 1)
    try await site.expectSealedAndEqual(writer.session)
  }

  /// The age of a folder in days, by the clock of this device.
  @Test(arguments: [(8, true), (7, true), (6, false), (0, false), (-1, true)])
  func `days with nothing old enough are not listed`(_ age: Int64, _ isListed: Bool) async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: age * Self.day)
    let folder = SessionFolder(device: site.local.device.deviceId, session: session)
    let reaper = RemoteReaper(try site.context(), devices: [folder.device])
    _ = site.store.takeRequests()
    let kept = try await reaper.plan(Retention(), skipsRecent: true).kept
    #expect(kept.map(\.session) == (isListed ? [session] : []))
    #expect(site.store.takeRequests().contains { $0.contains(folder.key) } == isListed)
    #expect(try await reaper.plan(Retention()).kept.map(\.session) == [session])
  }

  @Test func `sessions of unlisted recent days count when a plan is judged bold`() async throws {
    let site = try Site()
    for _ in 0..<20 { try site.local.session(Array("x\n".utf8)) }
    try await site.upload()
    _ = try await remotePlan(site, age: 30 * Self.day)
    let devices = "\(site.local.folder)/store/devices"
    for name in try FileManager.default.subpathsOfDirectory(atPath: devices) {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date],
        ofItemAtPath: "\(devices)/\(name)")
    }
    site.local.clock.advance(seconds: 31 * Self.day)
    for _ in 0..<25 { try site.local.session(Array("y\n".utf8)) }
    try await site.upload()
    let reaper = RemoteReaper(try site.context(), devices: [site.local.device.deviceId])
    let plan = try await reaper.plan(Retention(), skipsRecent: true)
    #expect(plan.remote.count == 20 && plan.postponement == nil)
  }

  @Test(arguments: ["local", "remote"])
  func `a bold plan waits for a day of lived time`(side: String) async throws {
    let site = try Site()
    for _ in 0..<25 { try site.local.session(Array("x\n".utf8)) }
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    func plan(isForced: Bool = false) async throws -> (ReapPlan, [ReapPlan.Removal]) {
      var retention = Retention()
      (retention.remote, retention.isForced) = (.zero, isForced)
      let context = try site.context()
      let plan =
        side == "local"
        ? try await LocalReaper(context).plan(retention)
        : try await RemoteReaper(context, devices: [context.device.deviceId]).plan(retention)
      if !isForced { try context.saveLivedTime() }
      return (plan, plan.local + plan.remote)
    }
    let (first, none) = try await plan()
    #expect(none.isEmpty && first.kept.count == 25 && first.postponement?.isNew == true)
    #expect(first.postponement?.reason.contains("25 of 25 \(side) sessions") == true)
    #expect(try site.context().lived.time.pause(on: side) == .days(1))
    #expect(try await plan(isForced: true).1.count == 25)
    site.local.clock.advance(seconds: Self.day - 1)
    let (second, stillNone) = try await plan()
    #expect(stillNone.isEmpty && second.postponement?.isNew == false)
    site.local.clock.advance(seconds: 1)
    let (third, all) = try await plan()
    #expect(all.count == 25 && third.postponement == nil)
  }

  @Test(.shiftedTime, arguments: ["local", "remote"])
  func `a bold plan for a requested age needs confirmation`(side: String) async throws {
    let site = try Site(clock: ShiftedTime.clock())
    for _ in 0..<20 { try site.local.session(Array("x\n".utf8)) }
    try await site.upload()
    site.local.clock.advance(seconds: 2)
    var retention = Retention().asking(.zero)
    func plan() async throws -> ReapPlan {
      let context = try site.context()
      return side == "local"
        ? try await LocalReaper(context).plan(retention)
        : try await RemoteReaper(context, devices: [context.device.deviceId]).plan(retention)
    }
    let refused = try await plan()
    #expect(refused.isEmpty && refused.postponement?.reason.contains("refused") == true)
    retention.isForced = true
    let forced = try await plan()
    #expect(forced.local.count + forced.remote.count == 20 && forced.postponement == nil)
  }

  /// Times that a file system can store but no calendar has.
  @Test(arguments: [-9.3e15, -1e12, 1e12, 9.223372036854776e15, 9.3e15, .infinity])
  func `a date from a store is clamped to the calendar`(seconds: Double) {
    let time = Timestamp(Date(timeIntervalSince1970: seconds))
    #expect(time.isoBytes.count == 24)
    #expect(abs(time.milliseconds) <= 253_402_300_799_999)
  }

  @Test func `devices are the folders with a valid name in the store`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    for key in ["devices/gone1/device.json", "devices/not-one/x", "devices/file", "other/x/y"] {
      _ = try await site.store.put(key, [1])
    }
    let devices = try await RemoteReaper.devices(in: site.store)
    #expect(devices == ["gone1", site.local.device.deviceId].sorted())
  }

  private static let ages: [(remote: Int64, longest: Int64, days: Int)] = [
    (2_592_000, 2_592_000, 60), (604_800, 86_400, 8), (1, 1, 2), (86_401, 86_400, 3),
    (2_592_000, 31_536_000, 395),
  ]

  /// S3 counts from each object by itself; a session's first object is older than its newest by the
  /// session's duration, and has to outlive that by the retention.
  @Test(arguments: ages)
  func `a lifecycle rule never deletes before the reaper would`(
    _ remote: Int64, _ longest: Int64, _ days: Int
  ) {
    var retention = Retention()
    retention.remote = .seconds(remote)
    #expect(retention.lifecycleDays(longestSession: .seconds(longest)) == days)
    #expect(Int64(days) * 86_400 >= remote + longest)
  }
}
