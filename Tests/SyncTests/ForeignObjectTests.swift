import Foundation
import LogRecords
import Platform
import Redaction
import Replica
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// Objects that somebody else put where nothing on this machine can be compared with them.
@Suite(.tags(.medium)) struct ForeignObjectTests {
  private static let forged = Array("line 501 FORGED tail\n".utf8)

  @Test(.shiftedTime) func `a failed pass opens no way for the end of a removed file`() async throws
  {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<300, to: "app.log")
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    let honest = try await folder.onlyRemote()
    let forged = try await folder.site.forge(
      Self.forged, at: StreamOffset(honest.utf8.count), of: session)
    try folder.remove("app.log")
    for _ in 0..<4 { try await folder.tick(after: 3600, isDisturbed: true) }
    let sidecar = try #require(try folder.sidecars().first)
    #expect(sidecar.source?.length == StreamOffset(honest.utf8.count))
    #expect((sidecar.objects ?? []).contains(forged.fileName) == false)
    let seal = try await folder.site.remote(session).seal
    let text = try await seal == nil ? honest : folder.onlyRemote()
    #expect(text.hasPrefix(honest) && !text.contains("FORGED"))
  }

  @Test(.shiftedTime) func `an answer that was lost counts once its object is listed`() async throws
  {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<300, to: "app.log")
    try await folder.tick()
    try folder.append(300..<400, to: "app.log")
    folder.site.store.plan(.failAfter, on: "PUT", times: 1)
    try await folder.tick(after: 60, isDisturbed: true)
    #expect(folder.site.store.unexercised.isEmpty)
    try folder.remove("app.log")
    for _ in 0..<3 { try await folder.tick(after: 3600, isDisturbed: true) }
    try await folder.expectSealed(1)
    #expect(try await folder.remoteLines() == [Array(0..<400)])
  }

  @Test(.shiftedTime) func `verify names what somebody else has put at the end of an open file`()
    async throws
  {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<300, to: "app.log")
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    func problem() async throws -> String? {
      try await Verifier(folder.site.context()).verify(folder.site.remote(session)).problem
    }
    #expect(try await problem() == nil)
    let honest = try await folder.onlyRemote()
    try await folder.site.forge(
      Self.forged, at: StreamOffset(honest.utf8.count), of: session)
    #expect(try await problem()?.contains("somebody else") == true)
  }

  @Test func `the last revision of a withheld log names what was sent`() async throws {
    var site = try Site()
    site.consent = .metadata
    let writer = try site.local.writer()
    writer.print("secret")
    #expect(try await site.upload().failures.isEmpty)
    try await site.forge(Self.forged, at: 0, of: writer.session)
    try writer.end(.exit(0))
    for _ in 0..<2 { #expect(try await site.upload().failures.isEmpty) }
    let sidecar = try Sidecar.load(writer.files.sidecar)
    #expect(sidecar.seal != nil && sidecar.seal?.length == 0)
    #expect((sidecar.objects ?? []).isEmpty)
  }

  @Test func `a repair of a withheld log names what was sent`() async throws {
    var site = try Site()
    let writer = try site.local.writer()
    writer.print("public")
    #expect(try await site.upload().failures.isEmpty)
    site.consent = .metadata
    writer.print("secret")
    try writer.end(.exit(0))
    for _ in 0..<2 { #expect(try await site.upload().failures.isEmpty) }
    let objects = try Sidecar.load(writer.files.sidecar).objects
    #expect(objects?.count == 1)
    let bytes = try site.local.log(writer.session).map { $0 == 0x70 ? 0x50 : $0 } + Self.forged
    let forged = try await site.forge(bytes, at: 0, of: writer.session)
    let sent = try await site.remote(writer.session)
    let json = try Sidecar.load(writer.files.sidecar).remoteForm.json()
    let revision = RevisionName(
      session: writer.session, number: 50, status: .active, generation: 1, length: 0, json: json)
    _ = try await site.store.put(sent.folder.key + revision.fileName, json)
    let left = try await site.remote(writer.session)
    #expect(left.seal == nil || left.cover(upTo: .max).contains(forged))
    #expect(try await Verifier(site.context()).reopen(writer.session, having: left))
    for _ in 0..<2 { #expect(try await site.upload().failures.isEmpty) }
    #expect(try Sidecar.load(writer.files.sidecar).objects == objects)
  }

  /// A run of a job that writes its log anew.
  private static func lines(_ run: Int) -> String {
    (0..<3_000).map { line in
      let noise = UInt64(line) &* 0x9E37_79B9_7F4A_7C15
      return line == 9 ? "run \(run)\n" : "line \(line) \(String(noise, radix: 36))\n"
    }.joined()
  }

  /// What somebody puts in the place of the first run's log.
  private static let longer =
    Array(lines(1).replacing("line", with: "LINE").utf8) + forged

  /// Sends the log of two runs.
  private func rewritten(in folder: AttachedFolder) async throws -> SessionID {
    for run in 1...2 {
      try Self.lines(run).write(toFile: folder.file("app.log"), atomically: false, encoding: .utf8)
      try await folder.tick()
    }
    return try #require(try folder.sidecars().first?.sessionId)
  }

  private func seal(_ folder: AttachedFolder) async throws {
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
  }

  @Test(.shiftedTime, arguments: [false, true])
  func `a foreign object does not have a former stream deleted`(isSealed: Bool) async throws {
    var folder = try AttachedFolder("app.log")
    let session = try await rewritten(in: folder)
    if isSealed { try await seal(folder) }
    folder.site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "tail", near: "FORGED", pattern: "FORGED")])
    let redaction = try RemoteRedaction(folder.site.context())
    #expect(try await redaction.plan(session) == nil)
    try await folder.site.forge(Self.longer, at: 0, of: session)
    #expect(try await redaction.plan(session) == nil)
  }

  /// Whether the file is written anew before or after the object is listed.
  @Test(.shiftedTime, arguments: [false, true])
  func `an object that does not hold what its name says is not copied from`(
    isListed: Bool
  ) async throws {
    let folder = try AttachedFolder("app.log")
    try Self.lines(1).write(toFile: folder.file("app.log"), atomically: false, encoding: .utf8)
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    // It is longer, and would be preferred.
    try folder.append("more\n", to: "app.log")
    try await folder.tick()
    let sent = Array(Self.lines(1).utf8) + Array("more\n".utf8)
    let forged = try await folder.site.forge(insteadOf: sent, of: session)
    try folder.site.context().manifest.distrustSessions()
    if isListed {
      try folder.append("and more\n", to: "app.log")
      try await folder.tick()
    }
    try Self.lines(2).write(toFile: folder.file("app.log"), atomically: false, encoding: .utf8)
    for _ in 0..<2 { try await folder.tick() }
    try await seal(folder)
    let sidecar = try #require(try folder.sidecars().first)
    #expect(!((sidecar.objects ?? []) + (sidecar.basis ?? [])).contains(forged.fileName))
    #expect(try await folder.onlyRemote() == Self.lines(2))
    let remote = try await folder.site.remote(session)
    #expect(try await Verifier(folder.site.context()).verify(remote, deeply: true).problem == nil)
    #expect(sidecar.former?.count == 1)
  }

  @Test func `a redaction copies from no object that does not hold what its name says`()
    async throws
  {
    var site = try Site()
    site.redaction = RedactionRules(groups: [])
    let writer = try site.local.writer()
    for line in ["one", "two", "customer"] {
      writer.print(line)
      try await site.upload()
    }
    let sent = try await site.remoteBytes(writer.session)
    try writer.end(.exit(0))
    try await site.upload()
    let forged = try await site.forge(insteadOf: sent, of: writer.session)
    site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "name", near: "customer", pattern: "customer")])
    let redaction = try RemoteRedaction(site.context())
    try redaction.begin(#require(try await redaction.plan(writer.session)))
    for _ in 0..<2 { #expect(try await site.upload().failures.isEmpty) }
    let sidecar = try Sidecar.load(writer.files.sidecar)
    #expect(!((sidecar.objects ?? []) + (sidecar.basis ?? [])).contains(forged.fileName))
    let remote = try await site.remote(writer.session)
    #expect(try await Verifier(site.context()).verify(remote, deeply: true).problem == nil)
  }

  /// What makes a pass send a sealed session again.
  enum Reopening: CaseIterable { case never, redacting, repairing }

  @Test(.shiftedTime, arguments: Reopening.allCases)
  func `a former stream is of objects that were sent`(reopening: Reopening) async throws {
    var folder = try AttachedFolder("app.log")
    let session = try await rewritten(in: folder)
    if reopening != .never { try await seal(folder) }
    let forged = try await folder.site.forge(Self.longer, at: 0, of: session)
    switch reopening {
    case .never: break
    case .redacting:
      folder.site.redaction = RedactionRules(
        own: [try RedactionRule(kind: "run", near: "run ", pattern: "run 2")])
      let redaction = try RemoteRedaction(folder.site.context())
      try redaction.begin(#require(try await redaction.plan(session)))
    case .repairing:
      let remote = try await folder.site.remote(session)
      let object = try #require(remote.segments(of: 2).first)
      _ = try await folder.site.store.delete([remote.folder.key + object.fileName])
      // It says that the earlier generation is the newest.
      let json = try #require(try folder.sidecars().first?.remoteForm).json()
      let revision = RevisionName(
        session: session, number: 50, status: .active, generation: 1, length: 0, json: json)
      _ = try await folder.site.store.put(remote.folder.key + revision.fileName, json)
      let left = try await folder.site.remote(session)
      #expect(try await Verifier(folder.site.context()).reopen(session, having: left))
    }
    try await seal(folder)
    let basis = try #require(try folder.sidecars().first?.basis)
    #expect(!basis.isEmpty && !basis.contains(forged.fileName))
    let redactor = try Redactor(folder.site.redaction)
    let text = redactor.redacted(Array(Self.lines(2).utf8), format: .asIs)
    #expect(try await Array(folder.onlyRemote().utf8) == text)
    // Obsolete objects are deleted, the former stream's never.
    try await folder.tick(after: 86_400)
    #expect(try await folder.site.remote(session).fileNames.isSuperset(of: basis))
  }

  @Test func `a generation that nobody can follow stops a redaction`() async throws {
    var site = try Site()
    site.redaction = RedactionRules(groups: [])
    let writer = try site.local.writer()
    writer.print("AKIAIOSFODNN7EXAMPLE")
    try writer.end(.exit(0))
    #expect(try await site.upload().failures.isEmpty)
    let segment = try #require(try await site.remote(writer.session).segments.first)
    let high = SegmentName(
      session: segment.session, generation: 999_999, range: segment.range, hash: segment.hash,
      stored: 1)
    let folder = try await site.remote(writer.session).folder
    _ = try await site.store.put(folder.key + high.fileName, [0])
    site.redaction = RedactionRules()
    let redaction = try RemoteRedaction(site.context())
    await #expect(throws: ReplicaError.self) { try await redaction.plan(writer.session) }
  }
}
