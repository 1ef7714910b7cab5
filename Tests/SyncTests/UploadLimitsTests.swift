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

  /// The bytes that this thread has read from files and pipes.
  private static func bytesRead() throws -> Int64 {
    let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
    return try #require(Int64(line.dropFirst("rchar: ".count)))
  }

  @Test(.enabled(if: File.exists("/proc/thread-self/io"), "the system does not count reads"))
  func `a file of holes is planned without reading it`() throws {
    let site = try Site()
    let writer = try site.local.writer()
    writer.print("one")
    let log = try #require(
      FileHandle(forWritingAtPath: site.local.home.files(for: writer.session).log))
    try log.truncate(atOffset: 1 << 40)
    let uploader = Uploader(try site.context())
    let before = try Self.bytesRead()
    let plan = try uploader.plan()
    #expect(plan.items.count == 1)
    // Of a terabyte, the search for the end of the last record reads some megabytes.
    #expect(try Self.bytesRead() - before < 1 << 30)
  }

  /// Lines of 90 bytes that hardly compress.
  private static func lines(_ count: Int) -> [UInt8] {
    var random = SeededGenerator(case: 1, seed: 1)
    let lines = (0..<count).map { _ in
      (0..<5).map { _ in String(random.next(), radix: 36) }.joined(separator: " ") + "\n"
    }
    return Array(lines.joined().utf8)
  }

  @Test func `a pass without time sends a segment of one session`() async throws {
    var site = try Site()
    (site.limits.largestObject, site.limits.smallestObject) = (16 << 10, 8 << 10)
    let long = try site.local.session(Self.lines(3000))
    let text = try site.local.log(long)
    let short = try site.local.session(Array("x\n".utf8))
    let first = try await site.upload(within: .zero)
    #expect(first.failures.isEmpty && first.stoppedBy == nil && first.isCutShort)
    try await site.expectSealedAndEqual(short)
    #expect(first.hasFinished(short) && !first.hasFinished(long))
    #expect(first.leftToNextPass == [long: ByteCount(text.count)])
    let report = try await site.upload(within: .zero)
    let remote = try await site.remote(long)
    try #require(remote.segments(of: 1).count == 1 && remote.revision?.status == .active)
    // At the end of a line.
    #expect(text[Int(remote.mark) - 1] == 0x0a)
    let rest = ByteCount(text.count) - remote.mark.byteCount
    #expect(!report.hasFinished(long) && report.leftToNextPass == [long: rest])
    #expect(report.waiting.map(\.session) == [long])
    #expect(report.waiting.map(\.bytes) == [rest])
    #expect(try Uploader(site.context()).plan().unsent == rest)

    var passes = 2
    while try await site.remote(long).seal == nil, passes < 50 {
      #expect(try await site.upload(within: .zero).objects > 0)
      passes += 1
    }
    #expect(passes > 5)
    try await site.expectSealedAndEqual(long)
  }

  @Test func `sessions that have least to send come first, and the others wait`() async throws {
    let site = try Site()
    // More than a pass has under way at once.
    let sessions = try (1...40).reversed().map { number in
      try site.local.session(Array(String(repeating: "line\n", count: number).utf8))
    }
    let report = try await site.upload(within: .zero)
    let left = report.leftToNextPass
    #expect(report.isCutShort && left.count == 39)
    #expect(left.keys.allSatisfy(sessions.prefix(left.count).contains))
    #expect(report.waiting.reduce(0) { $0 + $1.bytes } == left.values.reduce(0, +))
    for _ in 0..<40 { try await site.upload(within: .zero) }
    for session in sessions { try await site.expectSealedAndEqual(session) }
  }

  @Test(arguments: [0, 2]) func `rules may change between the passes of a session`(
    seed: UInt64
  ) async throws {
    var site = try Site()
    (site.limits.largestObject, site.limits.smallestObject) = (4 << 10, 2 << 10)
    var random = SeededGenerator(case: 4, seed: seed)
    let text = (0..<20).map { number in
      let key = (0..<100).map { _ in String(random.next(), radix: 36).prefix(4) + "\n" }.joined()
      return "user \(number) a\(number)@example.com -----BEGIN PRIVATE KEY-----\n\(key)"
        + "-----END PRIVATE KEY-----\n" + String(decoding: Self.lines(Int(seed) * 7), as: UTF8.self)
    }.joined()
    let session = try site.local.session(Array(text.utf8))
    try await site.upload(within: .zero)
    try #require(try await site.remote(session).seal == nil)
    for pass in 0..<60 where try await site.remote(session).seal == nil {
      let groups: Set<String> = pass % 2 == 0 ? ["email", "private-keys"] : ["private-keys"]
      site.redaction = RedactionRules(groups: groups)
      let report = try await site.upload(within: .zero)
      #expect(report.failures.isEmpty && report.sealedAsSent.isEmpty)
    }
    let remote = try await site.remote(session)
    #expect(remote.seal != nil)
    #expect(try await Verifier(site.context()).verify(remote).problem == nil)
    let sent = String(decoding: try await site.remoteBytes(session), as: UTF8.self)
    for line in text.split(separator: "\n") where line.count == 4 {
      #expect(!sent.contains("\n\(line)\n"))
    }
    #expect(sent.contains("a0@example.com"))
  }

  @Test func `rules under which nothing was sent bind nothing`() async throws {
    var site = try Site()
    (site.limits.largestObject, site.limits.smallestObject) = (4 << 10, 2 << 10)
    let session: SessionID
    do {
      let writer = try site.local.writer()
      session = writer.session
      for number in 0..<900 { writer.print("user \(number) a\(number)@example.com") }
      // As by a pass whose first object failed.
      let context = try site.context()
      try context.redaction.keepCurrent()
      var state = try SessionState.load(session, context)
      try state.record([.init(from: 0, rules: context.redaction.version)], generation: nil)
    }
    try site.local.crash(session)
    site.redaction = RedactionRules(groups: ["email"])
    for _ in 0..<40 where try await site.remote(session).seal == nil {
      let report = try await site.upload(within: .zero)
      #expect(report.failures.isEmpty && report.sealedAsSent.isEmpty)
    }
    let remote = try await site.remote(session)
    try #require(remote.seal != nil)
    #expect(try await Verifier(site.context()).verify(remote).problem == nil)
    let sent = String(decoding: try await site.remoteBytes(session), as: UTF8.self)
    #expect(sent.contains("user 899 ") && !sent.contains("@example.com"))
  }

  @Test(.shiftedTime, arguments: [true, false])
  func `a rewritten file is sent in one pass, if its time suffices`(isSlow: Bool) async throws {
    var folder = try AttachedFolder("app.log")
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
    let time = isSlow ? Duration.zero : .seconds(300)
    try await folder.tick(within: time)
    if isSlow {
      // Readers see the former stream until all of the next one is there.
      #expect(try await folder.remoteLines() == [Array(0..<5000)])
      for _ in 0..<10 { try await folder.tick(within: time) }
    }
    #expect(try folder.sidecars().count == 1)
    #expect(try await folder.onlyRemote() == text)
    // What was sent is known as well after several passes as after one.
    let next = text.replacingOccurrences(of: "line 100 ", with: "changed line 100 ")
    try next.write(toFile: folder.file("new"), atomically: false, encoding: .utf8)
    try folder.rename("new", to: "app.log")
    try await folder.tick()
    #expect(try folder.sidecars().count == 1)
    #expect(try await folder.onlyRemote() == next)
  }

  @Test func `the time of a pass passes, and a rewrite has it again`() throws {
    let clock = try Site().local.clock
    let budget = PassBudget(.seconds(300), on: clock.machine)
    clock.advance(seconds: 299)
    #expect(!budget.isSpent)
    clock.advance(seconds: 1)
    let renewed = budget.renewed()
    #expect(budget.isSpent && !renewed.isSpent)
    clock.advance(seconds: 300)
    #expect(renewed.isSpent)
    #expect(!PassBudget(nil, on: clock.machine).isSpent)
  }

  @Test(.shiftedTime) func `a file of holes is sent in segments of bounded length`() async throws {
    var folder = try AttachedFolder("app.log")
    (folder.site.limits.largestObject, folder.site.limits.smallestObject) = (64 << 10, 8 << 10)
    folder.site.limits.longestSegment = 256 << 10
    try folder.append(0..<500, to: "app.log")
    let log = try #require(FileHandle(forWritingAtPath: folder.file("app.log")))
    try log.truncate(atOffset: 1 << 20)
    for _ in 0..<3 { try await folder.tick(after: 100) }
    let text = try String(contentsOfFile: folder.file("app.log"), encoding: .utf8)
    #expect(try await folder.onlyRemote() == text)
    let session = try #require(folder.sidecars().first).sessionId
    let segments = try await folder.site.remote(session).segments(of: 1)
    #expect(segments.count >= 4 && segments.allSatisfy { $0.length < 512 << 10 })
  }
}
