import Foundation
import Platform
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
    #expect(try await site.remote(long).mark == 100_000)
    #expect(try await site.remote(long).revision?.status == .active)
    #expect(!report.hasFinished(long) && report.hasFinished(short))
    #expect(report.leftToNextPass == [long: ByteCount(length - 100_000)])
    #expect(report.waiting.map(\.session) == [long])
    #expect(report.waiting.map(\.bytes) == [ByteCount(length - 100_000)])
    let plan = try Uploader(site.context()).plan()
    #expect(plan.unsent == ByteCount(length - 100_000))

    var passes = 1
    while try await site.remote(long).seal == nil, passes < 10 {
      try await site.upload()
      passes += 1
    }
    #expect(passes == (length + 99_999) / 100_000)
    try await site.expectSealedAndEqual(long)
  }

  @Test func `a rewritten file is sent in shares, too`() async throws {
    var folder = try AttachedFolder("app.log")
    folder.site.limits.sessionShare = 100_000
    try folder.append(0..<5000, to: "app.log")
    for _ in 0..<4 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<5000)])
    let path = folder.file("app.log")
    let text = try String(contentsOfFile: path, encoding: .utf8)
      .replacingOccurrences(of: "line 2500 ", with: "first\nline 2500 ")
    try text.write(toFile: folder.file("new"), atomically: false, encoding: .utf8)
    try folder.rename("new", to: "app.log")
    (folder.site.limits.longPass, folder.site.limits.lateShare) = (.zero, 100_000)
    try await folder.tick()
    // Readers see the former stream until all of the next one is there.
    #expect(try await folder.remoteLines() == [Array(0..<5000)])
    for _ in 0..<4 { try await folder.tick() }
    #expect(try await folder.onlyRemote() == text)
  }

  @Test func `a long pass sends less of each session`() throws {
    let site = try Site()
    let context = try site.context()
    let share = PassShare(context, isUnlimited: false)
    #expect(share.rest(after: 1) == context.limits.sessionShare - 1)
    #expect(share.restOfGeneration(after: context.limits.sessionShare) > 0)
    site.local.clock.advance(seconds: 300)
    #expect(share.rest(after: 0) == context.limits.lateShare)
    #expect(share.rest(after: context.limits.lateShare) == 0)
    #expect(share.restOfGeneration(after: context.limits.lateShare) == 0)
    let unlimited = PassShare(context, isUnlimited: true)
    #expect(unlimited.rest(after: 1) > context.limits.sessionShare)
  }
}
