import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A home restored from a backup finds its sessions sealed.
@Suite(.tags(.medium)) struct SealAdoptionTests {
  /// A session that was sealed after its home was copied, and the home as it was then.
  private func rolledBack(
    _ site: Site, complete: Bool = false
  ) async throws -> (session: SessionID, log: [UInt8]) {
    // A log of raw output does not say how its session ended.
    let writer = try site.local.writer(format: complete ? .asIs : .lines)
    writer.print("one")
    try await site.upload()
    let home = site.local.home.path
    let path = site.local.home.files(for: writer.session).sidecar
    let active = try Data(contentsOf: URL(filePath: path))
    let (copy, files) = (home + ".bak", FileManager.default)
    if complete { try writer.end(.exit(0)) }
    try files.copyItem(atPath: home, toPath: copy)
    if !complete {
      writer.print("two")
      try await site.upload()
      try writer.end(.exit(0))
    }
    for _ in 0..<2 { try await site.upload() }
    let log = try site.local.log(writer.session)
    try files.removeItem(atPath: home)
    try files.moveItem(atPath: copy, toPath: home)
    try active.write(to: URL(filePath: path))
    try site.local.crash(writer.session)
    return (writer.session, log)
  }

  private func sidecar(_ site: Site, _ session: SessionID) throws -> Sidecar {
    try Sidecar.load(site.local.home.files(for: session).sidecar)
  }

  /// Everything below the store's devices.
  private func objects(_ site: Site) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: "\(site.local.folder)/store").sorted()
  }

  @Test(arguments: [false, true])
  func `a home behind a sealed session adopts its seal`(complete: Bool) async throws {
    let site = try Site()
    let (session, log) = try await rolledBack(site, complete: complete)
    let before = try objects(site)
    let report = try await site.upload()
    #expect(report.failures.isEmpty && report.sealed == 1)
    #expect(try objects(site) == before)
    #expect(try await site.remoteBytes(session) == log)
    #expect(try site.local.home.openSessions().isEmpty)
    let sidecar = try sidecar(site, session)
    #expect(sidecar.status == .terminated && sidecar.cause == .exit(0))
    #expect(sidecar.seal?.length == StreamOffset(log.count))
    let finding = try await Verifier(site.context()).verify(site.remote(session))
    #expect(finding.problem == nil && (finding.lostLocally > 0) == !complete)

    _ = site.store.takeRequests()
    let second = try await site.upload()
    #expect(second.failures.isEmpty && second.skipped.isEmpty && second.supersededLeft.isEmpty)
    #expect(try await site.remoteBytes(session) == log)

    // Once proven, the local copy is deleted like any other.
    site.local.clock.advance(seconds: 8 * 86_400)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.local.map(\.session) == [session])
  }

  @Test func `a log that differs from the sealed stream is refused`() async throws {
    let site = try Site()
    let (session, log) = try await rolledBack(site)
    let path = site.local.home.files(for: session).log
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[bytes.count - 2] ^= 1
    try bytes.write(to: URL(filePath: path))
    let report = try await site.upload()
    #expect(report.failures.count == 1 && report.sealed == 0)
    #expect(try await site.remoteBytes(session) == log)
    #expect(try site.local.home.openSessions() == [session])
  }

  @Test func `a seal whose objects are gone is named in the refusal`() async throws {
    let site = try Site()
    // The objects of its ticks stay.
    site.store.plan(.failBefore(.conflict), on: "DELETE", times: 99)
    let (session, _) = try await rolledBack(site)
    let remote = try await site.remote(session)
    let sealed = try #require(remote.segments.first)
    #expect(remote.segments.count > 2 && sealed.range.upperBound == remote.seal?.length)
    site.store.forgetPlans()
    _ = try await site.store.delete([remote.folder.key + sealed.fileName])
    let report = try await site.upload()
    #expect("\(report.failures.map(\.error))".contains(sealed.fileName))
    #expect(report.sealed == 0)
  }

  @Test(arguments: [true, false])
  func `a log that was touched after its seal is compared before it goes`(
    differs: Bool
  ) async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 8 * 86_400)
    let path = URL(filePath: site.local.home.files(for: session).log)
    var bytes = try Data(contentsOf: path)
    if differs { bytes[bytes.count - 2] ^= 1 }
    try bytes.write(to: path)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.local.map(\.session) == (differs ? [] : [session]))
    #expect(plan.kept.first?.reason.contains("was changed after") == (differs ? true : nil))
  }

  @Test func `a forged seal is not adopted`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    writer.print("one")
    try writer.end(.exit(0))
    // Another writer of the store puts a longer stream and its seal.
    let session = writer.session
    let folder = SessionFolder(device: site.device.deviceId, session: session)
    let text = try site.local.log(session) + Array("forged\n".utf8)
    let lane = try SegmentWorker()
    let path = site.local.folder + "/forged"
    try Data(text).write(to: URL(filePath: path))
    let segment = try await lane.encode(
      LocalStream(path: path), session: session, generation: 1,
      range: 0..<StreamOffset(text.count), storedLimit: .max, frameLength: 1 << 20, format: .lines)
    _ = try await site.store.put(folder.key + segment.name.fileName, segment.body)
    var sidecar = try sidecar(site, session).remoteForm
    sidecar.status = .terminated
    sidecar.digest = segment.tally?.digest
    sidecar.objects = [segment.name.fileName]
    let json = try sidecar.json()
    let seal = RevisionName(
      session: session, number: 1, status: .terminated, generation: 1,
      length: StreamOffset(text.count), json: json)
    _ = try await site.store.put(folder.key + seal.fileName, json)
    let key = try DeviceKey(
      deviceId: site.device.deviceId, created: session.startedAt,
      seed: Array(repeating: 7, count: 32))
    let report = try await onePass(.transient) {
      try SyncContext(
        home: site.local.home, device: site.device, store: site.store,
        machine: site.local.clock.machine, transfers: 4, signer: key,
        keys: KnownKeys(site.local.home, named: [:], own: key))
    }
    #expect(report.sealed == 0 && report.failures.count == 1)
    #expect("\(report.failures.map(\.error))".contains("is not signed"))
  }

  /// Nothing of it is left but what the store has: the home was copied while its file was short, and
  /// the file is gone.
  @Test(.shiftedTime, arguments: ["gz", "plain"], [false, true])
  func `a home behind a sealed attached log that is gone adopts its seal`(
    form: String, losesCache: Bool
  ) async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<3, to: "app.log")
    try await folder.tick()
    let home = folder.site.local.home.path
    try FileManager.default.copyItem(atPath: home, toPath: home + ".bak")
    try folder.append(3..<33, to: "app.log")
    try folder.rename("app.log", to: "app.log.1")
    if form == "gz" { #expect(try await folder.run("gzip app.log.1") == 0) }
    for _ in 0..<3 { try await folder.tick(after: 86_400) }
    try await folder.expectSealed(1)
    #expect(try await folder.run("rm app.log.1*") == 0)
    let session = try #require(try folder.sidecars().first?.sessionId)
    let before = try objects(folder.site)
    try FileManager.default.removeItem(atPath: home)
    try FileManager.default.moveItem(atPath: home + ".bak", toPath: home)
    if losesCache { try FileManager.default.removeItem(atPath: folder.site.local.home.cachePath) }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try objects(folder.site) == before)
    #expect(try await folder.remoteLines() == [Array(0..<33)])
    #expect(try await folder.gaps().isEmpty)
    try await folder.expectSealed(1)
    let sealed = try sidecar(folder.site, session)
    #expect(sealed.seal?.length == sealed.source?.length)
    folder.site.local.clock.advance(seconds: 8 * 86_400)
    let plan = try await LocalReaper(folder.site.context()).plan(Retention())
    #expect(plan.local.map(\.session) == [session])
  }

  /// What a home does after it was put back, before its file is removed.
  enum Continuation: CaseIterable { case sends, sendsMore, sendsAndLosesCache, sendsNothing }

  /// The home and its file were put back, and the program has written other lines since.
  @Test(.shiftedTime, arguments: Continuation.allCases, [false, true])
  func `a home that has gone on otherwise keeps what it sent, and what was sealed`(
    _ continuation: Continuation, sealedWithGap: Bool
  ) async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    let (home, files) = (folder.site.local.home.path, FileManager.default)
    for path in [home, folder.path] { try files.copyItem(atPath: path, toPath: path + ".bak") }
    try folder.append(100..<200, to: "app.log")
    try await folder.tick(after: 7200)
    if sealedWithGap {
      try folder.remove("app.log")
    } else {
      #expect(try await folder.run("mv app.log app.log.1; gzip app.log.1") == 0)
    }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try await folder.expectSealed(1)
    for path in [home, folder.path] {
      try files.removeItem(atPath: path)
      try files.moveItem(atPath: path + ".bak", toPath: path)
    }
    let count = continuation == .sendsMore ? 300 : 20
    try folder.append(500..<500 + count, to: "app.log")
    if continuation == .sendsNothing {
      try folder.tickWithoutStore()
    } else {
      try await folder.tick(isDisturbed: true)
    }
    if continuation == .sendsAndLosesCache { try folder.loseCache() }
    let before = Set(try objects(folder.site))
    try folder.remove("app.log")
    for _ in 0..<3 {
      folder.site.local.clock.advance(seconds: 7200)
      try folder.tickWithoutStore()
      let report = try await folder.site.upload()
      #expect("\(report.failures.map(\.error))".contains("delete --local"))
      #expect(report.sealed == 0)
    }
    #expect(before.isSubset(of: try objects(folder.site)))
  }

  /// A seal has the line that reports the loss; a killed pass may not have recorded it.
  @Test(.shiftedTime) func `a seal with the line that reports a loss is not adopted in its place`()
    async throws
  {
    for lifetime in 0... {
      let folder = try AttachedFolder("app.log*")
      try folder.append(0..<3, to: "app.log")
      try await folder.tick()
      try folder.append(3..<5, to: "app.log")
      try folder.tickWithoutStore()
      try folder.remove("app.log")
      let files = TestFiles(lifetime: lifetime)
      try await FileEffect.$hook.withValue(files) {
        do {
          try await folder.tick(after: 7200, isDisturbed: true)
        } catch  where files.isDead {}
      }
      for _ in 0..<3 { try await folder.tick(after: 7200, isDisturbed: true) }
      #expect(try await folder.gaps().count == 1, "killed after \(lifetime)")
      try await folder.expectSealed(1)
      let session = try #require(try folder.sidecars().first?.sessionId)
      #expect(
        FileManager.default.fileExists(atPath: folder.site.local.home.files(for: session).log))
      guard files.isDead else { return #expect(lifetime > 10) }
    }
  }

  /// The seal of a withheld log ends where sending did, as the stream of its lost file does.
  @Test(.shiftedTime) func `the line that reports the loss of a withheld log stays`() async throws {
    var folder = try AttachedFolder("app.log*")
    try folder.append(0..<3, to: "app.log")
    try await folder.tick()
    folder.site.consent = .metadata
    try folder.append(3..<5, to: "app.log")
    try await folder.tick(after: 7200)
    try folder.remove("app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    let sidecar = try #require(try folder.sidecars().first)
    #expect(sidecar.seal != nil && sidecar.seal?.length == sidecar.source?.length)
    let log = try AtomicFile.read(folder.site.local.home.files(for: sidecar.sessionId).log)
    #expect(log.starts(with: GapLine.startOfLog))
  }
}
