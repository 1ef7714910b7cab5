import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Copies that must not be deleted although they look old, sent or superseded.
@Suite(.tags(.medium)) struct DeletionEvidenceTests {
  private static let day: Int64 = 86_400

  // MARK: Clocks

  @Test(arguments: [5, 25]) func `a clock 40 days ahead deletes nothing`(count: Int) async throws {
    let site = try Site()
    let sessions = try (0..<count).map { try site.local.session(Array("line \($0)\n".utf8)) }
    try await site.upload()
    try await site.reap()
    // A folder's clock is this machine's.
    site.local.clock.set(seconds: 40 * Self.day)
    try site.ageStore(days: 40)
    try await site.upload()
    try await site.reap()
    for session in sessions { try await site.expectSealedAndEqual(session) }
    #expect(try site.context().lived.time.seconds == 0)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.isEmpty && plan.kept.count == count)
    #expect(plan.kept.first?.reason.contains("has aged only 0 s") == true)
    #expect(
      try LocalReaper(site.context()).countDoubtful(Retention().local) == count)
  }

  @Test func `an hour passes between the seal and the reaping`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    site.local.clock.advance(seconds: 40 * Self.day)
    let context = try site.context()
    let uploader = Uploader(context)
    _ = try await uploader.execute(uploader.plan(.all))
    var retention = Retention()
    retention.local = .zero
    #expect(try await LocalReaper(context).plan(retention).local.isEmpty)
    site.local.clock.advance(seconds: 3600)
    // A pass that has run for an hour is still the one that sealed.
    #expect(try await LocalReaper(context).plan(retention).local.isEmpty)
    #expect(try await LocalReaper(site.context()).plan(retention).local.map(\.session) == [session])
  }

  @Test func `retention counts from the seal`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    site.local.clock.advance(seconds: 40 * Self.day)
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day - 1)
    #expect(try await LocalReaper(site.context()).plan(Retention()).isEmpty)
    site.local.clock.advance(seconds: 1)
    #expect(
      try await LocalReaper(site.context()).plan(Retention()).local.map(\.session) == [session])
  }

  @Test func `a session sealed by an earlier version ages from the first look`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let home = site.local.home
    let path = home.files(for: session).sidecar
    var sidecar = try Sidecar.load(path)
    sidecar.agesFrom = nil
    try sidecar.save(path)
    try FileManager.default.removeItem(atPath: home.livedPath)
    site.local.clock.advance(seconds: 30 * Self.day)
    try await site.reap()
    site.local.clock.advance(seconds: 7 * Self.day - 1)
    #expect(try await LocalReaper(site.context()).plan(Retention()).isEmpty)
    site.local.clock.advance(seconds: 1)
    #expect(
      try await LocalReaper(site.context()).plan(Retention()).local.map(\.session) == [session])
  }

  @Test(arguments: ["", "{", "{\"seconds\":", "{\"lived\":-1}"])
  func `a damaged count starts again`(content: String) async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 30 * Self.day)
    try Data(content.utf8).write(to: URL(filePath: site.local.home.livedPath))
    #expect(try await LocalReaper(site.context()).plan(Retention()).isEmpty)
    #expect(try site.context().lived.time.seconds == 0)
  }

  @Test func `a home that used a store keeps copies that no store can prove`() async throws {
    let site = try Site()
    let sent = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let unsent = try site.local.session(Array("y\n".utf8))
    site.local.clock.advance(seconds: 400 * Self.day)
    let clock = site.local.clock
    let lived = try site.context().lived
    let reaper = LocalReaper(home: site.local.home, lived: lived, now: clock.now())
    let plan = try await reaper.plan(Retention())
    #expect(plan.isEmpty)
    #expect(plan.kept.map(\.session).sorted() == [sent, unsent].sorted())
  }

  @Test func `a home of an earlier version keeps sessions that were never sent`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let unsent = try site.local.session(Array("y\n".utf8))
    for path in ["/stores.json", "/cache"] {
      try FileManager.default.removeItem(atPath: site.local.home.path + path)
    }
    site.local.clock.advance(seconds: 400 * Self.day)
    let clock = site.local.clock
    let lived = try LivedClock(
      home: site.local.home, machine: clock.machine)
    let plan = try await LocalReaper(home: site.local.home, lived: lived, now: clock.now())
      .plan(Retention().asking(.seconds(1)))
    #expect(plan.isEmpty && plan.kept.map(\.session).contains(unsent))
  }

  /// The seal is gone from the store, or truncated, for longer than sessions without a sidecar are
  /// kept.
  @Test(arguments: ["gone", "cut"])
  func `a session that this home has is no remains`(what: String) async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    try await site.reap()
    let remote = try await site.remote(session)
    let key = remote.folder.key + (try #require(remote.seal).fileName)
    let body = try await site.store.get(key)
    _ = try await site.store.delete([key])
    if what == "cut" { _ = try await site.store.put(key, Array(body.dropLast())) }
    try site.ageStore(days: 9)
    site.local.clock.advance(seconds: 9 * Self.day)
    for _ in 0..<2 { try await site.reap() }
    #expect(try await site.remote(session).segments == remote.segments)
    #expect(try !site.local.log(session).isEmpty)
    #expect(try Verifier(site.context()).reopen(session))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }

  /// Someone deletes a seal; the local copy was deleted long ago.
  @Test func `segments without a sidecar stay as long as other sessions`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    try await site.reap()
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    _ = try await site.store.delete([remote.folder.key + seal.fileName])
    let files = site.local.home.files(for: session)
    for path in [files.log, files.sidecar] { try FileManager.default.removeItem(atPath: path) }
    for (days, later, isThere) in [(9, 9, true), (31, 22, false)] as [(Int64, Int64, Bool)] {
      try site.ageStore(days: days)
      site.local.clock.advance(seconds: later * Self.day)
      try await site.reap()
      #expect(try await site.remote(session).segments.isEmpty != isThere)
    }
  }

  /// Another device's folder has the session's id, and even the name of its seal.
  @Test func `another device's objects of a session permit no local deletion`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let remote = try await site.remote(session)
    let other = SessionFolder(device: "elsewhere0000000", session: session)
    for key in remote.keys {
      let fileName = String(key.dropFirst(remote.folder.key.count))
      _ = try await site.store.put(other.key + fileName, try await site.store.get(key))
    }
    let context = try site.context()
    var retention = Retention().asking(.zero)
    retention.isForced = true
    // Its sidecar names another device: only a deletion by hand removes it.
    let plan = try await RemoteReaper(context, devices: [other.device]).plan(retention)
    #expect(plan.remote.isEmpty && plan.kept.map(\.session) == [session])
    let copied = try await FolderListing(other, in: site.store)[session, in: other]
    let outcomes = try await Deletion(
      home: site.local.home, context: context, lived: context.lived, command: "test"
    ).delete(session, local: false, remote: copied)
    #expect(outcomes.count == copied.keys.count && outcomes.allSatisfy { $0.error == nil })
    #expect(try Sidecar.load(site.local.home.files(for: session).sidecar).remoteReapedAt == nil)
  }

  @Test func `a session that is sent again needs its proof again`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    let path = site.local.home.files(for: session).sidecar
    var sidecar = try Sidecar.load(path)
    sidecar.remoteReapedAt = site.local.clock.now()
    try sidecar.save(path)
    try await site.upload()
    #expect(try Sidecar.load(path).remoteReapedAt == nil)
    _ = try await site.store.delete(site.remote(session).keys)
    site.local.clock.advance(seconds: 8 * Self.day)
    #expect(try await LocalReaper(site.context()).plan(Retention()).isEmpty)
  }

  @Test func `times recorded under a wrong clock are dropped`() async throws {
    let site = try Site()
    site.local.clock.set(seconds: 3650 * Self.day)
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    #expect(try site.context().storeEntry().lastSuccess != nil)
    site.local.clock.set(seconds: -3650 * Self.day)
    #expect(try site.context().storeEntry().lastSuccess == nil)
  }

  // MARK: Devices

  @Test func `a lost device record lets open sessions be sent again`() async throws {
    var site = try Site()
    let former = site
    let writer = try site.local.writer()
    writer.print("under the first id")
    try await site.upload()
    let before = try await former.remote(writer.session).keys
    try site.loseDevice()
    let report = try await site.upload()
    #expect(report.formerDevices == [former.device.deviceId: 1])
    writer.print("under the second")
    #expect(try await site.upload().formerDevices.isEmpty)
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    #expect(try await former.remote(writer.session).keys == before)
  }

  @Test(.shiftedTime) func `a lost device record lets attached logs be sent again`() async throws {
    var folder = try AttachedFolder("*.log")
    try folder.append(0..<20, to: "app.log")
    try await folder.tick()
    try folder.site.loseDevice()
    try folder.append(20..<30, to: "app.log")
    try await folder.tick(after: 60)
    let day = try #require(try folder.site.local.home.days().first)
    let session = try #require(try folder.site.local.home.sessions(day: day).first)
    let expected = try Data(contentsOf: URL(filePath: folder.file("app.log")))
    #expect(try await folder.site.remoteBytes(session) == Array(expected))
    // Its file is removed: the new id's copy is sealed completely.
    try FileManager.default.removeItem(atPath: folder.file("app.log"))
    try await folder.tick(after: 4000)
    let remote = try await folder.site.remote(session)
    #expect(remote.seal != nil)
    #expect(try await folder.site.remoteBytes(session).starts(with: expected))
  }

  @Test(.shiftedTime)
  func `a rewritten log is sent again without what it held before`() async throws {
    var folder = try AttachedFolder("app.log")
    try folder.append(0..<2000, to: "app.log")
    try await folder.tick()
    let path = folder.file("app.log")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    try text.replacing(AttachedFolder.line(1000), with: AttachedFolder.line(7000))
      .write(toFile: path, atomically: false, encoding: .utf8)
    try await folder.tick(after: 60)
    let session = try #require(try folder.sidecars().first?.sessionId)
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1])
    let former = folder.site
    let before = try await former.remote(session).keys
    try folder.site.loseDevice()
    try folder.append(2000..<2010, to: "app.log")
    // A full scan.
    try await folder.tick(after: 4000)
    try folder.remove("app.log")
    try await folder.tick(after: 4000)
    #expect(try await folder.site.remote(session).seal != nil)
    let lines = try await folder.remoteLines()
    #expect(lines.map(\.count) == [2010], "\(lines.map { [$0.first, $0.last] })")
    #expect(lines.first == Array(0..<1000) + [7000] + Array(1001..<2010))
    #expect(try await former.remote(session).keys == before)
  }
}
