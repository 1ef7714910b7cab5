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

/// What a file held before it was rewritten, after the store lost some of it.
@Suite(.shiftedTime, .tags(.medium)) struct LostStreamTests: RewritingJob {
  let folder: AttachedFolder

  init() throws { folder = try AttachedFolder("job.log") }

  @Test func `a lost former stream is reported, and the newest mirrored`() async throws {
    let session = try await send([Self.run(1, "ERROR failed"), Self.run(2)])
    try await seal()
    let remote = try await folder.site.remote(session)
    for segment in remote.segments(of: 1) {
      _ = try await folder.site.store.delete([remote.folder.key + segment.fileName])
    }
    // The newest stream copies from it, too.
    let left = try await folder.site.remote(session)
    let finding = try await Verifier(folder.site.context()).verify(left)
    #expect(finding.problem != nil)
    await #expect(throws: ReplicaError.self) { try await read(session, 1) }
  }

  @Test(arguments: [false, true])
  func `a file whose deltas lost their basis is sent whole, and its lost stream reported`(
    isOpen: Bool
  ) async throws {
    let session = try await send([Self.run(1, "ERROR failed"), Self.run(2)])
    let remote = try await folder.site.remote(session)
    #expect(remote.segments(of: 2).contains { $0.kind == .delta })
    for segment in remote.segments(of: 1) {
      _ = try await folder.site.store.delete([remote.folder.key + segment.fileName])
    }
    if isOpen {
      try folder.site.context().manifest.distrustSessions()
      try folder.append("after\n", to: "job.log")
      try await folder.tick()
      #expect(try await read(session, nil) == Self.run(2) + "after\n")
    }
    for _ in 1...2 {
      let error = await #expect(throws: ReplicaError.self) { try await seal() }
      #expect(error?.code == .missingBytes)
    }
    let newest = try await folder.site.remote(session)
    #expect(newest.seal == nil && newest.generation == 3)
    #expect(newest.segments(of: 3).allSatisfy { $0.kind == .plain })
    let text = Self.run(2) + (isOpen ? "after\n" : "")
    #expect(try await read(session, nil) == text)

    #expect(try await Verifier(folder.site.context()).reopen(session, having: newest))
    try await folder.tick()
    try await folder.expectSealed(1)
    #expect(try await read(session, nil) == text)
    let sealed = try await folder.site.remote(session)
    #expect(try await Verifier(folder.site.context()).verify(sealed).problem == nil)
  }

  @Test func `a lost former stream that is given up is in the ledger`() async throws {
    let session = try await send([Self.run(1), Self.run(2), Self.run(3)])
    try await seal()
    let remote = try await folder.site.remote(session)
    let first = try #require(remote.segments(of: 1).first)
    let store = folder.site.store
    _ = try await store.delete([remote.folder.key + first.fileName])
    // Somebody else's object under a name that fits is none of the stream's.
    let other = try await SegmentWorker().encode(
      LocalStream(path: folder.file("job.log")), session: session, generation: 1,
      range: first.range, storedLimit: .max, format: .asIs)
    #expect(other.name.range == first.range && other.name != first)
    _ = try await store.put(remote.folder.key + other.name.fileName, other.body)
    let left = try await folder.site.remote(session)
    #expect(left.mark(of: 1) >= first.range.upperBound)
    var told: [String] = []
    do {
      let lock = try #require(try HomeLock.acquire(folder.site.local.home))
      let verifier = Verifier(try folder.site.context())
      #expect(
        try await verifier.reopen(session, having: left, holding: lock) { told.append($0) })
    }
    #expect(told.count == 2 && told[0].hasPrefix("generation 1 is given up: bytes 0 to "))
    // The second one copies from the first.
    #expect(try folder.sidecars().map(\.former) == [nil])
    let entries = try DeletionLedger(folder.site.local.home).entries { $0 == session }
    let lost = entries.filter { $0.ground == .lost }
    #expect(lost.map(\.what) == ["generation 1", "generation 2"])
    #expect(lost.map(\.copy) == [.remote, .remote])
    #expect(lost.first?.finding.contains("bytes 0 to \(Self.run(1).utf8.count)") == true)
    #expect(lost.last?.finding.contains("copies from are not in the store") == true)
  }

  @Test(arguments: [false, true])
  func `a former stream that a listing lacks is not given up while its objects are there`(
    isSealed: Bool
  ) async throws {
    let session = try await send([Self.run(1), Self.run(2)])
    if isSealed { try await seal() }
    folder.site.store.hide(".g1.")
    let left = try await folder.site.remote(session)
    #expect(left.segments(of: 1).isEmpty)
    _ = try await Verifier(folder.site.context()).reopen(session, having: left)
    folder.site.store.hide(nil)
    #expect(try folder.sidecars().map(\.givenUp) == [nil])
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1])
    let deletions = try DeletionLedger(folder.site.local.home).entries { $0 == session }
    #expect(deletions.allSatisfy { $0.ground != .lost })
    if isSealed { try await folder.tick() } else { try await seal() }
    try await folder.expectSealed(1)
    #expect(try await read(session, 1) == Self.run(1))
    #expect(try await read(session, nil) == Self.run(2))
  }

  @Test func `what is left of a stream that was given up is named by a redaction`() async throws {
    let session = try await send([Self.run(1), Self.run(2), Self.run(3)])
    try await seal()
    let remote = try await folder.site.remote(session)
    let redaction = try RemoteRedaction(folder.site.context())
    #expect(try await redaction.unchecked(session) == nil)
    let store = folder.site.store
    _ = try await store.delete(
      remote.segments(of: 1).map { remote.folder.key + $0.fileName })
    let left = try await folder.site.remote(session)
    #expect(try await Verifier(folder.site.context()).reopen(session, having: left))
    #expect(try folder.sidecars().map(\.givenUp) == [[1, 2]])
    let reason = try #require(try await redaction.unchecked(session))
    let keys = left.segments(of: 2).map { left.folder.key + $0.fileName }
    #expect(!keys.isEmpty && keys.prefix(5).allSatisfy { reason.contains($0) }, "\(reason)")
    #expect(reason.hasPrefix("generation 2, "))
    _ = try await store.delete(keys)
    #expect(try await redaction.unchecked(session) == nil)
  }

  @Test func `repair sends a file whole if its deltas lost their basis`() async throws {
    let session = try await send((1...3).map { Self.run($0) })
    let remote = try await folder.site.remote(session)
    #expect(remote.segments(of: 3).contains { $0.kind == .delta })
    for segment in remote.segments(of: 1) {
      _ = try await folder.site.store.delete([remote.folder.key + segment.fileName])
    }
    let left = try await folder.site.remote(session)
    #expect(try await Verifier(folder.site.context()).reopen(session, having: left))
    #expect(try folder.sidecars().map(\.former) == [nil])
    try await folder.tick()
    let repaired = try await folder.site.remote(session)
    #expect(repaired.generation == 4)
    #expect(repaired.segments(of: 4).allSatisfy { $0.kind == .plain })
    #expect(try await Verifier(folder.site.context()).verify(repaired).problem == nil)

    // Nothing but the store has it now.
    try folder.remove("job.log")
    for _ in 1...2 { try await folder.tick(after: 3_700) }
    try await folder.expectSealed(1)
    #expect(try await read(session, nil).hasPrefix(Self.run(3)))
  }

  @Test func `a damaged delta whose bytes the file has is no former stream`() async throws {
    let session = try await send([Self.run(1), Self.run(2)])
    try await seal()
    let remote = try await folder.site.remote(session)
    let delta = try #require(remote.segments(of: 2).first { $0.kind == .delta })
    let key = remote.folder.key + delta.fileName
    var object = try await folder.site.store.get(key)
    object[object.count / 3] ^= 1
    _ = try await folder.site.store.put(key, object)
    #expect(try await Verifier(folder.site.context()).verify(remote).problem != nil)
    #expect(try await Verifier(folder.site.context()).reopen(session, having: remote))
    try await folder.tick()
    try await folder.expectSealed(1)
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1])
    #expect(try await read(session, nil) == Self.run(2))
    #expect(try await read(session, 1) == Self.run(1))
    let sealed = try await folder.site.remote(session)
    #expect(try await Verifier(folder.site.context()).verify(sealed, deeply: true).problem == nil)
  }

  @Test func `a mirror keeps a former stream that the store lost`() async throws {
    let session = try await send([Self.run(1), Self.run(2)])
    try await seal()
    var mirror = Mirror(of: folder.site)
    #expect(try await mirror.pull().isEmpty)
    let remote = try await folder.site.remote(session)
    _ = try await folder.site.store.delete(
      remote.segments(of: 1).map { remote.folder.key + $0.fileName })
    let left = try await folder.site.remote(session)
    #expect(try await Verifier(folder.site.context()).reopen(session, having: left))
    try await folder.tick()
    try await folder.expectSealed(1)
    #expect(try folder.sidecars().map(\.givenUp) == [[1]])
    mirror.puller.replacesFormer = true
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == Array(Self.run(2).utf8))
    #expect(try mirror.file("\(session).g1.log") == Array(Self.run(1).utf8))
  }

  @Test func `a lost former stream is named although the local copy was deleted`() async throws {
    let session = try await send([Self.run(1), Self.run(2)])
    try await seal()
    try folder.remove("job.log")
    for _ in 1...2 { try await folder.tick(after: 3_700) }
    let context = try folder.site.context()
    let reaper = LocalReaper(context)
    var retention = Retention().asking(.seconds(1))
    retention.trash = .zero
    #expect(try reaper.execute(try await reaper.plan(retention), retention).count == 1)
    func withoutCopy() async throws -> Set<SessionID> {
      let site = folder.site
      return try await RemoteReaper(site.context(), devices: [site.device.deviceId]).plan(
        Retention(), skipsRecent: true
      ).withoutCopy
    }
    #expect(try await withoutCopy().isEmpty)
    let remote = try await folder.site.remote(session)
    let lost = try #require(remote.segments(of: 1).first)
    _ = try await folder.site.store.delete([remote.folder.key + lost.fileName])
    #expect(try await withoutCopy() == [session])
    let found = try await SealReview(folder.site.context()).runIfDue(doubting: [session])
    #expect(found.copies == [.init(session, leaving: .nothing)])
  }
}
