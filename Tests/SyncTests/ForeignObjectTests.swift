import Foundation
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

  @Test(.shiftedTime) func `a former stream is of objects that were sent`() async throws {
    let folder = try AttachedFolder("app.log")
    func lines(_ run: Int) -> String {
      (0..<3_000).map { line in
        let noise = UInt64(line) &* 0x9E37_79B9_7F4A_7C15
        return line == 9 ? "run \(run)\n" : "line \(line) \(String(noise, radix: 36))\n"
      }.joined()
    }
    try lines(1).write(toFile: folder.file("app.log"), atomically: false, encoding: .utf8)
    try await folder.tick()
    try lines(2).write(toFile: folder.file("app.log"), atomically: false, encoding: .utf8)
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    let longer = Array(lines(1).replacing("line", with: "LINE").utf8) + Self.forged
    let forged = try await folder.site.forge(longer, at: 0, of: session)
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
    let basis = try #require(try folder.sidecars().first?.basis)
    #expect(!basis.isEmpty && !basis.contains(forged.fileName))
    #expect(try await folder.onlyRemote() == lines(2))
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
