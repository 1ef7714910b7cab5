import Foundation
import Platform
import Redaction
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

@Suite(.tags(.medium)) struct UploadLimitsTests {
  @Test(arguments: [Duration.days(6), .days(30), .days(365)])
  func `a quiet open session is renewed three times within its remote retention`(
    _ remote: Duration
  ) {
    var retention = Retention()
    retention.remote = remote
    #expect(UploadLimits(retention).quiet * 3 == remote)
  }

  /// Holes take minutes to read, at a gigabyte a second.
  @Test(.timeLimit(.minutes(5)))
  func `a file of holes is planned without reading it`() throws {
    let site = try Site()
    let writer = try site.local.writer()
    writer.print("one")
    let log = try #require(
      FileHandle(forWritingAtPath: site.local.home.files(for: writer.session).log))
    try log.truncate(atOffset: 1 << 40)
    let plan = try Uploader(site.context()).plan()
    #expect(plan.items.count == 1)
  }

  @Test func `a pass sends a share of a long session, and all of the others`() async throws {
    var site = try Site()
    site.limits.sessionShare = 100_000
    let lines = (0..<3000).map { "line \($0) \(String(repeating: "x", count: 80))\n" }.joined()
    let long = try site.local.session(Array(lines.utf8))
    let short = try site.local.session(Array("x\n".utf8))
    let length = try site.local.log(long).count
    let report = try await site.upload()
    #expect(report.failures.isEmpty && report.stoppedBy == nil)
    try await site.expectSealedAndEqual(short)
    let mark = try await site.remote(long).mark
    // At the end of a line.
    #expect((99_900...100_000).contains(mark))
    #expect(try site.local.log(long)[Int(mark) - 1] == 0x0a)
    let rest = ByteCount(length) - mark.byteCount
    #expect(try await site.remote(long).revision?.status == .active)
    #expect(!report.hasFinished(long) && report.hasFinished(short))
    #expect(report.leftToNextPass == [long: rest])
    #expect(report.waiting.map(\.session) == [long])
    #expect(report.waiting.map(\.bytes) == [rest])
    let plan = try Uploader(site.context()).plan()
    #expect(plan.unsent == rest)

    var passes = 1
    while try await site.remote(long).seal == nil, passes < 10 {
      try await site.upload()
      passes += 1
    }
    #expect(passes == (length + 99_999) / 100_000)
    try await site.expectSealedAndEqual(long)
  }

  @Test func `rules may change between the shares of a session`() async throws {
    var site = try Site()
    site.limits.sessionShare = 30_000
    let key =
      "-----BEGIN PRIVATE KEY-----\n\(String(repeating: "QUJD\n", count: 100))-----END PRIVATE KEY-----\n"
    let text = (0..<10).map { "user \($0) a\($0)@example.com \(key)" }.joined()
    let session = try site.local.session(Array(text.utf8))
    try await site.upload()
    try #require(try await site.remote(session).seal == nil)
    site.redaction = RedactionRules(groups: ["email", "private-keys"])
    for _ in 0..<20 where try await site.remote(session).seal == nil {
      let report = try await site.upload()
      #expect(report.failures.isEmpty && report.sealedAsSent.isEmpty)
    }
    let remote = try await site.remote(session)
    #expect(remote.seal != nil)
    #expect(try await Verifier(site.context()).verify(remote).problem == nil)
    let sent = String(decoding: try await site.remoteBytes(session), as: UTF8.self)
    #expect(!sent.contains("QUJD") && sent.contains("a0@example.com") && !sent.contains("a9@"))
  }

  @Test(arguments: [true, false])
  func `a rewritten file is sent in one pass, if its time suffices`(isSlow: Bool) async throws {
    var folder = try AttachedFolder("app.log")
    folder.site.limits.sessionShare = 100_000
    try folder.append(0..<5000, to: "app.log")
    for _ in 0..<4 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<5000)])
    // What is inserted takes several objects.
    var random = SeededGenerator(case: 2, seed: 1)
    let former = try String(contentsOfFile: folder.file("app.log"), encoding: .utf8)
    let lines = (0..<1500).map { _ in "other \(random.next()) \(random.next())\n" }
    let text = former.replacingOccurrences(of: "line 2500 ", with: lines.joined() + "line 2500 ")
    try text.write(toFile: folder.file("new"), atomically: false, encoding: .utf8)
    try folder.rename("new", to: "app.log")
    (folder.site.limits.largestObject, folder.site.limits.smallestObject) = (16 << 10, 8 << 10)
    if isSlow { folder.site.limits.longPass = .zero }
    try await folder.tick()
    if isSlow {
      // Readers see the former stream until all of the next one is there.
      #expect(try await folder.remoteLines() == [Array(0..<5000)])
      for _ in 0..<10 { try await folder.tick() }
    }
    #expect(try folder.sidecars().count == 1)
    #expect(try await folder.onlyRemote() == text)
  }

  @Test func `a long pass sends less of each session`() throws {
    let site = try Site()
    let context = try site.context()
    let share = PassShare(context, isUnlimited: false)
    #expect(share.rest(after: 1) == context.limits.sessionShare - 1)
    #expect(share.admitsGeneration(after: context.limits.sessionShare))
    site.local.clock.advance(seconds: 300)
    #expect(share.rest(after: 0) == context.limits.lateShare)
    #expect(share.rest(after: context.limits.lateShare) == 0)
    #expect(!share.admitsGeneration(after: 1))
    #expect(share.admitsGeneration(after: 0) && share.begun().admitsGeneration(after: .max))
    let unlimited = PassShare(context, isUnlimited: true)
    #expect(unlimited.rest(after: 1) > context.limits.sessionShare)
  }
}
