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

/// What a file held before it was rewritten, in the store and in mirrors.
@Suite(.shiftedTime, .tags(.medium)) struct FormerStreamTests {
  private var folder: AttachedFolder

  init() throws { folder = try AttachedFolder("job.log") }

  /// The log of a job's run: as long as any other, and all the same but for one line.
  private static func run(_ number: Int, _ event: String = "disk checked") -> String {
    (0..<3_000).map { line in
      let noise = String(UInt64(line) &* 0x9E37_79B9_7F4A_7C15, radix: 36)
      return line == 1_500 ? "run \(number): \(event)\n" : "step \(line) of the job \(noise)\n"
    }.joined()
  }

  private func write(_ text: String) throws {
    try text.write(toFile: folder.file("job.log"), atomically: false, encoding: .utf8)
  }

  /// Sends several runs of the job.
  private func send(_ runs: [String]) async throws -> SessionID {
    for text in runs {
      try write(text)
      try await folder.tick()
    }
    return try #require(try folder.sidecars().first?.sessionId)
  }

  private func seal() async throws {
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
  }

  private func reader(_ session: SessionID, _ generation: Int?) async throws -> SessionReader {
    let catalog = folder.site.local.catalog(try folder.site.context())
    let entry = try #require(
      try await catalog.find([session.description], devices: [folder.site.local.device.deviceId])
        .first ?? nil)
    return try SessionReader(entry, side: .remote, generation: generation, in: catalog) { _ in }
  }

  private func read(_ session: SessionID, _ generation: Int?) async throws -> String {
    var bytes: [UInt8] = []
    _ = try await reader(session, generation).read(RecordChoice(RecordFilter()), .verified) {
      bytes += $0
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `each run of a job that rewrites its log stays readable`() async throws {
    let runs = (1...4).map { Self.run($0, $0 == 1 ? "ERROR disk failed" : "disk checked") }
    let mirror = Mirror(of: folder.site)
    let session = try await send(Array(runs[..<2]))
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.file("\(session).g1.log") == Array(runs[0].utf8))
    _ = try await send(Array(runs[2...]))

    func expectAll() async throws {
      let former = try #require(try folder.sidecars().first?.former)
      #expect(former.map(\.generation) == [1, 2, 3])
      #expect(former.map(\.length) == runs[..<3].map { StreamOffset($0.utf8.count) })
      for (generation, text) in zip(1..., runs) {
        #expect(try await read(session, generation) == text)
      }
      #expect(try await read(session, nil) == runs[3])
      await #expect(throws: ReadingError.self) { try await reader(session, 5) }
    }
    try await expectAll()
    try await seal()
    try await expectAll()
    let remote = try await folder.site.remote(session)
    #expect(remote.revisions.count == 1)
    #expect(try await Verifier(folder.site.context()).verify(remote, deeply: true).problem == nil)

    var new = mirror
    new.puller = Puller(folder.site.store, into: mirror.folder + "2", knowing: nil)
    for mirror in [mirror, new] {
      #expect(try await mirror.pull().isEmpty)
      #expect(try await mirror.puller.plan(devices: [folder.site.local.device.deviceId]).isEmpty)
    }
    let device = folder.site.local.device.deviceId
    for (generation, text) in zip(1..., runs) {
      let ending = generation == 4 ? "" : ".g\(generation)"
      for mirror in [mirror.folder, mirror.folder + "2"] {
        let path = "\(mirror)/\(device)/\(session.day)/\(session)\(ending).log"
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text, "\(path)")
      }
    }
  }

  @Test func `a search finds lines that the file no longer holds, once`() async throws {
    let session = try await send([Self.run(1, "ERROR failed"), Self.run(2), Self.run(3)])
    let search = SessionSearch(try LinePattern("run |step 7 ", isFixed: false, ignoresCase: false))
    var known: SessionSearch.KnownLines? = .init()
    var found: [[String]] = []
    for generation in [nil, 2, 1] {
      var lines: [String] = []
      _ = try await search.run(
        in: reader(session, generation), RecordChoice(RecordFilter()), besides: &known
      ) { finding in
        guard case .piece(.match(let line), _) = finding else { return }
        lines.append(String(decoding: line.text, as: UTF8.self))
      }
      found.append(lines.map { String($0.prefix(12)) })
    }
    #expect(found == [["step 7 of th", "run 3: disk "], ["run 2: disk "], ["run 1: ERROR"]])
  }

  @Test func `after many rewrites the file begins another session`() async throws {
    _ = try await send((0...32).map { Self.run($0) })
    #expect(try folder.sidecars().map { $0.former?.count } == [32])
    try write(Self.run(33))
    try await folder.tick()
    #expect(try Set(folder.sidecars().map { $0.former?.count }) == [32, nil])
    #expect(try await folder.gaps().count == 1)
  }

  @Test func `a rewrite whose pass dies lists the stream that it replaces once`() async throws {
    let session = try await send([Self.run(1)])
    for number in 2...3 {
      try write(Self.run(number))
      folder.site.store.plan(.die, on: "PUT", keyContaining: ".json")
      await #expect(throws: (any Error).self) { try await folder.tick() }
      folder.site.store.revive()
    }
    #expect(folder.site.store.unexercised.isEmpty)
    #expect(try await read(session, nil) == Self.run(1))
    try await folder.tick()
    #expect(try await read(session, nil) == Self.run(3))
    let former = try #require(try folder.sidecars().first?.former)
    #expect(former.map(\.generation) == [1])
    #expect(try await read(session, 1) == Self.run(1))
  }

  @Test(arguments: [false, true])
  func `a listing that lacks a generation's revision takes no stream out of reach`(
    isFirstRequestLost: Bool
  ) async throws {
    let session = try await send([Self.run(1)])
    if isFirstRequestLost {
      folder.site.store.plan(.failAfter, on: "PUT", keyContaining: ".s0002.")
    }
    try write(Self.run(2))
    try await folder.tick(isDisturbed: isFirstRequestLost)
    try write(Self.run(3))
    if !isFirstRequestLost {
      folder.site.store.plan(.failBefore(.transient), on: "PUT", keyContaining: ".g3.")
      try await folder.tick(isDisturbed: true)
    }
    folder.site.store.hide(".s0002.")
    try await folder.tick(after: 60)
    folder.site.store.hide(nil)
    #expect(folder.site.store.unexercised.isEmpty)
    try await folder.tick()
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1, 2])
    #expect(try await folder.site.remote(session).revisions.map(\.number) == [1, 2, 3])
    for generation in 1...2 {
      #expect(try await read(session, generation) == Self.run(generation))
    }
    #expect(try await read(session, nil) == Self.run(3))
    try await seal()
    #expect(try await read(session, 2) == Self.run(2))
  }

  @Test func `a generation counts although somebody deleted the revision that named it`()
    async throws
  {
    let session = try await send([Self.run(1), Self.run(2)])
    let remote = try await folder.site.remote(session)
    let named = try #require(remote.revision)
    _ = try await folder.site.store.delete([remote.folder.key + named.fileName])
    try folder.site.context().manifest.distrustSessions()
    try folder.append("after\n", to: "job.log")
    try await folder.tick()
    #expect(try await folder.site.remote(session).generation == 2)
    #expect(try await folder.site.remote(session).revisions.map(\.number) == [1, 3])
    #expect(try await read(session, nil) == Self.run(2) + "after\n")
    #expect(try await read(session, 1) == Self.run(1))
  }

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

  @Test(arguments: [false, true])
  func `a file that is rewritten under metadata consent differs from what was sent on purpose`(
    byRename: Bool
  ) async throws {
    var folder = folder
    let session = try await send([Self.run(1), Self.run(2)])
    folder.site.consent = .metadata
    for run in 3...4 {
      try Self.run(run).write(
        toFile: folder.file("job.log"), atomically: byRename, encoding: .utf8)
      try await folder.tick()
    }
    func expectWhole() async throws {
      let remote = try await folder.site.remote(session)
      let finding = try await Verifier(folder.site.context()).verify(remote)
      #expect(finding.problem == nil && finding.isLogWithheld, "\(finding) \(remote.revisions)")
    }
    try await expectWhole()
    try folder.rename("job.log", to: "job.log.1")
    try await folder.tick(after: 60)
    try await expectWhole()
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await expectWhole()
    let remote = try await folder.site.remote(session)
    #expect(remote.seal != nil)
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
    #expect(try await Verifier(folder.site.context()).reopen(session, having: left))
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

  @Test func `a redaction leaves former streams in which it masks nothing`() async throws {
    var folder = folder
    let runs = [Self.run(1), Self.run(2, "key k-0123456789abcdef"), Self.run(3)]
    let session = try await send(runs)
    try await seal()
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1, 2])
    folder.site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "key", near: "k-0", pattern: "k-[0-9a-f]+")])
    let redaction = try RemoteRedaction(folder.site.context())
    let item = try #require(try await redaction.plan(session))
    #expect(item.former.map(\.generation) == [2])
    try redaction.begin(item)
    try await folder.tick()
    try await folder.tick(after: 86_400)
    try await folder.tick(after: 86_400)
    try await folder.expectSealed(1)
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1])
    #expect(try await read(session, nil) == runs[2])
    #expect(try await read(session, 1) == runs[0])
    await #expect(throws: ReadingError.self) { try await reader(session, 2) }
    let remote = try await folder.site.remote(session)
    for segment in remote.segments {
      var bytes: [UInt8] = []
      try await folder.site.context().reader.read(segment, in: remote.folder) { bytes += $0 }
      #expect(!String(decoding: bytes, as: UTF8.self).contains("k-0123"))
    }
    #expect(try await Verifier(folder.site.context()).verify(remote, deeply: true).problem == nil)
    #expect(try await redaction.plan(session) == nil)
  }

  @Test func `a key that two objects share is masked in what former streams copy from, too`()
    async throws
  {
    var folder = folder
    folder.site.redaction = RedactionRules(groups: [])
    let key = (0..<30).map { "MIIEpAIBAAKCAQEA\($0)aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5z\n" }
    let log = Self.run(1)
    let lines = log.split(separator: "\n", omittingEmptySubsequences: false)
    let head = lines.prefix(600).joined(separator: "\n") + "\n"
    let begin = "-----BEGIN RSA PRIVATE KEY-----\n" + key.prefix(10).joined()
    let rest = key.dropFirst(10).joined() + "-----END RSA PRIVATE KEY-----\n" + log
    func other(_ number: Int) -> String {
      (0..<600).map { "another run \(number), line \($0)\n" }.joined()
    }
    for text in [head + begin, head + begin + rest, other(2) + log, other(3) + log] {
      try write(text)
      try await folder.tick()
    }
    let session = try #require(try folder.sidecars().first?.sessionId)
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1, 2])
    folder.site.redaction = RedactionRules()
    let redaction = try RemoteRedaction(folder.site.context())
    let item = try #require(try await redaction.plan(session))
    #expect(item.former.map(\.generation) == [1, 2])
    try redaction.begin(item)
    try await folder.tick()
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick(after: 86_400)
    try await folder.expectSealed(1)
    let remote = try await folder.site.remote(session)
    for segment in remote.segments {
      var bytes: [UInt8] = []
      try await folder.site.context().reader.read(segment, in: remote.folder) { bytes += $0 }
      #expect(!String(decoding: bytes, as: UTF8.self).contains("MIIEpAIBAAKCAQEA29"))
    }
  }

  @Test(arguments: [false, true])
  func `a redaction deletes former streams with what is now masked`(
    isMirrored: Bool
  ) async throws {
    var folder = folder
    let session = try await send([Self.run(1, "key k-0123456789abcdef"), Self.run(2)])
    try await seal()
    var mirror = Mirror(of: folder.site)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.names(of: session).count == 3)

    folder.site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "key", near: "k-0", pattern: "k-[0-9a-f]+")])
    let redaction = try RemoteRedaction(folder.site.context())
    let home = folder.site.local.home
    do {
      let lock = try #require(try HomeLock.acquire(home))
      let lived = try folder.site.context().lived
      _ = try Holds(home).keep(session, for: .days(1), lived, holding: lock)
      await #expect(throws: ReplicaError.self) { try await redaction.plan(session) }
      _ = try Holds(home).release(session, holding: lock)
    }
    let item = try #require(try await redaction.plan(session))
    #expect(item.former.map(\.generation) == [1])
    try redaction.begin(item)
    try await folder.tick()
    try await folder.tick(after: 86_400)
    try await folder.tick(after: 86_400)
    try await folder.expectSealed(1)
    #expect(try folder.sidecars().map(\.former) == [nil])
    #expect(try await read(session, nil) == Self.run(2))
    await #expect(throws: ReadingError.self) { try await reader(session, 1) }
    #expect(try await folder.site.remote(session).segments(of: 1).isEmpty)
    #expect(try await redaction.plan(session) == nil)

    // Also if the mirror has the rest of the session already.
    if isMirrored {
      #expect(try await mirror.pull().isEmpty)
      #expect(try mirror.names(of: session).contains("\(session).g1.log"))
    }
    mirror.puller.replacesFormer = true
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.names(of: session) == ["\(session).json", "\(session).log"])
    #expect(try await mirror.puller.plan(devices: [folder.site.local.device.deviceId]).isEmpty)
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
