import SessionLog
import TestSupport
import Testing

@testable import Simulation

/// The judge sees what it is there for.
@Suite(.tags(.small)) struct JudgeTests {
  private let time = SimulatedTime()
  private let oracle: Oracle
  private let session: SessionID

  init() throws {
    oracle = Oracle(ModelStore(.bucket, time), time)
    session = try #require(SessionID("20260122t143005z-abcdefgh"))
  }

  private func judge(_ before: Holdings, _ after: Holdings) -> [Violation.Rule] {
    Judge(oracle: oracle, before: before, after: after, homes: [], isHasty: false).judge()
    return oracle.takeViolations().map(\.rule)
  }

  private func holdings(
    local: Range<Int>? = nil, remote: Range<Int>? = nil, mirrored: Range<Int>? = nil
  ) -> Holdings {
    var holdings = Holdings()
    if let local { holdings.local[0] = [session: RangeSet(local)] }
    if let remote { holdings.remote[session] = RangeSet(remote) }
    if let mirrored { holdings.mirrored[0] = [session: RangeSet(mirrored)] }
    holdings.newest[session] = time.milliseconds
    return holdings
  }

  @Test func `local bytes that are not remote must stay`() {
    #expect(
      judge(holdings(local: 0..<9, remote: 0..<5), holdings(remote: 0..<5)) == [.durability])
    #expect(judge(holdings(local: 0..<9, remote: 0..<9), holdings(remote: 0..<9)).isEmpty)
  }

  @Test func `remote bytes must stay until they are old or somebody asks`() {
    let before = holdings(local: 0..<9, remote: 0..<9)
    #expect(judge(before, holdings(local: 0..<9, remote: 0..<4)) == [.evidence])
    time.advance(31 * 86_400_000)
    #expect(judge(before, holdings(local: 0..<9)).isEmpty)
    let young = holdings(local: 0..<9, remote: 0..<9)
    oracle.ask(for: session)
    #expect(judge(young, holdings(local: 0..<9)).isEmpty)
  }

  @Test func `a mirror must not shrink`() {
    #expect(judge(holdings(mirrored: 0..<9), holdings(mirrored: 0..<8)) == [.growth])
  }

  @Test func `lines of other programs must stay where they are remote alone`() {
    var before = Holdings()
    before.remoteLines = [1, 2]
    before.sessionsOfLines = [1: session, 2: session]
    before.newest[session] = time.milliseconds
    var after = before
    after.remoteLines = [1]
    #expect(judge(before, after) == [.evidence])
  }

  @Test(arguments: [
    ("abc", nil), ("abcdefghijkl", nil), ("abX", 2), ("abcdefghijklm", 12),
    ("ab**efghijkl", nil), ("ab[REDACTED:", nil),
  ])
  func `a reader gets a beginning of what was written, masks apart`(
    _ text: String, _ position: Int?
  ) {
    #expect(Masked.difference(Array(text.utf8), Array("abcdefghijkl".utf8)) == position)
  }
}
