import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync
import TestSupport
import Testing

/// A home knows which sessions it sealed: without that seal, objects in the store may be another
/// writer's.
@Suite(.tags(.medium)) struct VanishedSealTests {
  private func read(
    _ site: Site, _ session: SessionID, _ mode: SessionReader.Mode, lastLines: Int? = nil
  ) async throws -> (bytes: [UInt8], isWhole: Bool, told: [String]) {
    let catalog = try site.local.catalog(site.context())
    let entry = try await catalog.entry(
      matching: session.description, devices: [site.device.deviceId])
    let told = Guarded<[String]>([])
    let reader = try SessionReader(entry, side: .remote, in: catalog) { line in
      told.withLock { $0.append(line) }
    }
    var bytes: [UInt8] = []
    let isWhole = try await reader.read(
      RecordChoice(RecordFilter(), lastLines: lastLines), mode
    ) { bytes += $0 }
    return (bytes, isWhole, told.withLock(\.self))
  }

  @Test func `a remote copy without this home's seal is not read as if it were sealed`()
    async throws
  {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    try await site.upload()
    let log = try site.local.log(session)
    #expect(try await read(site, session, .verified).bytes == log)
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    _ = try await site.store.delete([remote.folder.key + seal.fileName])
    for lines in [nil, 1] {
      await #expect(throws: ReadingError.self) {
        _ = try await read(site, session, .verified, lastLines: lines)
      }
      await #expect(throws: ReadingError.self) {
        _ = try await read(site, session, .ranged, lastLines: lines)
      }
    }
    let salvaged = try await read(site, session, .salvaged)
    #expect(salvaged.bytes == log && !salvaged.isWhole)
    #expect(salvaged.told.contains { $0.contains(seal.fileName) })
  }

  @Test func `an earlier seal that was put back is not read as this home's`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    writer.print("one")
    try await site.upload()
    try writer.end(.exit(0))
    try await site.upload()
    let remote = try await site.remote(writer.session)
    let seal = try #require(remote.seal)
    try #require(seal.number > 1)
    let json = try await site.store.get(remote.folder.key + seal.fileName)
    let earlier = RevisionName(
      session: writer.session, number: seal.number - 1, status: seal.status, length: seal.length,
      json: json)
    _ = try await site.store.put(remote.folder.key + earlier.fileName, json)
    #expect(
      try await read(site, writer.session, .verified).bytes == site.local.log(writer.session))
    _ = try await site.store.delete([remote.folder.key + seal.fileName])
    let error = await #expect(throws: ReadingError.self) {
      _ = try await read(site, writer.session, .verified)
    }
    #expect(error?.code == .damaged && error?.description.contains(seal.fileName) == true)
  }

  @Test(arguments: ["seal", "all but a hold", "another seal"])
  func `a copy without this home's seal fails to verify until it is sealed again`(
    what: String
  ) async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    try await site.upload()
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    let key = remote.folder.key + seal.fileName
    let json = try await site.store.get(key)
    if what == "all but a hold" {
      try await RemoteHold(site.context()).keep(remote, for: .days(90))
      _ = try await site.store.delete(remote.keys)
      #expect(try await site.remote(session).holds.count == 1)
    }
    _ = try await site.store.delete([key])
    if what == "another seal" {
      let other = RevisionName(
        session: session, number: seal.number + 1, status: seal.status, length: seal.length,
        json: json)
      _ = try await site.store.put(remote.folder.key + other.fileName, json)
    }
    let verifier = Verifier(try site.context())
    let left = try await site.remote(session)
    let problem = try #require(try await verifier.verify(left).problem)
    #expect(problem.contains(what == "all but a hold" ? "nothing of" : seal.fileName))
    let entry = try await site.local.catalog(site.context()).entry(
      matching: session.description, devices: [site.device.deviceId])
    #expect((entry.remote == nil) == (what == "all but a hold"))

    #expect(try verifier.obstacle(to: left) == nil)
    #expect(try verifier.reopen(session))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
    #expect(try await Verifier(site.context()).verify(site.remote(session)).problem == nil)
  }

  @Test func `what a verification found is known until the session is whole, or gone`() async throws
  {
    let site = try Site()
    let (home, store) = (site.local.home, site.store.location)
    let session = try site.local.session(Array("one\n".utf8))
    let other = try site.local.session(Array("two\n".utf8))
    try await site.upload()
    func known() throws -> [SessionID] {
      DamagedCopies(home, store: store, at: site.local.clock.now()).copies.map(\.session)
    }
    func record(_ results: [DamagedCopies.Result]) throws {
      var copies = DamagedCopies(home, store: store, at: site.local.clock.now())
      try copies.record(results, keptFor: .days(30), at: site.local.clock.now())
    }
    let both = [session, other].sorted()
    try record(both.map { .init($0, problem: "an object is missing") })
    #expect(try known() == both)
    #expect(DamagedCopies(home, store: "s3://other", at: site.local.clock.now()).isEmpty)
    // Others that were verified meanwhile change nothing about it.
    try record([.init(other, problem: nil)])
    #expect(try known() == [session])
    #expect(try Verifier(site.context()).reopen(session))
    #expect(try known().isEmpty)

    // One that was found whole since is not damaged once it is gone from here.
    try record([.init(session, problem: nil)])
    try await site.upload()
    let here = home.files(for: session).sidecar
    let sidecar = try Data(contentsOf: URL(filePath: here))
    try File.remove(here)
    #expect(try known().isEmpty)
    try sidecar.write(to: URL(filePath: here))

    try record([.init(session, problem: "an object is missing")])
    site.local.clock.advance(seconds: 8 * 86_400)
    var retention = Retention()
    retention.trash = .zero
    let reaper = LocalReaper(try site.context())
    // The local copy may be the only good one.
    let plan = try await reaper.plan(retention)
    #expect(plan.kept.map(\.session) == [session])
    #expect(plan.kept.first?.reason.contains("an object is missing") == true)
    #expect(try reaper.execute(plan, retention).map(\.session) == [other])
    let deletion = Deletion(
      home: home, context: try site.context(), lived: try site.context().lived, command: "delete")
    _ = try await deletion.delete(session, local: true, remote: nil)
    #expect(try known() == [session])
    let outcome = try await deletion.delete(session, local: false, remote: site.remote(session))
    #expect(outcome.allSatisfy { $0.error == nil })
    #expect(try known().isEmpty)
  }

  @Test func `a copy that retention deleted in part is no damage`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    try await site.upload()
    let remote = try await site.remote(session)
    _ = try await site.store.delete(remote.revisions.map { remote.folder.key + $0.fileName })
    var sidecar = try Sidecar.load(site.local.home.files(for: session).sidecar)
    sidecar.remoteReapedAt = site.local.clock.now()
    try sidecar.save(site.local.home.files(for: session).sidecar)
    #expect(try await Verifier(site.context()).verify(site.remote(session)).problem == nil)
  }

  @Test(arguments: [false, true])
  func `the beginning of an ended log is not the whole of it`(isSealedElsewhere: Bool) async throws
  {
    let site = try Site()
    let writer = try site.local.writer()
    writer.print("one")
    try await site.upload()
    writer.print("two")
    func problem() async throws -> String? {
      try await Verifier(site.context()).verify(site.remote(writer.session)).problem
    }
    // What an open session has not sent yet is no problem.
    #expect(try await problem() == nil)
    try writer.end(.exit(0))
    let length = try site.local.log(writer.session).count
    // Nor is what a pass leaves of an ended one to the next.
    let rest = try await StreamOffset(length) - site.remote(writer.session).end
    let finding = try await Verifier(site.context()).verify(site.remote(writer.session))
    #expect(finding.problem == nil && finding.waiting == rest && rest > 0)
    // Without its marker no pass sends it soon.
    try File.remove(site.local.home.files(for: writer.session).marker)
    if isSealedElsewhere {
      let path = site.local.home.files(for: writer.session).sidecar
      var sidecar = try Sidecar.load(path)
      sidecar.seal = Sidecar.Seal(
        store: "s3://logs/two", revision: "x", sealedAt: site.local.clock.now(), digest: nil,
        length: StreamOffset(length))
      try sidecar.save(path)
    }
    let found = try #require(try await problem())
    #expect(found.contains("of the local log's \(length) bytes"))
    #expect(found.contains("s3://logs/two") == isSealedElsewhere)
    #expect(try Verifier(site.context()).reopen(writer.session))
    try await site.upload()
    #expect(try await problem() == nil)
  }

  @Test func `a sealed log that lost its end is read from the store`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    try await site.upload()
    let files = site.local.home.files(for: session)
    let log = try site.local.log(session)
    try File.remove(files.log)
    try AtomicFile.write(Array(log.dropLast(5)), to: files.log)
    let catalog = try site.local.catalog(site.context())
    let entry = try await catalog.entry(
      matching: session.description, devices: [site.device.deviceId])
    let reader = try SessionReader(entry, side: .any, in: catalog) { _ in }
    var bytes: [UInt8] = []
    #expect(try await reader.read(RecordChoice(RecordFilter()), .verified) { bytes += $0 })
    #expect(bytes == log)
  }

  @Test func `the store should have something of an open session of which any was sent`()
    async throws
  {
    let site = try Site()
    let sent = try site.local.writer()
    sent.print("one")
    try await site.upload()
    let unsent = try site.local.writer()
    unsent.print("two")
    _ = try await site.store.delete(site.remote(sent.session).keys)
    let verifier = Verifier(try site.context())
    #expect(try verifier.hasSent(sent.session) && !verifier.hasSent(unsent.session))
    #expect(try await verifier.reopen(sent.session, having: site.remote(sent.session)))
    try await site.upload()
    #expect(try await site.remoteBytes(sent.session) == site.local.log(sent.session))
  }
}
