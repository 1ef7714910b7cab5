import Foundation
import LogRecords
import Platform
import Redaction
import Replica
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// A sealed session whose bytes the store lost, and whose file was compressed by a rotation, or read on
/// by another session: a repair copies them from there.
@Suite(.shiftedTime, .tags(.medium)) struct SealedSourceTests {
  private let folder: AttachedFolder
  private let session: SessionID
  private let lines = [Array(0..<2000), Array(5000..<5001)]

  init() async throws { (folder, session) = try await Self.lost(by: "gzip") }

  /// The folder, and the session that has lost its bytes in the store.
  private static func lost(
    by program: String
  ) async throws -> (folder: AttachedFolder, session: SessionID) {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<2000, to: "app.log")
    try await folder.tick()
    try folder.rename("app.log", to: "app.log.1")
    try folder.append(5000..<5001, to: "app.log")
    for _ in 1...2 { try await folder.tick(after: 7200) }
    try await folder.expectSealed(1)
    let sealed = try #require(try folder.sidecars().first { $0.seal != nil })
    #expect(try await folder.run("\(program) app.log.1") == 0)
    try await folder.tick(after: 7200)
    let remote = try await folder.site.remote(sealed.sessionId)
    _ = try await folder.site.store.delete(
      remote.segments.map { remote.folder.key + $0.fileName })
    return (folder, sealed.sessionId)
  }

  /// What `verify --repair` does before it sends.
  private static func reopen(_ session: SessionID, in folder: AttachedFolder) async throws -> Bool {
    let left = try await folder.site.remote(session)
    let verifier = Verifier(try folder.site.context())
    #expect(try verifier.obstacle(to: left) == nil)
    return try await verifier.reopen(session, having: left)
  }

  /// Expects every line once in the store, and the same on this machine.
  private static func expectWhole(
    _ session: SessionID, _ lines: [[Int]], in folder: AttachedFolder, _ comment: Comment? = nil
  ) async throws {
    let site = folder.site
    let remote = try await site.remote(session)
    #expect(remote.seal != nil, comment)
    let finding = try await Verifier(site.context()).verify(remote)
    #expect(finding.problem == nil && finding.comparedLocally, comment)
    #expect(try await folder.remoteLines() == lines, comment)
  }

  private func sidecar() throws -> Sidecar {
    try Sidecar.load(folder.site.local.home.files(for: session).sidecar)
  }

  @Test(arguments: ["gzip", "zstd -q --rm"])
  func `a sealed log compressed by rotation is sent again from there`(
    program: String
  ) async throws {
    let (folder, session) = try await Self.lost(by: program)
    #expect(try await Self.reopen(session, in: folder))
    for _ in 1...2 { try await folder.tick(after: 7200) }
    try await Self.expectWhole(session, lines, in: folder)
  }

  @Test(arguments: [(false, 1), (true, 3)])
  func `a repair is repeated after it was killed at any file change`(
    isTickedBetween: Bool, step: Int
  ) async throws {
    for lifetime in stride(from: 0, to: .max, by: step) {
      let (folder, session) = try await Self.lost(by: "gzip")
      let left = try await folder.site.remote(session)
      let verifier = Verifier(try folder.site.context())
      let files = TestFiles(lifetime: lifetime)
      _ = await FileEffect.$hook.withValue(files) {
        try? await verifier.reopen(session, having: left)
      }
      if isTickedBetween { try await folder.tick(after: 7200) }
      let comment: Comment = "killed after \(lifetime)"
      #expect(try await Self.reopen(session, in: folder), comment)
      for _ in 1...2 { try await folder.tick(after: 7200) }
      try await Self.expectWhole(session, lines, in: folder, comment)
      guard files.isDead else { return #expect(lifetime > 10) }
    }
  }

  /// The file's row in the cache is as old as the file's compression, or made anew.
  @Test(arguments: [false, true])
  func `an unpacked log stays the whole stream when its file is rotated again`(
    isCacheLost: Bool
  ) async throws {
    #expect(try await Self.reopen(session, in: folder))
    for _ in 1...2 { try await folder.tick(after: 7200) }
    if isCacheLost { try folder.loseCache() }
    for number in 1...2 {
      try folder.rename("app.log.\(number).gz", to: "app.log.\(number + 1).gz")
      try await folder.tick(after: 7200)
      #expect(try sidecar().source?.path == folder.file("app.log.\(number + 1).gz"))
      #expect(try sidecar().source?.length == 0)
      try await Self.expectWhole(session, lines, in: folder)
    }
    #expect(try await Self.reopen(session, in: folder))
    for _ in 1...2 { try await folder.tick(after: 7200) }
    try await Self.expectWhole(session, lines, in: folder)
  }

  @Test func `a file found elsewhere changes only its place in a complete session`() async throws {
    #expect(try await Self.reopen(session, in: folder))
    for _ in 1...2 { try await folder.tick(after: 7200) }
    let files = try AttachedFiles(folder.site.local.home)
    var behind = try #require(try files.of(session))
    behind.source.length = try sidecar().seal?.length
    try files.save(behind)
    try folder.rename("app.log.1.gz", to: "app.log.2.gz")
    try await folder.tick(after: 7200)
    #expect(try sidecar().source?.path == folder.file("app.log.2.gz"))
    #expect(try files.of(session)?.source == sidecar().source)
    try await Self.expectWhole(session, lines, in: folder)
  }

  /// What becomes of a log after it has grown beyond a sealed session.
  enum Fate: String, CaseIterable {
    case stays, renamed, compressed, copied, grown
  }

  /// A log that was idle until its session was sealed, and grew then.
  private static func grown(
    _ fate: Fate, from first: Int = 0
  ) async throws -> (folder: AttachedFolder, session: SessionID, lines: [[Int]]) {
    let folder = try AttachedFolder("app.log*", idleEnd: 3600)
    var lines = [Array(first..<200), Array(200..<210)]
    try folder.append(first..<200, to: "app.log")
    try await folder.tick()
    try await folder.tick(after: 7200)
    try await folder.expectSealed(1)
    let session = try #require(try folder.sidecars().first).sessionId
    try folder.append(200..<210, to: "app.log")
    try await folder.tick(after: 60)
    switch fate {
    case .stays: break
    case .renamed: try folder.rename("app.log", to: "app.log.1")
    case .compressed:
      try folder.rename("app.log", to: "app.log.1")
      #expect(try await folder.run("gzip app.log.1") == 0)
    case .copied:
      try folder.copy("app.log", to: "app.log.1")
      try folder.truncate("app.log")
    case .grown:
      for _ in 1...2 { try await folder.tick(after: 7200) }
      try folder.append(210..<220, to: "app.log")
      lines.append(Array(210..<220))
    }
    for _ in 1...2 { try await folder.tick(after: 7200) }
    return (folder, session, lines)
  }

  /// Deletes the bytes of a session in the store.
  private static func lose(_ session: SessionID, in folder: AttachedFolder) async throws {
    let remote = try await folder.site.remote(session)
    _ = try await folder.site.store.delete(
      remote.segments.map { remote.folder.key + $0.fileName })
  }

  /// Of 10 lines less is known than passes remember of a beginning.
  @Test(arguments: Fate.allCases, [0, 190])
  func `a sealed log is sent again from the file that has grown since`(
    _ fate: Fate, first: Int
  ) async throws {
    let (folder, session, lines) = try await Self.grown(fate, from: first)
    try await Self.lose(session, in: folder)
    #expect(try await Self.reopen(session, in: folder))
    // The home has the bytes, should the file be gone before they are sent.
    if fate == .stays { try folder.remove("app.log") }
    for _ in 1...2 { try await folder.tick(after: 7200) }
    try await Self.expectWhole(session, lines, in: folder)
    // Nothing keeps the local copy of a session whose file another one reads.
    let sidecar = try Sidecar.load(folder.site.local.home.files(for: session).sidecar)
    #expect(sidecar.source?.isGone == true)
  }

  @Test func `a file that was rewritten since does not repair what it held before`() async throws {
    let (folder, session, _) = try await Self.grown(.stays)
    try await Self.lose(session, in: folder)
    #expect(try await folder.run("sed -i 's/line 7 /line x /' app.log") == 0)
    #expect(try await !Self.reopen(session, in: folder))
  }

  @Test func `an open log that was copied and begun anew does not repair what it held`()
    async throws
  {
    let folder = try AttachedFolder("app.log*")
    let heading = String(repeating: "#field name type\n", count: 300)
    try folder.append(heading, to: "app.log")
    try folder.append(0..<50, to: "app.log")
    try await folder.tick()
    let session = try #require(try folder.sidecars().first).sessionId
    try await Self.lose(session, in: folder)
    #expect(try await folder.run("cp app.log app.log.1; : >app.log") == 0)
    try folder.append(heading, to: "app.log")
    try folder.append(100..<200, to: "app.log")
    let left = try await folder.site.remote(session)
    #expect(try Verifier(folder.site.context()).obstacle(to: left) != nil)
  }

  @Test(arguments: Fate.allCases)
  func `a sealed log is redacted from the file that has grown since`(_ fate: Fate) async throws {
    var (folder, session, _) = try await Self.grown(fate)
    folder.site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "number", near: "line 7", pattern: "line 7[0-9]")])
    let redaction = try RemoteRedaction(folder.site.context())
    let item = try #require(try await redaction.plan(session))
    try redaction.begin(item)
    for _ in 1...2 { try await folder.tick(after: 7200) }
    let remote = try await folder.site.remote(session)
    #expect(remote.seal != nil && remote.generation == 2)
    let text = try await folder.remote(session)
    #expect(text.contains("line 69 ") && !text.contains("line 70 "))
    #expect(try await Verifier(folder.site.context()).verify(remote, deeply: true).problem == nil)
    #expect(try await redaction.plan(session) == nil)
  }

  @Test func `a log with bytes after the sealed ones only repairs nothing`() async throws {
    #expect(try await Self.reopen(session, in: folder))
    for _ in 1...2 { try await folder.tick(after: 7200) }
    let local = folder.site.local.home.files(for: session)
    var changed = try sidecar()
    changed.source?.length = changed.seal?.length
    try changed.save(local.sidecar)
    try Data("other bytes\n".utf8).write(to: URL(filePath: local.log))
    #expect(try await !Self.reopen(session, in: folder))
    #expect(try sidecar() == changed)
  }

  @Test func `a log unpacked by a repair that died before the sidecar is the whole stream`()
    async throws
  {
    #expect(try await Self.reopen(session, in: folder))
    for _ in 1...2 { try await folder.tick(after: 7200) }
    var former = try sidecar()
    former.source?.length = former.seal?.length
    try former.save(folder.site.local.home.files(for: session).sidecar)
    #expect(try await Self.reopen(session, in: folder))
    #expect(try sidecar().source?.length == 0)
    for _ in 1...2 { try await folder.tick(after: 7200) }
    try await Self.expectWhole(session, lines, in: folder)
  }
}
