import ObjectStore
import SessionLog
import Sync
import TestSupport
import Testing

/// The cost of store failures: the number of retries, and the sessions that wait.
@Suite(.tags(.medium)) struct FailedAttemptsTests {
  private static let text = Array("one\ntwo\nthree\n".utf8)

  /// Bytes that hardly compress, without ASCII, so that nothing in them is masked.
  private static func dense(_ count: Int, case number: Int) -> [UInt8] {
    var generator = SeededGenerator(case: number)
    return (0..<count).map { _ in UInt8.random(in: 128...255, using: &generator) }
  }

  @Test func `a store that is down is contacted at growing intervals`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    site.store.plan(.failBefore(.unreachable), on: "GET", times: .max)
    var asked: [Int] = []
    for minute in 0..<60 {
      let report = try await site.upload(.due)
      #expect((report.stoppedBy as? StoreError)?.code == .unreachable)
      let reads = site.store.takeMarkerReads()
      if reads > 0 { asked.append(minute) }
      #expect(reads <= 1 && site.store.takeRequests().isEmpty)
      site.local.clock.advance(seconds: 60)
    }
    #expect(asked == [0, 1, 3, 7, 15, 30, 45])
    let entry = try site.context().manifest.storeEntry()
    #expect(entry.attempts == 7 && entry.lastError?.code == .unreachable)
    #expect(entry.lastSuccess == nil && entry.failingSince != nil)
    // A person at a terminal need not wait, and one success ends all pauses.
    site.store.forgetPlans()
    try await site.upload(.transient)
    try await site.expectSealedAndEqual(session)
    #expect(try site.context().manifest.storeEntry().attempts == 0)
  }

  @Test func `a clock that is set back does not lengthen a pause`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    site.store.plan(.failBefore(.unreachable), on: "GET")
    try await site.upload(.due)
    #expect(site.store.unexercised.isEmpty)
    site.local.clock.advance(seconds: -86_400)
    try await site.upload(.due)
    try await site.expectSealedAndEqual(session)
  }

  @Test
  func `a session that always fails is retried with backoff and delays no other`() async throws {
    let site = try Site()
    let bad = try site.local.session(Self.text)
    site.store.plan(.failBefore(.conflict), on: "PUT", keyContaining: "\(bad)", times: .max)
    try await site.upload(.due)
    var asked = 0
    for _ in 0..<40 {
      _ = site.store.takeRequests()
      let good = try site.local.session(Self.text)
      let report = try await site.upload(.due)
      #expect(report.stoppedBy == nil)
      try await site.expectSealedAndEqual(good)
      let requests = site.store.takeRequests().filter {
        $0.contains("PUT") && $0.contains("\(bad)")
      }
      #expect(requests.count <= 1)
      asked += requests.count
      site.local.clock.advance(seconds: 60)
    }
    // After 1, 3, 7, 15 and 31 minutes.
    #expect(asked == 5)
    try Uploader(site.context()).retry(bad)
    site.store.forgetPlans()
    try await site.upload(.due)
    try await site.expectSealedAndEqual(bad)
    #expect(try Quarantine(site.local.home).sessions().isEmpty)
  }

  /// A store that rejects objects above a size that it does not state.
  @Test(arguments: [(64 << 10, 1), (64 << 10, 5), (100_000, 2), (3 << 20, 2)])
  func `a segment too large for the store is halved and the limit remembered`(
    limit: Int, sessions: Int
  ) async throws {
    let site = try Site()
    let text = Self.dense(min(16 * limit, 4 << 20), case: limit + sessions)
    let all = try (0..<sessions).map { _ in try site.local.session(text) }
    site.store.refuseAbove(limit)
    let report = try await site.upload(.due)
    #expect(report.failures.isEmpty && report.stoppedBy == nil)
    for session in all { try await site.expectSealedAndEqual(session) }
    let learnt = try #require(try site.context().manifest.storeEntry().objectLimit)
    #expect(learnt <= limit * 2 && learnt > limit / 4)
    // From now on nothing is rejected.
    _ = site.store.takeRequests()
    let next = try site.local.session(text)
    let refused = site.store.refused
    try await site.upload(.due)
    #expect(site.store.refused == refused)
    try await site.expectSealedAndEqual(next)
  }

  @Test func `a store that refuses even small objects is reported`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.dense(100_000, case: 0))
    site.store.refuseAbove(10_000)
    let report = try await site.upload(.due)
    #expect((report.failures.first?.error as? StoreError)?.code == .tooLarge)
    #expect(try Quarantine(site.local.home).sessions().map(\.session) == [session])
    site.store.refuseAbove(.max)
    try await site.upload(.all)
    try await site.expectSealedAndEqual(session)
  }

  @Test func `an unreachable store stops the pass without delaying any session`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    site.store.plan(.failBefore(.transient), on: "PUT", keyContaining: "\(session)")
    let report = try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    #expect((report.stoppedBy as? StoreError)?.isTransient == true && report.failures.isEmpty)
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }

  @Test func `a refused login stops the pass and loses nothing`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    site.store.plan(.failBefore(.authentication), on: "PUT", keyContaining: ".log.zst")
    let report = try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    #expect((report.stoppedBy as? StoreError)?.code == .authentication)
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }

  @Test func `a failed session does not stop the others`() async throws {
    let site = try Site()
    let bad = try site.local.session(Self.text)
    let good = try site.local.session(Self.text)
    site.store.plan(.failBefore(.other), on: "PUT", keyContaining: "\(bad)", times: 1)
    let report = try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    #expect(report.failures.map(\.session) == [bad] && report.stoppedBy == nil)
    try await site.expectSealedAndEqual(good)
    #expect(try Uploader(site.context()).plan().skipped.map(\.session) == [bad])
    site.local.clock.advance(seconds: 61)
    try await site.upload()
    try await site.expectSealedAndEqual(bad)
    #expect(try Quarantine(site.local.home).sessions().isEmpty)
  }
}
