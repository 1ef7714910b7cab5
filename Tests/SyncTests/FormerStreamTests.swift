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
import TidemarkUpload

@testable import Sync

/// What a file held before it was rewritten, in the store and in mirrors.
@Suite(.shiftedTime, .tags(.medium)) struct FormerStreamTests: RewritingJob {
  let folder: AttachedFolder

  init() throws { folder = try AttachedFolder("job.log") }

  @Test func `each run of a job that rewrites its log stays readable`() async throws {
    let runs = (1...4).map { Self.run($0, $0 == 1 ? "ERROR disk failed" : "disk checked") }
    let mirror = Mirror(of: folder.site)
    let session = try await send(Array(runs[..<2]))
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.file("\(session).g1.log") == Array(runs[0].utf8))
    // As if it had mirrored somebody else's object.
    try Data(repeating: 0x78, count: runs[0].utf8.count)
      .write(to: URL(filePath: "\(mirror.place(session))/\(session).g1.log"))
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

  /// The newest stream copies nothing from the damaged object.
  @Test func `damage of a former stream that a deep verification found stays known`() async throws {
    var folder = self.folder
    (folder.site.limits.largestObject, folder.site.limits.smallestObject) = (4 << 10, 2 << 10)
    let lines = Self.run(1).split(separator: "\n").map { "\($0)\n" }
    let changed = lines[1_000..<2_000].map { String($0.dropLast().reversed()) + "\n" }
    let start = StreamOffset(lines[..<1_000].joined().utf8.count)
    let region = start..<StreamOffset(lines[..<2_000].joined().utf8.count)
    for text in [lines, Array(lines[..<1_000]) + changed + Array(lines[2_000...])] {
      try write(text.joined())
      try await folder.tick()
    }
    let site = folder.site
    let session = try #require(try folder.sidecars().first?.sessionId)
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1])
    let remote = try await site.remote(session)
    let object = try #require(
      remote.segments(of: 1).first { $0.range.clamped(to: region) == $0.range })
    let key = remote.folder.key + object.fileName
    let whole = try await site.store.get(key)
    var damaged = whole
    damaged[damaged.count / 3] ^= 1
    _ = try await site.store.put(key, damaged)

    func isBroken(deeply isDeep: Bool) async throws -> Bool {
      let pass = VerificationPass(try site.context(), deeply: isDeep, retention: .days(30))
      let candidate = VerificationPass.Candidate(
        session, of: site.device.deviceId, remote: try await site.remote(session), isReaped: false)
      let broken = try await pass.run([candidate], begin: { _ in }, report: { _ in })
      return broken.map(\.session) == [session]
    }
    #expect(try await !isBroken(deeply: false))
    #expect(try await isBroken(deeply: true))
    #expect(try await isBroken(deeply: false))
    _ = try await site.store.put(key, whole)
    for _ in 1...2 { #expect(try await !isBroken(deeply: false)) }
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

  @Test(arguments: [false, true])
  func `a file that is rewritten under metadata consent differs from what was sent on purpose`(
    byRename: Bool
  ) async throws {
    var folder = self.folder
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
}
