import ObjectStore
import Replica
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.medium)) struct CrashCardTests {
  private static let secret = "AKIA" + "ABCDEFGHIJKLMNOP"

  @Test func `the seal of a crash has the log's last lines, redacted`() async throws {
    let site = try Site()
    let text = (1...500).map { "line \($0)\n" }.joined() + "key \(Self.secret)\nno newline"
    let session = try site.local.session(Array(text.utf8), cause: .signal(11))
    try await site.upload()
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    let folder = SessionFolder(device: site.local.device.deviceId, session: session)
    let json = try await site.store.get(folder.key + seal.fileName)
    let lines = try #require(try Sidecar(json: json).crash?.lines)
    #expect(lines.count == 200)
    #expect(lines.last?.hasSuffix("[FAULT] [Session] SESSION END signal 11 (SIGSEGV)") == true)
    #expect(lines.contains { $0.hasSuffix("[stdout+] no newline") })
    #expect(lines.contains { $0.contains("key [REDACTED:") })
    #expect(!String(decoding: json, as: UTF8.self).contains(Self.secret))
  }

  @Test func `a session without a crash has no crash lines`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("fine\n".utf8), cause: .exit(3))
    try await site.upload()
    #expect(try Sidecar.load(site.local.home.files(for: session).sidecar).crash == nil)
  }

  /// Long lines and foreign bytes stay bounded and readable.
  @Test func `crash lines of a hostile log stay bounded`() async throws {
    let site = try Site()
    var random = SeededGenerator(case: 1)
    var text: [UInt8] = []
    for _ in 0..<300 { text += EditScript.random(3000, &random) + [0x0a] }
    let session = try site.local.session(text, cause: .signal(6))
    try await site.upload()
    let crash = try #require(try Sidecar.load(site.local.home.files(for: session).sidecar).crash)
    let lines = try #require(crash.lines)
    #expect(lines.count <= 200 && lines.allSatisfy { $0.unicodeScalars.count <= 1024 })
  }
}
