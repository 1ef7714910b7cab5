import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// States of the remote copy from which an upload has to recover by itself.
@Suite(.tags(.medium)) struct DeadEndTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Puts a session's first bytes as encoded by another encoder, under a matching name.
  private func encoded(
    _ site: Site, _ session: SessionID, _ range: Range<StreamOffset>, frameLength: Int = 64
  ) async throws -> EncodedSegment {
    let log = try LocalStream(site.local.home.files(for: session))
    return try await SegmentWorker().encode(
      log, session: session, range: range, storedLimit: .max, frameLength: frameLength,
      format: .lines)
  }

  @Test func `a damaged object of another encoder is put again under another name`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    var random = SeededGenerator(case: 1)
    for number in 0..<40 { writer.print("line \(number) \(random.next()) \(random.next())") }
    try await site.upload()
    let own = try #require(try await site.remote(writer.session).segments.first)
    let folder = try await site.remote(writer.session).folder
    let foreign = try await encoded(site, writer.session, own.range)
    #expect(foreign.name != own)
    var damaged = foreign.body
    damaged[damaged.count / 2] ^= 1
    _ = try await site.store.delete([folder.key + own.fileName])
    _ = try await site.store.put(folder.key + foreign.name.fileName, damaged)
    try writer.end(.exit(0))

    let report = try await site.upload(.all)
    #expect(report.failures.isEmpty, "\(report.failures)")
    try await site.expectSealedAndEqual(writer.session)
    let sealed = try Sidecar.load(writer.files.sidecar)
    #expect(sealed.objects?.contains(foreign.name.fileName) == false)
  }

  @Test func `a gap is filled without overlapping existing segments`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<3 {
      writer.print("line \(number)")
      try await site.upload()
    }
    let before = try await site.remote(writer.session)
    let first = try #require(before.segments.first)
    _ = try await site.store.delete([before.folder.key + first.fileName])
    try FileManager.default.removeItem(atPath: site.local.home.cachePath)
    try site.local.home.create()
    writer.print("after the loss")
    try await site.upload()
    let after = try await site.remote(writer.session)
    #expect(after.overlaps.isEmpty)
    let ranges = after.segments.map(\.range)
    #expect(ranges.dropLast() == before.segments.map(\.range)[...])
    #expect(ranges.last?.lowerBound == before.mark)
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }

  @Test(arguments: [false, true])
  func `segments that overlap in part are read where they join`(differs: Bool) async throws {
    let site = try Site()
    let session = try site.local.session(bytes("0123456789abcdefghijklmnopqrstuvwxyz\n"))
    let folder = SessionFolder(device: site.device.deviceId, session: session)
    let first = try await encoded(site, session, 0..<20)
    var log = try site.local.log(session)
    if differs { log[15] = 0x21 }
    let other = "\(site.local.folder)/other.log"
    try Data(log).write(to: URL(fileURLWithPath: other))
    let second = try await SegmentWorker().encode(
      LocalStream(path: other), session: session, range: 10..<StreamOffset(log.count),
      storedLimit: .max, format: .lines)
    for segment in [first, second] {
      _ = try await site.store.put(folder.key + segment.name.fileName, segment.body)
    }
    if differs {
      await #expect(throws: ReplicaError.self) { try await site.remoteBytes(session) }
    } else {
      #expect(try await site.remoteBytes(session) == log)
    }
  }

  @Test(arguments: ["", nil])
  func `a lost sidecar starts from the newest remote revision`(content: String?) async throws {
    let site = try Site()
    let session: SessionID
    do {
      let writer = try site.local.writer()
      session = writer.session
      writer.print("line")
      try await site.upload()
    }
    let path = site.local.home.files(for: session).sidecar
    let before = try Sidecar.load(path)
    lose(path, content)
    for _ in 0..<2 {
      let report = try await site.upload(.all)
      #expect(report.failures.isEmpty, "\(report.failures)")
    }
    try await site.expectSealedAndEqual(session)
    let sealed = try await newest(site, session)
    #expect(sealed.appName == before.appName && sealed.status == .crashed)
    #expect(try Sidecar.load(path).appName == before.appName)
  }

  @Test(arguments: ["", nil])
  func `a seal outlives the local sidecar`(content: String?) async throws {
    let site = try Site()
    let session = try site.local.session(bytes("one\n"))
    try await site.upload()
    let before = try await newest(site, session)
    let path = site.local.home.files(for: session).sidecar
    lose(path, content)
    site.local.clock.advance(seconds: 86_400)
    try OpenSessionReview(site.context()).runIfDue(
      holding: try #require(try HomeLock.acquire(site.local.home)))
    #expect(try site.local.home.openSessions() == [session])
    for _ in 0..<2 { try await site.upload(.all) }
    try await site.expectSealedAndEqual(session)
    let after = try await newest(site, session)
    #expect(after.appName == before.appName && after.status == before.status)
    #expect(after.cause == before.cause && after.endedAt == before.endedAt)
    #expect(try Sidecar.load(path).appName == before.appName)
  }

  @Test func `a log that grew after its seal is sealed again`() async throws {
    let site = try Site()
    let session = try site.local.session(bytes("one\n"))
    try await site.upload()
    let log = URL(filePath: site.local.home.files(for: session).log)
    let handle = try FileHandle(forWritingTo: log)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("2026-01-22T14:30:05.000Z [INFO] [app] late\n".utf8))
    try handle.close()
    site.local.clock.advance(seconds: 86_400)
    try OpenSessionReview(site.context()).runIfDue(
      holding: try #require(try HomeLock.acquire(site.local.home)))
    for _ in 0..<2 { try await site.upload(.all) }
    try await site.expectSealedAndEqual(session)
    #expect(
      try await site.remote(session).seal?.length == StreamOffset(try Data(contentsOf: log).count))
  }

  @Test func `a sealed log that an editor made longer stays sealed, and is named`() async throws {
    let site = try Site()
    let session = try site.local.session(bytes("one\n"))
    try await site.upload()
    let sealed = try await site.remoteBytes(session)
    let log = URL(filePath: site.local.home.files(for: session).log)
    try Data(bytes("an editor was here\n") + sealed).write(to: log)
    site.local.clock.advance(seconds: 86_400)
    try OpenSessionReview(site.context()).runIfDue(
      holding: try #require(try HomeLock.acquire(site.local.home)))
    #expect(try site.local.home.openSessions().isEmpty)
    #expect(try await site.upload(.all).failures.isEmpty)
    #expect(try await site.remoteBytes(session) == sealed)
    #expect(
      try SealedCopies(site.local.home, store: site.store.location).changed == [session])
  }

  @Test func `a sealed log that lost its end is no problem as long as the store has it`()
    async throws
  {
    let site = try Site()
    let session = try site.local.session(bytes("one\n"))
    try await site.upload()
    let log = URL(filePath: site.local.home.files(for: session).log)
    let whole = try Data(contentsOf: log)
    try whole.dropLast(5).write(to: log)
    var finding = try await Verifier(site.context()).verify(site.remote(session))
    #expect(finding.problem == nil && finding.lostLocally == 5)
    try Data(whole.dropLast(5).dropLast() + Data("#".utf8)).write(to: log)
    finding = try await Verifier(site.context()).verify(site.remote(session))
    #expect(finding.problem != nil)
  }

  private func lose(_ path: String, _ content: String?) {
    if let content {
      try? Data(content.utf8).write(to: URL(fileURLWithPath: path))
    } else {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  private func newest(_ site: Site, _ session: SessionID) async throws -> Sidecar {
    let remote = try await site.remote(session)
    return try await RemoteReader(site.store, knowing: nil).read(
      try #require(remote.revision), in: remote.folder)
  }
}
