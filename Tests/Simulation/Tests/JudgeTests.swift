import Foundation
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Simulation

/// The judge detects what it is meant to detect.
@Suite(.tags(.small)) struct JudgeTests {
  private let time = SimulatedTime()
  private let oracle: Oracle
  private let session: SessionID
  private let copy: DeviceSession
  private let folder = NSTemporaryDirectory() + "tidemark-judge-" + UUID().uuidString

  init() throws {
    oracle = Oracle(ModelStore(.bucket, time), time)
    session = try #require(SessionID("20260122t143005z-abcdefgh"))
    copy = DeviceSession(device: "m5hp0ta947p1rsq7", session: session)
  }

  private func judge(
    _ before: Holdings, _ after: Holdings, in homes: [SimulatedHome] = []
  ) -> [Violation.Rule] {
    Judge(
      oracle: oracle, before: before, after: after, homes: homes, ledgers: homes, isHasty: false
    ).judge()
    return oracle.takeViolations().map(\.rule)
  }

  /// Judges with a home that has deleted nothing according to its ledger.
  private func judgeHome(_ before: Holdings, _ after: Holdings) throws -> [Violation.Rule] {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let home = try SimulatedHome(
      0, LogHabits(), in: folder, machine: SimulatedMachine(0, time, seed: 1),
      disk: Disk(root: folder))
    return judge(before, after, in: [home])
  }

  private func holdings(
    local: Range<Int>? = nil, remote: Range<Int>? = nil, mirrored: Range<Int>? = nil
  ) -> Holdings {
    var holdings = Holdings()
    if let local { holdings.local[0] = [session: RangeSet(local)] }
    if let remote {
      holdings.remote[session] = [copy.device: RangeSet(remote)]
    }
    if let mirrored { holdings.mirrored[0] = [session: RangeSet(mirrored)] }
    holdings.newest[session] = [copy.device: time.milliseconds]
    return holdings
  }

  @Test func `local bytes that are not remote must stay`() {
    #expect(
      judge(holdings(local: 0..<9, remote: 0..<5), holdings(remote: 0..<5)) == [.durability])
    #expect(judge(holdings(local: 0..<9, remote: 0..<9), holdings(remote: 0..<9)).isEmpty)
  }

  @Test func `remote bytes must stay until they are old or somebody asks`() {
    // No ledger names the deletions.
    let before = holdings(local: 0..<9, remote: 0..<9)
    #expect(judge(before, holdings(local: 0..<9, remote: 0..<4)) == [.ledger, .evidence])
    time.advance(31 * 86_400_000)
    #expect(judge(before, holdings(local: 0..<9)) == [.ledger])
    let young = holdings(local: 0..<9, remote: 0..<9)
    oracle.ask(for: session)
    #expect(judge(young, holdings(local: 0..<9)) == [.ledger])
  }

  @Test func `a copy deleted for its age must be in the trash and in the ledger`() throws {
    let before = holdings(local: 0..<9, remote: 0..<9)
    var after = holdings(remote: 0..<9)
    #expect(try judgeHome(before, after) == [.ledger, .trash])
    after.trashed[0] = [session: RangeSet(0..<9)]
    #expect(try judgeHome(before, after).isEmpty)
    after.trashed[0] = [session: RangeSet(0..<8)]
    #expect(try judgeHome(before, after) == [.ledger, .trash])
  }

  @Test func `the trash must keep a session for a week`() throws {
    var before = holdings(remote: 0..<9)
    before.trashed[0] = [session: RangeSet(0..<9)]
    #expect(try judgeHome(before, before).isEmpty)
    time.advance(6 * 86_400_000)
    #expect(try judgeHome(before, holdings(remote: 0..<9)).contains(.trash))
    time.advance(86_400_000)
    #expect(try !judgeHome(before, holdings(remote: 0..<9)).contains(.trash))
  }

  @Test func `a session with a hold must stay, on either side`() {
    var before = holdings(local: 0..<9, remote: 0..<9)
    oracle.ask(for: session)
    before.held[0] = [session]
    #expect(judge(before, holdings(remote: 0..<9)).contains(.hold))
    (before.held, before.heldRemotely) = ([:], [copy])
    #expect(judge(before, holdings(local: 0..<9)).contains(.hold))
    before.heldRemotely = []
    #expect(!judge(before, holdings()).contains(.hold))
  }

  @Test func `remote bytes may be damaged on their way only while they are local`() {
    var after = holdings(local: 0..<9)
    after.damaged[session] = RangeSet(0..<9)
    #expect(judge(holdings(local: 0..<9, remote: 0..<9), after).isEmpty)
    after.local = [:]
    #expect(judge(holdings(remote: 0..<9), after).contains(.evidence))
  }

  @Test func `a mirror must not shrink`() {
    #expect(judge(holdings(mirrored: 0..<9), holdings(mirrored: 0..<8)) == [.growth])
  }

  @Test func `lines of other programs must stay where they are remote alone`() {
    var before = Holdings()
    before.remoteLines = [1, 2]
    before.sessionsOfLines = [1: [copy], 2: [copy]]
    before.newest[session] = [copy.device: time.milliseconds]
    var after = before
    after.remoteLines = [1]
    #expect(judge(before, after) == [.evidence])
  }

  @Test(arguments: [
    ("abc", nil), ("abcdefghijkl", nil), ("abX", 2), ("abcdefghijklm", 12),
    ("ab**efghijkl", nil), ("ab[REDACTED:", nil),
  ])
  func `a reader gets a prefix of the written bytes, except for masks`(
    _ text: String, _ position: Int?
  ) {
    #expect(Masked.difference(Array(text.utf8), Array("abcdefghijkl".utf8)) == position)
  }
}
