import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing
import TidemarkUpload

@testable import Sync

/// A store that lost what was proven to be in it.
@Suite(.tags(.medium)) struct SealReviewTests {
  private static let day: Int64 = 86_400

  private func session(_ text: String, in site: Site) async throws -> SessionID {
    let session = try site.local.session(Array("\(text)\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7200)
    return session
  }

  /// A review by a later process, and the requests that it sent.
  private func review(
    _ site: Site, doubting doubted: Set<SessionID> = []
  ) async throws -> (copies: [VanishedCopies.Copy], requests: [String]) {
    _ = site.store.takeRequests()
    let found = try await SealReview(site.context()).runIfDue(doubting: doubted)
    #expect(try VanishedCopies(of: site.context()) == found)
    return (found.copies, site.store.takeRequests())
  }

  /// Deletes the local copies that are proven.
  private func reap(_ site: Site, trash: Duration) async throws {
    let reaper = LocalReaper(try site.context())
    var retention = Retention().asking(.seconds(1))
    retention.trash = trash
    let plan = try await reaper.plan(retention)
    #expect(plan.local.count == 1)
    #expect(try reaper.execute(plan, retention).allSatisfy { $0.error == nil })
  }

  @Test func `a store that an older copy of itself replaced is reported once a day`() async throws {
    let site = try Site()
    // The folder itself stays: a process refuses another one.
    let devices = "\(site.local.folder)/store/devices"
    func move(_ from: String, _ to: String) throws {
      try FileManager.default.moveItem(atPath: devices + from, toPath: devices + to)
    }
    #expect(try await review(site).requests.isEmpty)
    let lost = try await session("lost", in: site)
    try await reap(site, trash: .zero)
    let trashed = try await session("trashed", in: site)
    try await reap(site, trash: .days(7))
    let kept = try await session("kept", in: site)
    try FileManager.default.copyItem(atPath: devices, toPath: devices + ".before")
    let new = try await session("new", in: site)
    site.local.clock.advance(seconds: Self.day)
    // The folders of the new seals; from then on the newest seal.
    let first = try await review(site)
    #expect(first.copies.isEmpty && first.requests.allSatisfy { $0.hasPrefix("LIST") })
    site.local.clock.advance(seconds: Self.day)
    let well = try await review(site)
    #expect(well.copies.isEmpty && well.requests.count == 1, "\(well.requests)")
    #expect(try await review(site).requests.isEmpty)

    // The copy lacks what was sealed last, but not what is sealed after it was put there.
    try move("", ".after")
    try move(".before", "")
    let later = try await session("later", in: site)
    site.local.clock.advance(seconds: Self.day)
    #expect(try await review(site).copies == [.init(new, leaving: .whole)])
    let again = try await review(site)
    #expect(again.copies == [.init(new, leaving: .whole)] && again.requests.isEmpty)
    #expect(try Verifier(site.context()).reopen(new))
    #expect(try await review(site).copies.isEmpty)
    try await site.upload()
    try await site.expectSealedAndEqual(new)
    site.local.clock.advance(seconds: Self.day)
    #expect(try await review(site).copies.isEmpty)

    // Everything is gone but the marker.
    try move("", ".away")
    site.local.clock.advance(seconds: Self.day)
    let all: [VanishedCopies.Copy] = [
      .init(lost, leaving: .nothing), .init(trashed, leaving: .trash), .init(kept, leaving: .whole),
      .init(new, leaving: .whole), .init(later, leaving: .whole),
    ]
    #expect(try await review(site).copies == all.sorted { $0.session < $1.session })
    try move(".away", "")
    site.local.clock.advance(seconds: Self.day)
    #expect(try await review(site).copies.isEmpty)
  }

  @Test func `the listing of a reaper that lacks a seal is followed up at once, but once`()
    async throws
  {
    let site = try Site()
    let old = try await session("old", in: site)
    _ = try await session("new", in: site)
    site.local.clock.advance(seconds: 8 * Self.day)
    #expect(try await review(site).copies.isEmpty)
    let remote = try await site.remote(old)
    let seal = try #require(remote.seal)
    _ = try await site.store.delete([remote.folder.key + seal.fileName])
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.withoutCopy == [old])
    #expect(try await review(site, doubting: [old]).copies == [.init(old, leaving: .whole)])
    #expect(try await review(site, doubting: [old]).requests.isEmpty)
  }

  @Test func `a sealed session that lost a segment is named, and sent again on request`()
    async throws
  {
    let site = try Site()
    let old = try await session("old", in: site)
    site.local.clock.advance(seconds: 8 * Self.day)
    #expect(try await review(site).copies.isEmpty)
    let remote = try await site.remote(old)
    _ = try await site.store.delete(remote.segments.map { remote.folder.key + $0.fileName })
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.withoutCopy == [old] && plan.local.isEmpty)
    #expect(try await review(site, doubting: [old]).copies == [.init(old, leaving: .whole)])

    // What is left expires in the store: that takes nothing from this machine.
    let left = try await site.remote(old)
    try LocalSession(site.local.home, old).recordRemoteRemoval(
      of: left.keys, in: site.store.location, at: site.local.clock.now())
    #expect(try await LocalReaper(site.context()).plan(Retention()).local.isEmpty)

    #expect(try Verifier(site.context()).reopen(old))
    try await site.upload()
    try await site.expectSealedAndEqual(old)
    #expect(try VanishedCopies(of: site.context()).isEmpty)
    #expect(try await review(site).copies.isEmpty)
  }

  @Test(arguments: ["segment", "seal"])
  func `a session that lost an object after its local copy was deleted is named`(what: String)
    async throws
  {
    let site = try Site()
    let gone = try await session("gone", in: site)
    try await reap(site, trash: .zero)
    let kept = try await session("kept", in: site)
    site.local.clock.advance(seconds: 8 * Self.day)
    #expect(try await review(site).copies.isEmpty)
    func plan() async throws -> ReapPlan {
      try await RemoteReaper(site.context(), devices: [site.device.deviceId]).plan(
        Retention(), skipsRecent: true)
    }
    #expect(try await plan().withoutCopy.isEmpty)
    let remote = try await site.remote(gone)
    let name = what == "seal" ? remote.seal?.fileName : remote.segments.first?.fileName
    _ = try await site.store.delete([remote.folder.key + #require(name)])
    // The reaper lists the folder anyway.
    let doubted = try await plan().withoutCopy
    #expect(doubted == [gone])
    #expect(try await review(site, doubting: doubted).copies == [.init(gone, leaving: .nothing)])
    #expect(try await review(site, doubting: doubted).requests.isEmpty)

    // One that this home never proved is no cause for a request.
    let other = try Site()
    _ = try await session("x", in: other)
    other.local.clock.advance(seconds: 2 * Self.day)
    #expect(try await review(other).copies.isEmpty)
    let found = try await review(other, doubting: [gone])
    #expect(found.copies.isEmpty && found.requests.allSatisfy { $0.hasPrefix("HEAD") })
    #expect(kept != gone)
  }

  /// What is left was whole before more was sent.
  @Test func `an open state of a session that was sealed since does not verify`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    writer.print("one")
    try await site.upload()
    let session = writer.session
    let former = Set(try await site.remote(session).keys)
    writer.print("two")
    try writer.end(.exit(0))
    try await site.upload()
    site.local.clock.advance(seconds: 7200)
    try await reap(site, trash: .zero)
    func isBroken() async throws -> Bool {
      let pass = VerificationPass(try site.context(), deeply: true, retention: .days(30))
      let candidate = VerificationPass.Candidate(
        session, of: site.device.deviceId, remote: try await site.remote(session), isReaped: false)
      return try await !pass.run([candidate], begin: { _ in }, report: { _ in }).isEmpty
    }
    #expect(try await !isBroken())
    let sealed = try await site.remote(session)
    _ = try await site.store.delete(sealed.keys.filter { !former.contains($0) })
    #expect(try await site.remote(session).seal == nil)
    site.local.clock.advance(seconds: 2 * Self.day)
    #expect(try await review(site).copies == [.init(session, leaving: .nothing)])
    #expect(try await isBroken())
  }

  /// A clock that was set back makes every seal look new.
  @Test func `a copy that a pass misses is asked for, however new its seal`() async throws {
    let site = try Site()
    let new = try await session("new", in: site)
    let remote = try await site.remote(new)
    _ = try await site.store.delete(remote.segments.map { remote.folder.key + $0.fileName })
    site.local.clock.advance(seconds: -2 * 3600)
    #expect(try await review(site).copies.isEmpty)
    #expect(try await review(site, doubting: [new]).copies == [.init(new, leaving: .whole)])
    #expect(try Verifier(site.context()).reopen(new))
    try await site.upload()
    try await site.expectSealedAndEqual(new)
    #expect(try VanishedCopies(of: site.context()).isEmpty)
  }

  @Test(arguments: ["by a person", "by age", "by age, after the local copy", "long ago"])
  func `copies that were deleted on purpose or by age have not vanished`(how: String) async throws {
    let site = try Site()
    let session = try await session("x", in: site)
    if how == "by age, after the local copy" { try await reap(site, trash: .zero) }
    let context = try site.context()
    let remote = try await site.remote(session)
    switch how {
    case "by a person":
      _ = try await Deletion(
        home: site.local.home, context: context, lived: context.lived, command: "delete"
      ).delete(session, local: false, remote: remote)
    case "long ago":
      _ = try await site.store.delete(remote.keys)
      site.local.clock.advance(seconds: 31 * Self.day)
    default:
      let reaper = RemoteReaper(context, devices: [site.device.deviceId])
      var retention = Retention().asking(.seconds(1))
      retention.trustsServerClock = true
      try site.ageStore(days: 1)
      let plan = try await reaper.plan(retention)
      #expect(plan.remote.count == 1)
      _ = try await reaper.execute(plan)
    }
    #expect(try await site.remote(session).seal == nil)
    site.local.clock.advance(seconds: Self.day)
    #expect(try await review(site).copies.isEmpty)
  }

  @Test func `a store that fails is asked again after an hour`() async throws {
    let site = try Site()
    _ = try await session("x", in: site)
    site.store.plan(.failBefore(.unreachable), on: "LIST")
    #expect(try await review(site).requests.count == 1)
    #expect(try await review(site).requests.isEmpty)
    site.local.clock.advance(seconds: 3600)
    #expect(try await review(site).requests.count == 1)
  }
}
