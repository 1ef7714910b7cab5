import Foundation
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Sessions with a hold outlive their retention, on both sides.
@Suite(.tags(.medium)) struct HoldTests {
  private static let day: Int64 = 86_400

  /// A sealed session that is older than any retention in every respect.
  private func oldSession(_ site: Site) async throws -> SessionID {
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    return session
  }

  private func age(_ site: Site, days: Int64) throws {
    site.local.clock.advance(seconds: days * Self.day)
    try site.ageStore(days: days)
  }

  private func keep(_ session: SessionID, days: Int64, _ site: Site, remotely: Bool) async throws {
    let context = try site.context()
    let lock = try #require(try HomeLock.acquire(site.local.home))
    _ = try Holds(site.local.home).keep(session, for: .days(days), context.lived, holding: lock)
    if remotely { try await RemoteHold(context).keep(site.remote(session), for: .days(days)) }
    try context.lived.save(holding: lock)
  }

  private func plans(_ site: Site) async throws -> (local: ReapPlan, remote: ReapPlan) {
    let context = try site.context()
    let remote = RemoteReaper(context, devices: [context.device.deviceId])
    let plans = (
      try await LocalReaper(context).plan(Retention()), try await remote.plan(Retention())
    )
    try context.saveLivedTime()
    return plans
  }

  @Test func `a kept session stays on both sides until its hold ends`() async throws {
    let site = try Site()
    let session = try await oldSession(site)
    _ = try await plans(site)
    try await keep(session, days: 90, site, remotely: true)
    try age(site, days: 60)
    let held = try await plans(site)
    #expect(held.local.isEmpty && held.remote.isEmpty)
    #expect(held.local.kept.first?.reason.contains("'tidemark keep' keeps it") == true)
    #expect(held.remote.kept.first?.reason.contains("'tidemark keep' keeps it") == true)
    try age(site, days: 31)
    let over = try await plans(site)
    #expect(over.local.local.map(\.session) == [session])
    #expect(over.remote.remote.map(\.session) == [session])
  }

  /// By a hold in this home, and by one in the store alone.
  @Test(arguments: [false, true])
  func `a last copy is reported before its hold ends`(isRemote: Bool) async throws {
    let site = try Site()
    let session = try await oldSession(site)
    let files = site.local.home.files(for: session)
    for path in [files.log, files.sidecar] { try File.remove(path) }
    for key in try await site.remote(session).keys {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date],
        ofItemAtPath: "\(site.local.folder)/store/\(key)")
    }
    _ = try await plans(site)
    if !isRemote { try await keep(session, days: 40, site, remotely: false) }
    var retention = Retention()
    retention.warnBefore = .days(3)
    var reported: [Bool] = []
    for (days, rest): (Int64, Int64) in [(28, 12), (8, 4), (3, 1)] {
      site.local.clock.advance(seconds: days * Self.day)
      if isRemote {
        let remote = try await site.remote(session)
        _ = try await RemoteHold(site.context()).release(remote)
        // The folder's clock is the file system's.
        let end = (Timestamp.now() + .days(rest)).assumingSynchronizedClocks
        let key = remote.folder.key + HoldName(session, until: end).fileName
        _ = try await site.store.put(key, [])
      }
      let context = try site.context()
      let plan = try await RemoteReaper(context, devices: [site.device.deviceId]).plan(retention)
      try context.saveLivedTime()
      #expect(plan.remote.isEmpty)
      reported.append(plan.expiring == [session])
    }
    #expect(reported == [false, false, true])
  }

  @Test func `another home's reaper sees the hold in the store`() async throws {
    let site = try Site()
    let session = try await oldSession(site)
    _ = try await plans(site)
    try await keep(session, days: 3650, site, remotely: true)
    try FileManager.default.removeItem(atPath: site.local.home.path + "/keep")
    try age(site, days: 60)
    let plan = try await plans(site).remote
    #expect(plan.isEmpty)
    #expect(plan.kept.first?.reason.contains("on hold until ") == true)
  }

  @Test func `a session that is kept before its upload is kept in the store as well`() async throws
  {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    let other = try site.local.session(Array("y\n".utf8))
    try await keep(session, days: 90, site, remotely: false)
    try await site.upload()
    #expect(try await site.remote(session).holds.count == 1)
    #expect(try await site.remote(other).holds.isEmpty)
    try await site.expectSealedAndEqual(session)
  }

  @Test(arguments: [
    FaultyStore.Fault.failBefore(.exhausted), .failBefore(.transient), .failAfter, .die,
  ]) func `a hold that could not be put reaches the store with a later pass`(
    fault: FaultyStore.Fault
  ) async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await keep(session, days: 90, site, remotely: false)
    site.store.plan(fault, on: "PUT", keyContaining: "\(session).keep.")
    _ = try? await site.upload()
    #expect(site.store.unexercised.isEmpty)
    let later = try site.reopened()
    // As often as refused attempts are postponed.
    later.local.clock.advance(seconds: Self.day)
    try await later.upload()
    #expect(try await !later.remote(session).holds.isEmpty)
    try await later.expectSealedAndEqual(session)
  }

  @Test func `a hold reaches the store in a pass that ends before its last session`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    let other = try site.local.session(Array("y\n".utf8))
    try await keep(session, days: 90, site, remotely: false)
    site.store.plan(.failBefore(.exhausted), on: "PUT", keyContaining: "\(other).", times: .max)
    let report = try await site.upload()
    #expect(report.stoppedBy != nil && report.sealed == 1)
    #expect(try await site.remote(session).holds.count == 1)
    try await site.expectSealedAndEqual(session)
  }

  @Test func `sealing a session without a hold puts nothing else`() async throws {
    let site = try Site()
    let held = try site.local.session(Array("x\n".utf8))
    let other = try site.local.session(Array("y\n".utf8))
    try await keep(held, days: 90, site, remotely: false)
    try await site.upload()
    let puts = site.store.takeRequests().filter { $0.hasPrefix("PUT ") }
    #expect(puts.filter { $0.contains("\(held).keep.") }.count == 1)
    #expect(!puts.contains { $0.contains("\(other).keep.") })
  }

  @Test(arguments: ["hold", "new object", "object put again", "nothing"])
  func `a session that changed after the plan is not deleted`(what: String) async throws {
    let site = try Site()
    let sessions = [try await oldSession(site), try await oldSession(site)]
    _ = try await plans(site)
    try age(site, days: 60)
    let plan = try await plans(site).remote
    #expect(plan.remote.map(\.session).sorted() == sessions.sorted())
    let before = try await site.remote(sessions[0])
    let folder = before.folder.key
    let seal = try #require(before.seal)
    switch what {
    case "hold": try await RemoteHold(site.context()).keep(before, for: .days(90))
    case "new object":
      let json = try await site.store.get(folder + seal.fileName)
      let name = RevisionName(
        session: sessions[0], number: 99, status: .active, length: seal.length, json: json)
      _ = try await site.store.put(folder + name.fileName, json)
    case "object put again":
      // The folder's date says when it was put.
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date],
        ofItemAtPath: "\(site.local.folder)/store/\(folder)\(seal.fileName)")
    default: break
    }
    _ = site.store.takeRequests()
    var spared: [SessionID] = []
    let reaper = RemoteReaper(try site.context(), devices: [site.device.deviceId])
    _ = try await reaper.execute(plan) { spared.append($0.session) }
    #expect(site.store.takeRequests().filter { $0.hasPrefix("LIST") } == ["LIST \(folder)"])
    #expect(spared == (what == "nothing" ? [] : [sessions[0]]))
    let left = try await site.remote(sessions[0])
    #expect(left.seal == nil ? what == "nothing" || what == "new object" : left.mark == before.mark)
    #expect(left.segments == (what == "nothing" ? [] : before.segments))
    #expect(try await site.remote(sessions[1]).keys.isEmpty)
  }

  @Test(arguments: [Int64(0), 6]) func `a session kept while others of its day are deleted stays`(
    seconds: Int64
  ) async throws {
    let site = try Site()
    var sessions: [SessionID] = []
    for _ in 0..<3 { sessions.append(try await oldSession(site)) }
    _ = try await plans(site)
    try age(site, days: 60)
    let plan = try await plans(site).remote
    let last = try #require(plan.remote.last?.session)
    let before = try await site.remote(last)
    let slow = SlowDeletions(base: site.store) {
      // The operator's deletions take their time, and somebody keeps the last session meanwhile.
      site.local.clock.advance(seconds: seconds)
      guard try await site.remote(last).holds.isEmpty else { return }
      try await RemoteHold(site.context()).keep(before, for: .days(90))
    }
    let context = try SyncContext(
      home: site.local.home, device: site.device, store: slow, machine: site.local.clock.machine,
      transfers: 1, redaction: RedactionRules(), consent: .logs)
    var spared: [SessionID] = []
    let reaper = RemoteReaper(context, devices: [site.device.deviceId])
    let lock = try #require(try HomeLock.acquire(site.local.home))
    _ = try await reaper.execute(plan, holding: lock) { spared.append($0.session) }
    let left = try await site.remote(last)
    guard seconds > 0 else {
      // Too short for another listing: the second look of 'keep' reports it.
      await #expect(throws: ReplicaError.self) {
        try await RemoteHold(site.context()).check(before)
      }
      return
    }
    #expect(spared == [last] && left.segments == before.segments && left.seal == before.seal)
    try await RemoteHold(site.context()).check(before)
    let failed = try DeletionLedger(site.local.home).entries { $0 == last }.compactMap(\.failure)
    #expect(failed.contains { $0.contains("put on hold") }, "\(failed)")
  }

  @Test func `a reaper without anything to delete lists nothing again`() async throws {
    let site = try Site()
    _ = try await oldSession(site)
    let plan = try await plans(site).remote
    _ = site.store.takeRequests()
    _ = try await RemoteReaper(site.context(), devices: [site.device.deviceId]).execute(plan)
    #expect(site.store.takeRequests().isEmpty)
  }

  @Test(arguments: ["all", "seal"])
  func `a copy that went while it was put on hold is not said to be kept`(
    what: String
  ) async throws {
    let site = try Site()
    let session = try await oldSession(site)
    let remote = try await site.remote(session)
    let seal = remote.folder.key + (try #require(remote.seal).fileName)
    _ = try await site.store.delete(what == "all" ? remote.keys : [seal])
    let context = try site.context()
    await #expect(throws: (any Error).self) {
      try await RemoteHold(context).keep(remote, for: .days(90))
    }
  }

  @Test func `the folder of holds is made durable`() async throws {
    let site = try Site()
    let session = try await oldSession(site)
    let files = TestFiles()
    try await FileEffect.$hook.withValue(files) {
      try await keep(session, days: 1, site, remotely: false)
    }
    let home = site.local.home.path
    let made = try #require(
      files.effects.firstIndex { $0.kind == .makeDirectory && $0.path == "\(home)/keep" })
    #expect(files.effects[made...].contains { $0.kind == .synchronizeNames && $0.path == home })
  }

  @Test func `a clock that jumps ahead ends no hold here`() async throws {
    let site = try Site()
    let session = try await oldSession(site)
    try await keep(session, days: 90, site, remotely: false)
    try age(site, days: 31)
    site.local.clock.set(seconds: 400 * Self.day)
    let plan = try await plans(site)
    #expect(plan.local.isEmpty && plan.remote.isEmpty)
  }

  @Test func `a hold that cannot be read holds`() async throws {
    let site = try Site()
    let session = try await oldSession(site)
    try await keep(session, days: 1, site, remotely: false)
    try Data("{".utf8).write(
      to: URL(filePath: site.local.home.path + "/keep/\(session).json"))
    try age(site, days: 31)
    #expect(try await plans(site).local.isEmpty)
  }

  @Test func `local-max takes no kept session`() async throws {
    let site = try Site()
    let session = try site.local.session([UInt8](repeating: 0x61, count: 10_000))
    try await site.upload()
    try await keep(session, days: 90, site, remotely: false)
    site.local.clock.advance(seconds: 3600)
    var retention = Retention()
    retention.localMax = 1000
    let plan = try await LocalReaper(site.context()).plan(retention)
    #expect(plan.isEmpty && plan.kept.map(\.session) == [session])
  }

  @Test func `a new hold takes the place of the one before in the store`() async throws {
    let site = try Site()
    let session = try await oldSession(site)
    try await keep(session, days: 90, site, remotely: true)
    try await keep(session, days: 30, site, remotely: true)
    #expect(try await site.remote(session).holds.count == 1)
    #expect(try await RemoteHold(site.context()).release(site.remote(session)))
    #expect(try await site.remote(session).holds.isEmpty)
    try await site.expectSealedAndEqual(session)
  }

  @Test(arguments: [
    "20260122t143005z-k3f9a7c2.keep.20260230.json", "20260122t143005z-k3f9a7c2.keep.2026022.json",
    "20260122t143005z-k3f9a7c2.keep.99999999.json", "20260122t143005z-k3f9a7c2.keep.20250229.json",
    "20260122t143005z-k3f9a7c2.keep.-0260220.json", "x.keep.20260220.json",
    "20260122t143005z-k3f9a7c2.keep.20260220.json.tmp",
  ]) func `a name of another form is no hold`(name: String) {
    #expect(HoldName(name) == nil)
  }

  @Test func `a hold's name says its last day`() throws {
    let name = try #require(HoldName("20260122t143005z-k3f9a7c2.keep.20260220.json"))
    #expect(name.day == "2026-02-20")
    func time(_ text: String) throws -> ServerTime {
      try #require(Timestamp(iso: text)).assumingSynchronizedClocks
    }
    for written in [nil, try time("2026-01-22T14:30:05Z"), try time("2016-02-23T23:00:00Z")] {
      let hold = RemoteSession.Hold(name: name, written: written)
      #expect(hold.day == "2026-02-20")
      #expect(try hold.holds(at: time("2026-02-20T23:59:59Z")))
      #expect(try !hold.holds(at: time("2026-02-21T00:00:00Z")))
    }
  }

  @Test func `a hold lasts no longer than one that keep makes`() async throws {
    let site = try Site()
    let session = try await oldSession(site)
    _ = try await plans(site)
    let folder = try await site.remote(session).folder
    let key = "\(folder.key)\(session).keep.99991231.json"
    _ = try await site.store.put(key, [])
    try age(site, days: 60)
    // The folder's clock is the file system's.
    let now = Timestamp.now()
    func plan(writtenBefore days: Int64) async throws -> ReapPlan {
      try FileManager.default.setAttributes(
        [.modificationDate: (now - .days(days)).date],
        ofItemAtPath: "\(site.local.folder)/store/\(key)")
      return try await plans(site).remote
    }
    let held = try await plan(writtenBefore: 3649)
    #expect(held.isEmpty)
    #expect(held.kept.first?.reason == "on hold until \((now + .days(1)).day)")
    #expect(try await plan(writtenBefore: 3651).remote.map(\.session) == [session])
  }
}

/// A store in which something happens at each deletion.
private struct SlowDeletions: ObjectStore {
  let base: any ObjectStore
  let deleting: @Sendable () async throws -> Void

  var location: String { base.location }

  func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await base.put(key, body)
  }

  func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try await base.get(key, range: range)
  }

  func head(_ key: String) async throws -> ObjectEntry { try await base.head(key) }

  func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try await base.list(prefix, after: token)
  }

  func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    try await deleting()
    return try await base.delete(keys)
  }
}
