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

@Suite(.tags(.medium)) struct RotatedSessionTests {
  private static let limit: ByteCount = 3_000

  /// A site whose clock also determines the times of files.
  private func site() throws -> Site {
    try Site(clock: TestClock(Int64(Date().timeIntervalSince1970 * 1000)))
  }

  private func write(_ lines: Int, to writer: SessionWriter, _ random: inout SeededGenerator) {
    for _ in 0..<lines {
      let count = Int.random(in: 0..<300, using: &random)
      let line = [UInt8](repeating: 0x61, count: count) + [0x0a]
      line.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    }
  }

  /// Compresses the parts that the recorder has not, and waits for those it is compressing.
  private func compressParts(of writer: SessionWriter) async throws {
    repeat {
      try writer.files.compressParts(format: .lines)
      await Task.yield()
    } while try writer.files.parts().contains { access($0.plain, F_OK) == 0 }
  }

  /// A running session that was sent while it was rotated several times.
  private func sent(_ site: Site, seed: Int = 1) async throws -> SessionWriter {
    var random = SeededGenerator(case: seed, seed: 1)
    let writer = try site.local.writer(rotateAt: Self.limit)
    for _ in 0..<5 {
      write(Int.random(in: 5..<60, using: &random), to: writer, &random)
      try await site.upload()
    }
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    #expect(parts.count >= 3)
    // Ages follow the test's clock, not the time that the test takes.
    for part in parts {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date], ofItemAtPath: part.compressed)
    }
    return writer
  }

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
    let sidecar = try #require(try FileStatus(writer.files.sidecar)).length
    #expect(plan.local.map(\.bytes) == [taken - ByteCount(sidecar)])
    #expect(try reaper.execute(plan).allSatisfy { $0.error == nil })
    #expect(try site.local.home.days() == [])
  }

  private func prune(_ site: Site, after age: Int64? = 86_400) async throws -> PrunePlan {
    var retention = Retention()
    retention.pruneAfter = age.map { .seconds($0) }
    let pruner = PartPruner(try site.context())
    let plan = try await pruner.plan(retention)
    #expect(try pruner.execute(plan).allSatisfy { $0.error == nil })
    return plan
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

  @Test func `what follows a lost part is sent, and the lost bytes are named`() async throws {
    let site = try site()
    var random = SeededGenerator(case: 3, seed: 1)
    let writer = try site.local.writer(rotateAt: Self.limit)
    write(120, to: writer, &random)
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    try #require(parts.count >= 4)
    let whole = try site.local.log(writer.session)
    let kept = parts[1].compressed + ".kept"
    try File.rename(parts[1].compressed, to: kept)

    let error = try #require(try await site.upload().failures.first?.error as? ReplicaError)
    #expect(error.code == .lostBytes && !error.detail.contains("pruned"))
    #expect(error.detail.contains("bytes \(parts[1].start) to \(parts[2].start) of"))
    #expect(error.detail.contains(parts[1].plain))
    #expect(error.detail.contains("'tidemark show --salvage --remote \(writer.session) > FILE2'"))
    func holdsAllBut(_ hole: Range<StreamOffset>) async throws {
      let remote = try await site.remote(writer.session)
      let ranges = remote.segments(of: 1).map(\.range)
      #expect(ranges.allSatisfy { !$0.overlaps(hole) })
      #expect(ranges.map(\.byteCount).reduce(0, +) + hole.byteCount == ByteCount(whole.count))
      for segment in remote.segments {
        var bytes: [UInt8] = []
        try await site.context().reader.read(segment, in: remote.folder) { bytes += $0 }
        let range = Int(segment.range.lowerBound)..<Int(segment.range.upperBound)
        #expect(bytes == Array(whole[range]))
      }
    }
    try await holdsAllBut(parts[1].start..<parts[2].start)
    let waiting = try Uploader(site.context()).plan().waiting
    #expect(waiting.map(\.reason.code) == ["refused"])
    #expect(waiting.map(\.bytes) == [parts[2].start - parts[1].start])
    let objects = try await site.remote(writer.session).keys
    #expect(try await site.upload(.all).failures.count == 1)
    #expect(try await site.remote(writer.session).keys == objects)

    // What is recorded later follows at the next attempt, and is not sealed without what is lost.
    write(5, to: writer, &random)
    try writer.end(.exit(0))
    #expect(try await site.upload(.all).failures.count == 1)
    #expect(try await site.remote(writer.session).seal == nil)
    try File.rename(kept, to: parts[1].compressed)
    try await site.upload(.all)
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test(arguments: [false, true])
  func `a lost part that was sent keeps nothing from being sent and sealed`(
    losesManifest: Bool
  ) async throws {
    let site = try site()
    let writer = try await sent(site)
    let before = try site.local.log(writer.session)
    let part = try #require(writer.files.parts().dropFirst().first)
    let kept = part.compressed + ".kept"
    try File.rename(part.compressed, to: kept)
    var random = SeededGenerator(case: 2)
    write(30, to: writer, &random)
    try await site.upload()
    #expect(try await prune(site).pruned.isEmpty)
    if losesManifest { try File.remove(site.local.home.cachePath + "/manifest.sqlite") }
    try writer.end(.exit(0))
    try await site.upload()
    let finding = try await Verifier(site.context()).verify(site.remote(writer.session))
    #expect(finding.problem == nil && !finding.comparedLocally)
    try File.rename(kept, to: part.compressed)
    #expect(try await site.remoteBytes(writer.session).starts(with: before))
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test func `a damaged part is no hole, and a missing one is`() async throws {
    let site = try site()
    let writer = try await sent(site)
    let part = try #require(writer.files.parts().dropFirst().first)
    let stored = try Data(contentsOf: URL(filePath: part.compressed))
    try stored.prefix(stored.count / 2).write(to: URL(filePath: part.compressed))
    let damaged = try LocalStream(writer.files)
    #expect(try damaged.runs().count == 1)
    #expect(throws: SystemError.self) { try damaged.read(part.start..<part.start + 1) }
    try File.remove(part.compressed)
    let runs = try LocalStream(writer.files).runs().map { try $0.available() }
    #expect(runs.count == 2 && runs.first?.upperBound == part.start)
    #expect(try site.local.home.openSessions() == [writer.session])
  }

  @Test func `salvage reads a local log past its holes and its damage`() async throws {
    let site = try site()
    var random = SeededGenerator(case: 3, seed: 1)
    let writer = try site.local.writer(rotateAt: Self.limit)
    write(120, to: writer, &random)
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    try #require(parts.count >= 5)
    let whole = try site.local.log(writer.session)
    try File.remove(parts[1].compressed)
    let stored = try Data(contentsOf: URL(filePath: parts[3].compressed))
    try stored.prefix(stored.count / 2).write(to: URL(filePath: parts[3].compressed))

    let catalog = try site.local.catalog(site.context())
    let entry = try await catalog.entry(named: "\(writer.session)", on: .local) { _ in }
    let reports = Guarded<[String]>([])
    let reader = try SessionReader(entry, side: .local, in: catalog) { line in
      reports.withLock { $0.append(line) }
    }
    var read: [UInt8] = []
    let isWhole = try await reader.read(RecordChoice(RecordFilter()), .salvaged) { read += $0 }
    #expect(!isWhole && reports.withLock(\.count) == 2)
    let lines = read.split(separator: 0x0a, omittingEmptySubsequences: false)
    let isGap = { (line: ArraySlice<UInt8>) in line.starts(with: Array("[GAP".utf8)) }
    #expect(lines.count(where: isGap) == 2)
    let kept = [
      0..<parts[1].start, parts[2].start..<parts[3].start,
      parts[4].start..<StreamOffset(whole.count),
    ].flatMap { whole[Int($0.lowerBound)..<Int($0.upperBound)] }
    #expect(Array(lines.filter { !isGap($0) }.joined(separator: [0x0a])) == kept)
  }

  @Test(arguments: [false, true])
  func `the rest of a key whose beginning was in a lost part is held back`(isKey: Bool) async throws
  {
    let site = try site()
    let writer = try site.local.writer(rotateAt: 600)
    let line = String(repeating: "MIIEowIBAAKCAQEA", count: 4)
    if isKey { writer.print("-----BEGIN RSA PRIVATE KEY-----") }
    for _ in 0..<20 { writer.print(line) }
    writer.print(isKey ? "-----END RSA PRIVATE KEY-----" : "that was it")
    for _ in 0..<10 { writer.print("all is well, and that is all there is to say") }
    try await compressParts(of: writer)
    try writer.end(.exit(0))
    let parts = try writer.files.parts()
    try #require(parts.count >= 3)
    try File.remove(parts[0].compressed)
    let whole = try site.local.log(writer.session)
    #expect(try await site.upload().failures.count == 1)
    let remote = try await site.remote(writer.session)
    var sent: [UInt8] = []
    for segment in remote.segments {
      try await site.context().reader.read(segment, in: remote.folder) { sent += $0 }
    }
    let text = String(decoding: sent, as: UTF8.self)
    #expect(text.contains("SESSION END") && text.contains("all is well"))
    #expect(text.contains(line) == !isKey)
    #expect(!isKey || !text.contains("PRIVATE KEY"))
    #expect(isKey || sent.count == whole.count)
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

  /// Possible faults of a part's bytes, remote or local.
  enum Doubt: String, CaseIterable {
    case unsent, noSegment, halfASegment, flippedBit, otherHere, stillPlain, otherStore, sealGone,
      basisGone
  }

  @Test(arguments: Doubt.allCases)
  func `a part without proof in the store is not pruned`(_ doubt: Doubt) async throws {
    let site = try site()
    let writer: SessionWriter
    if doubt == .unsent {
      writer = try site.local.writer(rotateAt: Self.limit)
      try site.context().saveLivedTime()
      var random = SeededGenerator(case: 1)
      write(200, to: writer, &random)
      try await compressParts(of: writer)
    } else {
      writer = try await sent(site)
    }
    let remote = try await site.remote(writer.session)
    let key = remote.segments.first.map { remote.folder.key + $0.fileName } ?? ""
    let first = try #require(try writer.files.parts().first)
    switch doubt {
    case .unsent: break
    case .noSegment: _ = try await site.store.delete([key])
    case .halfASegment:
      let object = try await site.store.get(key)
      _ = try await site.store.put(key, Array(object.prefix(object.count / 2)))
    case .flippedBit:
      var object = try await site.store.get(key)
      object[10] ^= 1
      _ = try await site.store.put(key, object)
    case .otherHere:
      // The same length, other bytes, and a valid compressed file.
      let length = try writer.files.open(first).length
      try FileManager.default.removeItem(atPath: first.compressed)
      try Data(repeating: 0x62, count: Int(length)).write(to: URL(filePath: first.plain))
      try await compressParts(of: writer)
    case .stillPlain:
      let bytes = try writer.files.open(first).read(at: 0, count: 1 << 20)
      try Data(bytes).write(to: URL(filePath: first.plain))
    case .otherStore, .sealGone, .basisGone:
      try writer.end(.exit(0))
      try await site.upload()
      if doubt == .sealGone {
        let keys = try await site.remote(writer.session).keys
        _ = try await site.store.delete(keys.filter { $0.hasSuffix(".json") })
      } else {
        var sidecar = try Sidecar.load(writer.files.sidecar)
        if doubt == .otherStore { sidecar.seal?.store = "s3://elsewhere" }
        if doubt == .basisGone {
          sidecar.basis = [
            "\(writer.session).g1.000000000000-000000000009.0123456789abcdef.8.log.zst"
          ]
        }
        try sidecar.save(writer.files.sidecar)
      }
    }
    let parts = try writer.files.parts()
    site.local.clock.advance(seconds: 2 * 86_400)
    let plan = try await prune(site)
    #expect(plan.pruned.isEmpty && plan.kept.count == 1, "\(plan)")
    #expect(try writer.files.parts() == parts)
  }

  @Test func `pruned parts are recorded in the ledger with one sync`() async throws {
    let site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 86_400 + 60)
    var retention = Retention()
    retention.pruneAfter = .days(1)
    let pruner = PartPruner(try site.context())
    let plan = try await pruner.plan(retention)
    #expect(plan.pruned.count > 1)
    let files = TestFiles()
    let outcomes = try FileEffect.$hook.withValue(files) { try pruner.execute(plan) }
    #expect(outcomes.count == plan.pruned.count && outcomes.allSatisfy { $0.error == nil })
    let syncs = files.effects.count { $0.kind == .synchronize && $0.path.contains("/deletions/") }
    #expect(syncs == 1)
    let entries = try DeletionLedger(site.local.home).entries { $0 == writer.session }
    #expect(entries.map(\.what) == plan.pruned.map { "part \($0.part.start)" })
  }

  /// Of a running session's second generation, the first one's bytes no longer exist.
  @Test func `a part whose delta lost its basis is kept`() async throws {
    var site = try site()
    site.redaction = RedactionRules(groups: [])
    let writer = try site.local.writer(rotateAt: Self.limit)
    var random = SeededGenerator(case: 1, seed: 1)
    write(40, to: writer, &random)
    try await site.upload()
    Array("AKIAIOSFODNN7EXAMPLE\n".utf8).withUnsafeBytes {
      writer.capture($0, from: .standardOutput)
    }
    try await site.upload()
    write(60, to: writer, &random)
    try await site.upload()
    try await compressParts(of: writer)
    site.redaction = RedactionRules()
    let redaction = try RemoteRedaction(site.context())
    let item = try #require(try await redaction.plan(writer.session))
    do {
      let lock = try #require(try HomeLock.acquire(site.local.home))
      try redaction.begin(item, holding: lock)
    }
    try await site.upload()
    for part in try writer.files.parts() {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date], ofItemAtPath: part.compressed)
    }
    let remote = try await site.remote(writer.session)
    #expect(remote.generation == 2)
    let delta = try #require(remote.cover(upTo: remote.mark).first)
    #expect(delta.kind == .delta && delta.range.lowerBound == 0)
    let basis = try await RemoteReader(site.store, knowing: nil).basis(of: delta, in: remote)
    _ = try await site.store.delete(basis.map { remote.folder.key + $0.fileName })
    site.local.clock.advance(seconds: 2 * 86_400)
    let parts = try writer.files.parts()
    let plan = try await prune(site)
    #expect(plan.pruned.isEmpty && plan.kept.count == 1, "\(plan)")
    #expect(try writer.files.parts() == parts)
  }

  /// An object in a pruned range, which nothing here compares: someone else put it.
  @Test(arguments: [false, true])
  func `a foreign object in a pruned range is kept`(losesManifest: Bool) async throws {
    let site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let remote = try await site.remote(writer.session)
    let large = try #require(remote.segments.first)
    let body: [UInt8] = [1, 2, 3]
    let foreign = SegmentName(
      session: writer.session, generation: 1, range: large.range.lowerBound..<9,
      hash: "0123456789abcdef", stored: 3)
    _ = try await site.store.put(remote.folder.key + foreign.fileName, body)
    if losesManifest {
      try FileManager.default.removeItem(atPath: site.local.home.cachePath + "/manifest.sqlite")
    } else {
      try site.context().manifest.distrustSessions()
    }
    var random = SeededGenerator(case: 2)
    write(10, to: writer, &random)
    try await site.upload()
    try writer.end(.exit(0))
    for _ in 0..<3 {
      site.local.clock.advance(seconds: 86_400)
      try await site.upload()
    }
    let left = try await site.remote(writer.session)
    #expect(left.seal != nil && left.segments.contains(foreign))
  }

  /// Without the header of a key the following bytes would be masked differently than they were
  /// sent.
  @Test func `a part is kept while a private key may reach beyond it`() async throws {
    var site = try site()
    site.redaction = RedactionRules()
    let writer = try site.local.writer(rotateAt: Self.limit)
    let sending = site
    func write(_ lines: [String]) async throws {
      for line in lines {
        Array("\(line)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      }
      try await compressParts(of: writer)
      try await sending.upload()
      sending.local.clock.advance(seconds: 2 * 86_400)
      for part in try writer.files.parts() {
        try FileManager.default.setAttributes(
          [.modificationDate: sending.local.clock.now().date.addingTimeInterval(-90_000)],
          ofItemAtPath: part.compressed)
      }
    }
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghABC="
    try await write(
      ["before", "-----BEGIN RSA PRIVATE KEY-----"] + Array(repeating: key, count: 99))
    #expect(try writer.files.parts().count > 2)
    let held = try await prune(site)
    #expect(held.pruned.isEmpty, "\(held)")

    // Sent by now, but not maskable without its header.
    try await write(Array(repeating: "of others", count: 5))
    let kept = try await prune(site)
    #expect(kept.pruned.isEmpty && kept.kept.contains { $0.reason.contains("private key") })

    try await write(
      Array(repeating: key, count: 9) + ["-----END RSA PRIVATE KEY-----"]
        + Array(repeating: String(repeating: "word ", count: 20), count: 1000))
    let raw = try site.local.log(writer.session)
    #expect(try await !prune(site).pruned.isEmpty)
    try await write(["after"])
    try writer.end(.exit(0))
    try await site.upload()
    let remote = try await site.remoteBytes(writer.session)
    let isRedacted = remote.starts(with: Redactor.standard.redacted(raw, format: .lines))
    #expect(isRedacted)
    #expect(try Sidecar.load(writer.files.sidecar).seal != nil)
  }

  @Test func `a part is read back once if the put proved nothing`() async throws {
    let site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 2 * 86_400)
    _ = site.store.takeRequests()
    var retention = Retention()
    retention.pruneAfter = .days(1)
    let pruner = PartPruner(try site.context())
    _ = try await pruner.plan(retention)
    #expect(site.store.takeRequests().contains { $0.hasPrefix("GET") })
    let plan = try await pruner.plan(retention)
    #expect(!plan.pruned.isEmpty)
    let requests = site.store.takeRequests()
    #expect(requests.count == 1 && requests[0].hasPrefix("LIST"), "\(requests)")
    withExtendedLifetime(writer) {}
  }
}
