import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A store in which each segment takes a minute of a test's clock.
private struct SlowStore: ForwardingStore {
  let base: any ObjectStore
  let clock: TestClock

  func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    defer { if key.hasSuffix(".log.zst") { clock.advance(seconds: 60) } }
    return try await base.put(key, body)
  }
}

/// Sessions that share the time of each pass.
@Suite(.tags(.medium)) struct SharedPassTests {
  /// Lines that hardly compress: several segments.
  private static func lines(_ count: Int, case number: Int) -> [UInt8] {
    var random = SeededGenerator(case: number, seed: 1)
    let lines = (0..<count).map { _ in
      (0..<5).map { _ in String(random.next(), radix: 36) }.joined(separator: " ") + "\n"
    }
    return Array(lines.joined().utf8)
  }

  /// A pass that sends for two minutes.
  private func pass(_ site: Site) async throws -> UploadReport {
    try await onePass(.due, within: .seconds(120)) {
      try SyncContext(
        home: site.local.home, device: site.device,
        store: SlowStore(base: site.store, clock: site.local.clock),
        machine: site.local.clock.machine, transfers: 4, limits: site.limits)
    }
  }

  private func areSealed(_ sessions: [SessionID], in site: Site) async throws -> Bool {
    for session in sessions where try await site.remote(session).seal == nil { return false }
    return true
  }

  /// With fewer concurrent sessions than wait for each other here, it would not end.
  @Test(.timeLimit(.minutes(60)))
  func `sessions that are cut at once all get further, and none waits for ever`() async throws {
    var site = try Site()
    (site.limits.largestObject, site.limits.smallestObject) = (16 << 10, 8 << 10)
    let long = try (1...3).map { try site.local.session(Self.lines(1500, case: $0)) }
    // All of them are sending when the time is over.
    site.store.gather(3)
    let first = try await pass(site)
    #expect(first.failures.isEmpty && first.stoppedBy == nil && first.isCutShort)
    #expect(Set(first.leftToNextPass.keys) == Set(long) && first.sealed == 0)
    for session in long {
      let length = ByteCount(try site.local.log(session).count)
      let sent = try await site.remote(session).mark.byteCount
      #expect(sent > 0 && first.leftToNextPass[session] == length - sent)
    }

    var passes = 0
    while passes < 200, try await !areSealed(long, in: site) {
      passes += 1
      // What is recorded meanwhile is sent by the next pass.
      let short = try site.local.session(Array("short \(passes)\n".utf8))
      let before = try await sent(of: long, in: site)
      let report = try await pass(site)
      #expect(report.failures.isEmpty && report.stoppedBy == nil)
      #expect(report.hasFinished(short))
      #expect(try await sent(of: long, in: site) > before)
    }
    #expect(passes > 1)
    for session in long { try await site.expectSealedAndEqual(session) }
    #expect(try site.local.home.openSessions().isEmpty)
  }

  /// Log bytes of sessions that the store has.
  private func sent(of sessions: [SessionID], in site: Site) async throws -> ByteCount {
    var sent: ByteCount = 0
    for session in sessions { sent += try await site.remote(session).mark.byteCount }
    return sent
  }
}
