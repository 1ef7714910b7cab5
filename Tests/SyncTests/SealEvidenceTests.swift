import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A seal as evidence about the objects beside it: only those that it names may replace others.
@Suite(.tags(.medium)) struct SealEvidenceTests {
  private static let day: Int64 = 86_400

  /// A session with objects superseded by its seal, before the pass that deletes them.
  private func sealedAfterTicks(_ site: Site) async throws -> SessionID {
    let writer = try site.local.writer()
    for number in 0..<3 {
      writer.print("line \(number)")
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
    let put = Set(remote.segments.map(\.fileName))
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

  @Test func `segments beyond a seal stay and are reported`() async throws {
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
    #expect(report.sealedAsSent[session]?.contains(beyond.fileName) == true)
    let left = try await site.remote(session)
    #expect(left.segments.contains(beyond) && left.segments.count == 2)
    try await site.expectSealedAndEqual(session)
  }

  /// Content from before the file lost its head is only in the store.
  @Test(.shiftedTime) func `bytes that only an earlier generation has stay`() async throws {
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
    try await site.reap()
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
    try site.ageStore(days: 9)
    site.local.clock.advance(seconds: 9 * Self.day)
    try await site.reap()
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
      writer.print("before")
      try await site.upload()
      try FileManager.default.copyItem(atPath: home, toPath: saved)
      for number in 0..<4 {
        writer.print("after \(number)")
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

  /// The store proved it when it was put.
  @Test func `an object that was found damaged since is read back before the seal`() async throws {
    var site = try Site()
    // Nothing puts its bytes again in a larger object.
    (site.limits.largestObject, site.limits.smallestObject) = (512, 256)
    let writer = try site.local.writer()
    var random = SeededGenerator(case: 1, seed: 1)
    for _ in 0..<3 {
      let line = (0..<600).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &random) }
      writer.print(String(line.compactMap(\.self)))
    }
    try await site.upload()
    let manifest = try site.context().manifest
    var entry = try #require(try manifest.entry(writer.session))
    entry.segments = entry.segments.mapValues { _ in true }
    try manifest.save(&entry, of: writer.session)
    let remote = try await site.remote(writer.session)
    let name = try #require(remote.cover(upTo: remote.mark).first).fileName
    let key = remote.folder.key + name
    var object = try await site.store.get(key)
    object[object.count / 2] ^= 0xff
    _ = try await site.store.put(key, object)
    let problem = try #require(
      try await Verifier(site.context()).verify(site.remote(writer.session)).problem)
    var damaged = DamagedCopies(
      site.local.home, store: site.store.location, at: site.local.clock.now())
    try damaged.record(
      [.init(writer.session, problem: problem)], keptFor: .days(30), at: site.local.clock.now())
    try writer.end(.exit(0))
    #expect(try await site.upload().failures.isEmpty)
    #expect(try await seal(site, writer.session).objects?.contains(name) == true)
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test func `an object that others deleted is put again before the seal`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<3 {
      writer.print("line \(number)")
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
    for writer in writers { writer.print("line") }
    try await site.upload()
    for writer in writers { try writer.end(.exit(0)) }
    _ = site.store.takeRequests()
    try await site.upload()
    #expect(site.store.takeRequests().filter { $0.hasPrefix("LIST") }.count == 1)
  }

  @Test func `ticks stay until the covering segments were read back`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<63 {
      writer.print("line \(number)")
      try await site.upload()
    }
    site.store.plan(.flip, on: "PUT", keyContaining: ".log.zst")
    writer.print("what covers the others, damaged on its way")
    try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    writer.print("next")
    try await site.upload()
    #expect(try await site.remote(writer.session).segments.count == 2)
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }
}
