import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.shiftedTime, .tags(.medium)) struct RotatedSessionTests: RotatedSessions {
  @Test func `a compressed part is sent without recompression`() async throws {
    var random = SeededGenerator(case: 1, seed: 1)
    let site = try site()
    let writer = try site.local.writer(rotateAt: Self.limit)
    write(60, to: writer, &random)
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    #expect(parts.count >= 2)
    try await site.upload()
    let remote = try await site.remote(writer.session)
    let name = try #require(remote.segments.first)
    let object = try await site.store.get(remote.folder.key + name.fileName)
    var position = 0
    for part in parts {
      let reader = try CompressedPart(part)
      for frame in reader.frames {
        let stored = try reader.stored(frame)
        #expect(Array(object[position..<position + stored.count]) == stored)
        position += stored.count
      }
    }
    #expect(try await site.remoteBytes(writer.session).count == Int(name.range.upperBound))

    // If it is damaged in transit, it is made again as it was.
    site.store.plan(.flip, on: "PUT", keyContaining: ".log.zst")
    write(60, to: writer, &random)
    try await site.upload()
    try await compressParts(of: writer)
    try writer.end(.exit(0))
    try await site.upload()
    #expect(try await site.remote(writer.session).seal != nil)
    #expect(site.store.unexercised.isEmpty)
    #expect(try await Verifier(site.context()).verify(site.remote(writer.session)).problem == nil)
  }

  @Test(arguments: SeededGenerator.cases(80))
  func `uploads and the seal are independent of rotations`(number: Int) async throws {
    var random = SeededGenerator(case: number)
    let site = try Site()
    let writer = try site.local.writer(
      rotateAt: ByteCount(Int64.random(in: 500..<20_000, using: &random)))
    for _ in 0..<6 {
      write(Int.random(in: 0..<60, using: &random), to: writer, &random)
      if Bool.random(using: &random) {
        try? FileManager.default.removeItem(atPath: site.local.home.cachePath + "/manifest.sqlite")
      }
      let report = try await site.upload()
      #expect(report.failures.isEmpty && report.stoppedBy == nil, "\(report)")
      #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
    }
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    let finding = try await Verifier(site.context()).verify(site.remote(writer.session))
    #expect(finding.problem == nil && finding.comparedLocally)
  }

  @Test
  func `parts left uncompressed by a dead recorder are compressed at the seal`() async throws {
    let site = try Site()
    let session = try site.local.session([UInt8](repeating: 0x61, count: 9_000) + [0x0a])
    let files = site.local.home.files(for: session)
    let whole = try site.local.log(session)
    var log = try LiveLog(files, rotateAt: 1)
    _ = [UInt8]().withUnsafeBytes { log.append($0) }
    let part = try #require(try files.parts().first)
    #expect(access(part.plain, F_OK) == 0)
    try FileManager.default.removeItem(atPath: files.log)
    try await site.upload()
    try await site.expectSealedAndEqual(session)
    #expect(try await site.remoteBytes(session) == whole)
    #expect(access(part.plain, F_OK) != 0 && access(part.compressed, F_OK) == 0)
  }

  @Test func `a rotated session is reaped with all its parts`() async throws {
    let site = try site()
    let writer = try await sent(site)
    try writer.end(.exit(0))
    try await site.upload()
    let taken = try site.local.home.sessionBytes()
    site.local.clock.advance(seconds: 8 * 86_400)
    let reaper = LocalReaper(try site.context())
    let plan = try await reaper.plan(Retention())
    let others = try [writer.files.sidecar, writer.files.rotated].map {
      ByteCount(try FileStatus($0)?.length ?? 0)
    }
    #expect(plan.local.map(\.bytes) == [taken - others.total])
    #expect(try reaper.execute(plan).allSatisfy { $0.error == nil })
    #expect(try site.local.home.days() == [])
  }

  @Test(arguments: [false, true])
  func `old parts are pruned while the session continues`(isSealed: Bool) async throws {
    let site = try site()
    let writer = try await sent(site)
    let before = try site.local.log(writer.session)
    if isSealed {
      try writer.end(.exit(0))
      try await site.upload()
    }
    #expect(try await prune(site).pruned.isEmpty)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await prune(site, after: nil) == PrunePlan())
    let parts = try writer.files.parts()
    let plan = try await prune(site)
    #expect(plan.pruned.map(\.part.start) == parts.dropLast().map(\.start), "\(plan)")
    #expect(try writer.files.parts() == parts.suffix(1))
    let log = try LocalStream(writer.files)
    let start = try #require(parts.last).start
    #expect(try log.available().lowerBound == start)
    #expect(try log.read(start..<StreamOffset(before.count)) == Array(before[Int(start)...]))

    var expected = before
    if !isSealed {
      var random = SeededGenerator(case: 2)
      write(100, to: writer, &random)
      try await site.upload()
      try writer.end(.exit(0))
      let here = try site.local.log(writer.session)
      expected = before[..<Int(start)] + here
    } else {
      expected = before[..<Int(start)] + (try site.local.log(writer.session))
    }
    // The cache may be lost too: the names show what was sent.
    try? FileManager.default.removeItem(atPath: site.local.home.cachePath + "/manifest.sqlite")
    try await site.upload()
    #expect(try await site.remote(writer.session).seal != nil)
    #expect(try await site.remoteBytes(writer.session) == expected)
    let finding = try await Verifier(site.context()).verify(site.remote(writer.session))
    #expect(finding.problem == nil && !finding.comparedLocally)
    let catalog = try site.local.catalog(site.context())
    let entry = try #require(
      try await catalog.entries(devices: [site.local.device.deviceId]).first)
    #expect(entry.length == StreamOffset(expected.count) && !entry.hasLocalLog)
  }

  @Test func `the advice about vanished objects names what reads the rest`() async throws {
    let site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let remote = try await site.remote(writer.session)
    let first = try #require(remote.segments.first)
    _ = try await site.store.delete([remote.folder.key + first.fileName])
    var random = SeededGenerator(case: 2)
    write(100, to: writer, &random)
    let context = try site.context()
    let lock = try #require(try HomeLock.acquire(site.local.home))
    OpenSessionReview(context).runIfDue(holding: lock)
    let uploader = Uploader(context)
    let report = try await uploader.execute(uploader.plan(.due), holding: lock)
    let advice = "\(try #require(report.failures.first).error)"
    #expect(advice.contains("'tidemark show --salvage \(writer.session) > FILE'"), "\(advice)")
  }

  @Test(arguments: [false, true])
  func `a pruned session is sealed again if the store has what was pruned`(isLost: Bool)
    async throws
  {
    let site = try site()
    let writer = try await sent(site)
    try writer.end(.exit(0))
    try await site.upload()
    let before = try site.local.log(writer.session)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let remote = try await site.remote(writer.session)
    let seal = try #require(remote.seal)
    let lost = isLost ? remote.keys : [remote.folder.key + seal.fileName]
    _ = try await site.store.delete(lost)
    let left = try await site.remote(writer.session)
    let verifier = Verifier(try site.context())
    #expect(try await verifier.verify(left).problem != nil)
    let obstacle = try verifier.obstacle(to: left)
    let review = try await SealReview(site.context()).runIfDue()
    #expect(review.copies == [.init(writer.session, leaving: isLost ? .end : .whole)])
    #expect(try await verifier.reopen(writer.session, having: left) == !isLost)
    guard !isLost else {
      #expect(obstacle?.contains("pruned") == true)
      return
    }
    #expect(obstacle == nil)
    #expect(try await site.upload().failures.isEmpty)
    #expect(try await site.remote(writer.session).seal != nil)
    #expect(try await site.remoteBytes(writer.session) == before)
    #expect(try await Verifier(site.context()).verify(site.remote(writer.session)).problem == nil)
  }

  @Test func `a pruned session whose log grew after its seal is sealed again`() async throws {
    let site = try site()
    let writer = try await sent(site)
    try writer.end(.exit(0))
    try await site.upload()
    let before = try await site.remoteBytes(writer.session)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let late = Array("late\n".utf8)
    let log = try FileHandle(forWritingTo: URL(filePath: writer.files.log))
    try log.seekToEnd()
    try log.write(contentsOf: Data(late))
    try log.close()
    site.local.clock.advance(seconds: 86_400)
    try OpenSessionReview(site.context()).runIfDue(
      holding: try #require(try HomeLock.acquire(site.local.home)))
    let report = try await site.upload(.all)
    #expect(report.failures.isEmpty, "\(report.failures)")
    #expect(try await site.remote(writer.session).seal?.length == StreamOffset(before.count + 5))
    #expect(try await site.remoteBytes(writer.session) == before + late)
    #expect(try await Verifier(site.context()).verify(site.remote(writer.session)).problem == nil)
  }

  /// Nothing else would show which objects hold what was pruned.
  @Test func `a killed repair of a pruned session forgets no object that was sent`() async throws {
    let site = try site()
    let writer = try await sent(site)
    try writer.end(.exit(0))
    try await site.upload()
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let remote = try await site.remote(writer.session)
    let path = writer.files.sidecar
    let sealed = try AtomicFile.read(path)
    let context = try site.context()
    let lock = try #require(try HomeLock.acquire(site.local.home))
    for lifetime in 0... {
      let files = TestFiles(lifetime: lifetime)
      await FileEffect.$hook.withValue(files) {
        _ = try? await Verifier(context).reopen(writer.session, having: remote, holding: lock)
      }
      if try Sidecar.load(path).seal == nil {
        let known = try context.manifest.entry(writer.session)?.segments ?? [:]
        #expect(!known.isEmpty, "killed after \(lifetime)")
      }
      guard files.isDead else { return #expect(lifetime > 3) }
      try AtomicFile.write(sealed, to: path)
    }
  }

  /// What this machine has pruned is in the store under the former id only.
  @Test(arguments: [false, true], [false, true])
  func `a pruned session is sent again under another device id`(
    hasEnded: Bool, isForged: Bool
  ) async throws {
    var site = try site()
    let writer = try await sent(site)
    let before = try site.local.log(writer.session)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let former = try await site.remote(writer.session)
    if isForged {
      let ours = try #require(former.segments.first)
      let forged = [UInt8](repeating: 0x23, count: Int(ours.length) + 9)
      try await site.forge(forged, at: 0, of: writer.session)
    }
    if hasEnded { try writer.end(.exit(0)) }
    var machine = site.local.clock.machine
    machine.machineId = "another"
    site.device = try Device.load(site.local.home, on: machine)
    #expect(site.device.deviceId != former.folder.device)
    if !hasEnded { writer.print("under the new id") }
    for _ in 0..<2 {
      let report = try await site.upload()
      #expect(report.failures.isEmpty, "\(report.failures)")
    }
    if !hasEnded { try writer.end(.exit(0)) }
    try await site.upload()
    let start = try #require(try writer.files.parts().first).start
    let whole = before[..<Int(start)] + (try site.local.log(writer.session))
    #expect(try await site.remote(writer.session).seal != nil)
    let bytes = try await site.remoteBytes(writer.session)
    #expect(bytes == Array(whole))
    let finding = try await Verifier(site.context()).verify(site.remote(writer.session))
    #expect(finding.problem == nil, "\(finding)")
  }

  @Test func `without its former copy, a pruned session's failure names the former device`()
    async throws
  {
    var site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let former = try await site.remote(writer.session)
    _ = try await site.store.delete([former.folder.key + (former.segments.first?.fileName ?? "")])
    try site.loseDevice()
    let report = try await site.upload()
    let text = "\(try #require(report.failures.first).error)"
    #expect(text.contains(former.folder.device) && text.contains(site.device.deviceId), "\(text)")
    #expect(try await site.remote(writer.session).segments.isEmpty)
  }

  /// Somebody who may write to the store adds an object, and perhaps deletes ours.
  @Test(arguments: [(0, false), (9, false), (0, true)])
  func `an object that others put for pruned bytes never counts`(more: Int, isOursGone: Bool)
    async throws
  {
    let site = try site()
    let writer = try await sent(site)
    let before = try await site.remoteBytes(writer.session)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let remote = try await site.remote(writer.session)
    let ours = try #require(remote.segments.first)
    let forged = [UInt8](repeating: 0x23, count: Int(ours.length) + more)
    try await site.forge(forged, at: ours.range.lowerBound, of: writer.session)
    if isOursGone { _ = try await site.store.delete([remote.folder.key + ours.fileName]) }
    try writer.end(.exit(0))
    let failures = try await site.upload().failures
    #expect(failures.isEmpty == !isOursGone, "\(failures)")
    _ = try await site.upload()
    let found = try await site.remote(writer.session)
    #expect(found.segments.contains(ours) == !isOursGone)
    #expect((found.seal == nil) == isOursGone)
    guard !isOursGone else {
      // What repairs has to know it, too.
      let obstacle = try Verifier(site.context()).obstacle(to: found)
      #expect(obstacle?.contains("is not among the objects that were sent") == true)
      return
    }
    #expect(try await site.remoteBytes(writer.session).starts(with: before))
    #expect(try await Verifier(site.context()).verify(found).problem == nil)
  }

  /// The seal is gone, and another object has taken the place of one that it named.
  @Test(arguments: [false, true])
  func `a pruned session is sealed again over its own objects only`(isOursGone: Bool) async throws {
    let site = try site()
    let writer = try await sent(site)
    try writer.end(.exit(0))
    try await site.upload()
    let before = try await site.remoteBytes(writer.session)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let remote = try await site.remote(writer.session)
    let (seal, ours) = (try #require(remote.seal), try #require(remote.segments.first))
    _ = try await site.store.delete([remote.folder.key + seal.fileName])
    let forged = [UInt8](repeating: 0x23, count: Int(ours.length))
    try await site.forge(forged, at: ours.range.lowerBound, of: writer.session)
    if isOursGone { _ = try await site.store.delete([remote.folder.key + ours.fileName]) }
    let left = try await site.remote(writer.session)
    let verifier = Verifier(try site.context())
    if let obstacle = try verifier.obstacle(to: left) {
      #expect(obstacle.contains("is not among the objects that were sent"))
    } else {
      #expect(!isOursGone)
    }
    #expect(try await verifier.reopen(writer.session, having: left))
    _ = try await site.upload()
    let found = try await site.remote(writer.session)
    #expect((found.seal == nil) == isOursGone)
    if !isOursGone { #expect(try await site.remoteBytes(writer.session) == before) }
  }
}
