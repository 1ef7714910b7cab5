import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// What must not be deleted although it looks old, sent or superseded.
@Suite(.tags(.medium)) struct DeletionEvidenceTests {
  private static let day: Int64 = 86_400

  private func write(_ writer: SessionWriter, _ text: String) {
    Array("\(text)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
  }

  /// Both sides of retention as carried out by a cron pass.
  private func reap(_ site: Site, _ retention: Retention = Retention()) async throws {
    let context = try site.context()
    let local = LocalReaper(context)
    for outcome in try local.execute(try await local.plan(retention)) {
      try outcome.error.map { throw $0 }
    }
    let remote = RemoteReaper(context, devices: [context.device.deviceId])
    _ = try await remote.execute(remote.plan(retention))
    try context.saveLivedTime()
  }

  /// Makes all of a folder store older.
  private func age(_ site: Site, days: Double) throws {
    let date = site.local.clock.now().date.addingTimeInterval(-days * 86_400)
    let devices = "\(site.local.folder)/store/devices"
    for name in try FileManager.default.subpathsOfDirectory(atPath: devices) {
      try FileManager.default.setAttributes(
        [.modificationDate: date], ofItemAtPath: "\(devices)/\(name)")
    }
  }

  // MARK: Clocks

  @Test(arguments: [5, 25]) func `a clock 40 days ahead deletes nothing`(count: Int) async throws {
    let site = try Site()
    let sessions = try (0..<count).map { try site.local.session(Array("line \($0)\n".utf8)) }
    try await site.upload()
    try await reap(site)
    // A folder's clock is this machine's.
    site.local.clock.set(seconds: 40 * Self.day)
    try age(site, days: 40)
    try await site.upload()
    try await reap(site)
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
    try await reap(site)
    site.local.clock.advance(seconds: 7 * Self.day - 1)
    #expect(try await LocalReaper(site.context()).plan(Retention()).isEmpty)
    site.local.clock.advance(seconds: 1)
    #expect(
      try await LocalReaper(site.context()).plan(Retention()).local.map(\.session) == [session])
  }

  @Test(arguments: ["", "{", "{\"seconds\":", "{\"lived\":-1}"])
  func `a damaged count begins anew`(content: String) async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 30 * Self.day)
    try Data(content.utf8).write(to: URL(filePath: site.local.home.livedPath))
    #expect(try await LocalReaper(site.context()).plan(Retention()).isEmpty)
    #expect(try site.context().lived.time.seconds == 0)
  }

  @Test func `a home that used a store keeps what no store is there to prove`() async throws {
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

  @Test func `a home of an earlier version keeps what was never sent`() async throws {
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
    try await reap(site)
    let remote = try await site.remote(session)
    let key = remote.folder.key + (try #require(remote.seal).fileName)
    let body = try await site.store.get(key)
    _ = try await site.store.delete([key])
    if what == "cut" { _ = try await site.store.put(key, Array(body.dropLast())) }
    try age(site, days: 9)
    site.local.clock.advance(seconds: 9 * Self.day)
    for _ in 0..<2 { try await reap(site) }
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
    try await reap(site)
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    _ = try await site.store.delete([remote.folder.key + seal.fileName])
    let files = site.local.home.files(for: session)
    for path in [files.log, files.sidecar] { try FileManager.default.removeItem(atPath: path) }
    for (days, later, isThere) in [(9.0, 9, true), (31, 22, false)] {
      try age(site, days: days)
      site.local.clock.advance(seconds: Int64(later) * Self.day)
      try await reap(site)
      #expect(try await site.remote(session).segments.isEmpty != isThere)
    }
  }

  /// Another device's folder has the session's id, and even the name of its seal.
  @Test func `what another device has of a session frees nothing here`() async throws {
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

  @Test func `what a pass with a wrong clock noted is forgotten`() async throws {
    let site = try Site()
    site.local.clock.set(seconds: 3650 * Self.day)
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    #expect(try site.context().storeEntry().lastSuccess != nil)
    site.local.clock.set(seconds: -3650 * Self.day)
    #expect(try site.context().storeEntry().lastSuccess == nil)
  }

  // MARK: Names

  /// A session with objects superseded by its seal, before the pass that deletes them.
  private func sealedAfterTicks(_ site: Site) async throws -> SessionID {
    let writer = try site.local.writer()
    for number in 0..<3 {
      write(writer, "line \(number)")
      try await site.upload()
    }
    try writer.end(.exit(0))
    try await site.upload()
    #expect(try await site.remote(writer.session).segments.count > 1)
    return writer.session
  }

  private func seal(_ site: Site, _ session: SessionID) async throws -> Sidecar {
    let remote = try await site.remote(session)
    return try await RemoteReader(site.store, knowing: nil).read(
      try #require(remote.seal), in: remote.folder)
  }

  @Test func `a seal without its log frees no segment`() async throws {
    let site = try Site()
    let session = try await sealedAfterTicks(site)
    let remote = try await site.remote(session)
    var own = try Sidecar.load(site.local.home.files(for: session).sidecar)
    let put = Set(remote.segments)
    #expect(Evidence.replaced(in: remote, by: own, put: put).keys.contains { $0.hasSuffix(".zst") })
    own.consent = .metadata
    #expect(
      !Evidence.replaced(in: remote, by: own, put: put).keys.contains { $0.hasSuffix(".zst") })
    own.consent = nil
    #expect(!Evidence.replaced(in: remote, by: own, put: []).keys.contains { $0.hasSuffix(".zst") })
  }

  @Test func `a seal that cannot be read keeps its own session alone`() async throws {
    let site = try Site()
    let sessions = try (0..<2).map { _ in try site.local.session(Array("x\n".utf8)) }
    try await site.upload()
    site.local.clock.advance(seconds: 8 * Self.day)
    site.store.plan(
      .failBefore(.conflict), on: "GET", keyContaining: "\(sessions[0]).s", times: 9)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.local.map(\.session) == [sessions[1]])
    #expect(plan.kept.map(\.session) == [sessions[0]])
    site.store.forgetPlans()
    site.store.plan(.failBefore(.unreachable), on: "GET", times: 9)
    let context = try site.context()
    await #expect(throws: StoreError.self) { try await LocalReaper(context).plan(Retention()) }
  }

  /// Beside each object that the seal names, one with the same range and hash, but another size.
  @Test(arguments: [-1, 1] as [ByteCount])
  func `an object that looks like a named one replaces nothing`(difference: ByteCount) async throws
  {
    let site = try Site()
    let session = try await sealedAfterTicks(site)
    let remote = try await site.remote(session)
    let sealed = try await seal(site, session)
    let objects = try #require(sealed.objects).compactMap(SegmentName.init)
    for name in objects {
      let other = SegmentName(
        session: session, generation: 1, range: name.range, hash: name.hash,
        stored: name.stored + difference)
      let body = [UInt8](repeating: 7, count: Int(other.stored))
      _ = try await site.store.put(remote.folder.key + other.fileName, body)
    }
    try await site.upload()
    let left = try await site.remote(session)
    #expect(left.holds(try #require(sealed.objects), length: StreamOffset(sealed.fileSizeBytes)))
  }

  @Test func `a session goes here only while all that its seal names is there`() async throws {
    let site = try Site()
    let session = try await sealedAfterTicks(site)
    let remote = try await site.remote(session)
    let name = try #require(try await seal(site, session).objects?.first)
    let whole = try await site.store.get(remote.folder.key + name)
    // The ticks that it covers are still there: by names alone the copy is complete.
    _ = try await site.store.delete([remote.folder.key + name])
    site.local.clock.advance(seconds: 8 * Self.day)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.isEmpty && plan.kept.first?.reason.contains("not whole") == true)
    _ = try await site.store.put(remote.folder.key + name, whole)
    #expect(
      try await LocalReaper(site.context()).plan(Retention()).local.map(\.session) == [session])
  }

  @Test func `what lies beyond a seal stays and is reported`() async throws {
    let site = try Site()
    let session = try await sealedAfterTicks(site)
    let remote = try await site.remote(session)
    let length = try #require(remote.seal).length
    let body: [UInt8] = [1, 2, 3]
    let beyond = SegmentName(
      session: session, generation: 1, range: length..<length + 9, hash: "0123456789abcdef",
      stored: 3)
    _ = try await site.store.put(remote.folder.key + beyond.fileName, body)
    let report = try await site.upload()
    #expect(report.leftBehind[session]?.contains(beyond.fileName) == true)
    let left = try await site.remote(session)
    #expect(left.segments.contains(beyond) && left.segments.count == 2)
    try await site.expectSealedAndEqual(session)
  }

  /// Content from before the file lost its head is only in the store.
  @Test func `what only an earlier generation has stays`() async throws {
    let folder = try AttachedFolder("*.log", idleEnd: 3000)
    try folder.append(0..<2000, to: "app.log")
    try await folder.tick()
    let whole = try Data(contentsOf: URL(filePath: folder.file("app.log")))
    // Longer than before, so that everything before is below its end.
    try Data(whole.dropFirst(whole.count / 4)).write(to: URL(filePath: folder.file("app.log")))
    try folder.append(2000..<2800, to: "app.log")
    try await folder.tick(after: 60)
    for _ in 0..<3 { try await folder.tick(after: 4000) }
    let day = try #require(try folder.site.local.home.days().first)
    let session = try #require(try folder.site.local.home.sessions(day: day).first)
    let remote = try await folder.site.remote(session)
    #expect(remote.seal?.generation == 2)
    var first: [UInt8] = []
    try await RemoteReader(folder.site.store, knowing: nil).read(
      remote, generation: 1, upTo: remote.mark(of: 1)
    ) { first.append(contentsOf: $0) }
    #expect(Data(first) == whole)
  }

  @Test func `a seal from elsewhere deletes nothing`() async throws {
    let site = try Site()
    let session = try await sealedAfterTicks(site)
    try await site.upload()
    try await reap(site)
    let remote = try await site.remote(session)
    var forged = try await seal(site, session)
    let length = StreamOffset(forged.fileSizeBytes)
    let other = SegmentName(
      session: session, generation: 1, range: 0..<length, hash: "0000000000000000", stored: 100)
    forged.objects = [other.fileName]
    let json = try forged.json()
    let name = RevisionName(
      session: session, number: try #require(remote.seal).number + 1, status: .terminated,
      length: length, json: json)
    _ = try await site.store.put(
      remote.folder.key + other.fileName, [UInt8](repeating: 0, count: 100))
    _ = try await site.store.put(remote.folder.key + name.fileName, json)
    try age(site, days: 9)
    site.local.clock.advance(seconds: 9 * Self.day)
    try await reap(site)
    let left = try await site.remote(session)
    #expect(Set(remote.segments).isSubset(of: left.segments))
    #expect(Set(remote.revisions).isSubset(of: left.revisions))
  }

  /// A home is restored to an earlier state within one boot, and the session is found to have
  /// ended.
  @Test(arguments: [false, true])
  func `a home that was rolled back seals nothing short`(isCacheLost: Bool) async throws {
    let site = try Site()
    let (home, saved) = (site.local.home.path, site.local.folder + "/saved")
    let session: SessionID
    do {
      let writer = try site.local.writer()
      session = writer.session
      write(writer, "before")
      try await site.upload()
      try FileManager.default.copyItem(atPath: home, toPath: saved)
      for number in 0..<4 {
        write(writer, "after \(number)")
        try await site.upload()
      }
    }
    let before = try await site.remote(session)
    let bytes = try await site.remoteBytes(session)
    try FileManager.default.removeItem(atPath: home)
    try FileManager.default.moveItem(atPath: saved, toPath: home)
    if isCacheLost { try FileManager.default.removeItem(atPath: site.local.home.cachePath) }
    try site.local.home.create()
    try site.local.crash(session)
    let log = try site.local.log(session)
    for _ in 0..<3 {
      let report = try await site.upload(.all)
      #expect((report.failures.first?.error as? ReplicaError)?.code == .localLogChanged)
      #expect(report.sealed == 0)
    }
    let after = try await site.remote(session)
    #expect(after.keys == before.keys)
    #expect(try await site.remoteBytes(session) == bytes)
    #expect(try site.local.log(session) == log)
  }

  @Test func `an object that others deleted is put again before the seal`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<3 {
      write(writer, "line \(number)")
      try await site.upload()
    }
    let remote = try await site.remote(writer.session)
    _ = try await site.store.delete(
      [remote.folder.key + (try #require(remote.segments.first).fileName)])
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    let sealed = try await seal(site, writer.session)
    let left = try await site.remote(writer.session)
    #expect(left.holds(try #require(sealed.objects), length: StreamOffset(sealed.fileSizeBytes)))
  }

  @Test func `a pass that seals lists the session once`() async throws {
    let site = try Site()
    let writers = try (0..<3).map { _ in try site.local.writer() }
    for writer in writers { write(writer, "line") }
    try await site.upload()
    for writer in writers { try writer.end(.exit(0)) }
    _ = site.store.takeRequests()
    try await site.upload()
    #expect(site.store.takeRequests().filter { $0.hasPrefix("LIST") }.count == 1)
  }

  @Test func `ticks stay until what covers them was read back`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<63 {
      write(writer, "line \(number)")
      try await site.upload()
    }
    site.store.plan(.flip, on: "PUT", keyContaining: ".log.zst")
    write(writer, "what covers the others, damaged on its way")
    try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    write(writer, "next")
    try await site.upload()
    #expect(try await site.remote(writer.session).segments.count == 2)
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }

  // MARK: Devices

  @Test func `a lost device record lets open sessions be sent again`() async throws {
    var site = try Site()
    let former = site
    let writer = try site.local.writer()
    write(writer, "under the first id")
    try await site.upload()
    let before = try await former.remote(writer.session).keys
    try site.loseDevice()
    let report = try await site.upload()
    #expect(report.formerDevices == [former.device.deviceId: 1])
    write(writer, "under the second")
    #expect(try await site.upload().formerDevices.isEmpty)
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    #expect(try await former.remote(writer.session).keys == before)
  }

  @Test func `a lost device record lets attached logs be sent again`() async throws {
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
}
