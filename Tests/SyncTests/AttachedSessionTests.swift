import Foundation
import Platform
import Redaction
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// Attached sessions that have ended, were deleted, or are in transit.
@Suite(.serialized, .shiftedTime, .tags(.medium)) struct AttachedSessionTests {
  /// A log whose session has ended by rotation while the store was unreachable.
  private func endedUnsent() async throws -> AttachedFolder {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try folder.append(10..<20, to: "app.log")
    try folder.rename("app.log", to: "app.log.1")
    for _ in 0..<2 { try folder.tickWithoutStore() }
    #expect(try folder.sidecars().map(\.cause) == [.file(.rotated)])
    return folder
  }

  @Test func `a log compressed before its seal is sent whole`() async throws {
    let folder = try await endedUnsent()
    #expect(try await folder.run("gzip app.log.1 && mv app.log.1.gz app.log.2.gz") == 0)
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    #expect(try await folder.gaps().isEmpty)
    try await folder.expectSealed(1)
  }

  @Test func `a log removed before its seal is sealed with a GAP`() async throws {
    let folder = try await endedUnsent()
    try folder.remove("app.log.1")
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<10)])
    let lost = (10..<20).reduce(0) { $0 + AttachedFolder.line($1).utf8.count }
    let gaps = try await folder.gaps()
    #expect(gaps.count == 1 && gaps[0].hasPrefix("[GAP \(lost) bytes: "), "\(gaps)")
    try await folder.expectSealed(1)
  }

  @Test func `a log that grows before its seal is sent whole`() async throws {
    let folder = try await endedUnsent()
    try folder.append(20..<25, to: "app.log.1")
    try folder.tickWithoutStore()
    try folder.rename("app.log.1", to: "app.log.2")
    for _ in 0..<3 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<25)])
    try await folder.expectSealed(1)
  }

  @Test func `bytes sent beyond the last observed length are sealed`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try folder.tickWithoutStore()
    try folder.append(10..<20, to: "app.log")
    try await folder.site.upload()
    try folder.remove("app.log")
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    try await folder.expectSealed(1)
  }

  @Test func `bytes sent beyond the manifest's offset are sealed`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try FileManager.default.removeItem(atPath: folder.site.local.home.cachePath)
    try folder.remove("app.log")
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<10)])
    try await folder.expectSealed(1)
  }

  /// The file's time may be that of another machine, or this one's clock may have been ahead.
  @Test(arguments: [false, true])
  func `a file of a future time ends its session`(isClockAhead: Bool) async throws {
    let folder = try AttachedFolder("app.log", idleEnd: 86_400)
    try folder.append(0..<10, to: "app.log")
    try folder.modified("app.log", ago: -30 * 86_400)
    let clock = folder.site.local.clock
    if isClockAhead { clock.advance(seconds: 31 * 86_400) }
    try await folder.tick()
    if isClockAhead { clock.advance(seconds: -31 * 86_400) }
    try await folder.tick(after: 60)
    try await folder.expectSealed(0)
    try await folder.tick(after: 2 * 86_400)
    try await folder.expectSealed(1)
  }

  @Test func `a truncated continuation does not hide later sessions`() async throws {
    let folder = try AttachedFolder("app.log", idleEnd: 86_400)
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try await folder.tick(after: 2 * 86_400)
    try folder.append(10..<20, to: "app.log")
    try await folder.tick(after: 7200)
    try folder.truncate("app.log")
    try folder.append(100..<105, to: "app.log")
    try await folder.tick(after: 7200)
    try await folder.tick(after: 2 * 86_400)
    try folder.append(105..<110, to: "app.log")
    try await folder.tick(after: 7200)
    let expected = [0..<10, 10..<20, 100..<105, 105..<110].map { Array($0) }
    #expect(try await folder.remoteLines() == expected)
  }

  @Test func `the tail of a file renamed out of the pattern is sent`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try folder.rename("app.log", to: "app.log.1")
    try await folder.tick()
    try folder.append(10..<20, to: "app.log.1")
    for _ in 0..<3 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    try await folder.expectSealed(1)
  }

  @Test func `bytes after a deletion belong to a new session`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    try await folder.delete(session)
    try folder.append(10..<20, to: "app.log")
    try folder.rename("app.log", to: "app.log.1")
    for _ in 0..<3 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<20)])
    #expect(try AttachedFiles(folder.site.local.home).pass().since > .epoch)
  }

  @Test func `idle bytes after a deletion are sent once`() async throws {
    let folder = try AttachedFolder("app.log", idleEnd: 86_400)
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try await folder.delete(#require(try folder.sidecars().first?.sessionId))
    try folder.append(10..<20, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 2 * 86_400) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<20)])
  }

  /// The previous pass sealed it, and died before settling it.
  @Test func `a session sealed by a pass that died is settled by the next`() async throws {
    let folder = try AttachedFolder("app.log", idleEnd: 86_400)
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try await folder.tick(after: 2 * 86_400)
    let session = try #require(try folder.sidecars().first?.sessionId)
    try folder.site.local.home.mark(session)
    try folder.append(10..<20, to: "app.log")
    try await folder.tick(after: 7200)
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<20)])
    #expect(try !folder.site.local.home.openSessions().contains(session))
  }

  @Test func `a pass between copy and truncation loses and repeats no lines`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try folder.append(10..<20, to: "app.log")
    try folder.copy("app.log", to: "app.log.1")
    try await folder.tick()
    try folder.truncate("app.log")
    try folder.append(100..<110, to: "app.log")
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<20), Array(100..<110)])
    #expect(try await folder.gaps().isEmpty)
  }

  /// As left by logrotate's `copy`.
  @Test func `a copy of a growing log is not sent again`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try folder.copy("app.log", to: "app.log.1")
    try folder.append(10..<20, to: "app.log")
    try await folder.tick()
    for _ in 0..<2 { try await folder.tick(after: 61) }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
  }

  @Test func `the cache of attached files is rebuilt after a boot`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    let files = try AttachedFiles(folder.site.local.home)
    var pass = try files.pass()
    pass.boot = "another"
    try files.save(pass)
    for session in try folder.sidecars().map(\.sessionId) { try files.remove(session) }
    try folder.append(10..<20, to: "app.log")
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<20)])
  }

  /// A line with a secret.
  private static let secret = "token ghp_0123456789abcdefghijABCDEFGHIJ012345 end\n"

  @Test(arguments: [false, true])
  func `an attached file with secrets stays one session`(isRebooted: Bool) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try folder.append(Self.secret, to: "app.log")
    try await folder.tick()
    try FileManager.default.removeItem(
      atPath: folder.site.local.home.cachePath + "/attached.sqlite")
    if isRebooted {
      try FileManager.default.removeItem(
        atPath: folder.site.local.home.cachePath + "/manifest.sqlite")
    }
    try folder.append(10..<20, to: "app.log")
    try await folder.tick()
    try folder.append(Self.secret, to: "app.log")
    try await folder.tick()
    #expect(try folder.sidecars().count == 1)
    #expect(try folder.sidecars().first?.generation == nil)
    let session = try #require(try folder.sidecars().first).sessionId
    let raw = try Data(contentsOf: URL(filePath: folder.file("app.log")))
    let remote = try await folder.site.remoteBytes(session)
    #expect(remote == Redactor.standard.redacted(Array(raw)))
    #expect(remote != Array(raw))
  }

  /// These bytes might begin a secret.
  @Test(arguments: ["e", "key g", "-"])
  func `the held last bytes of an idle file are sent after a minute`(end: String) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try folder.append(end, to: "app.log")
    let content = try String(contentsOfFile: folder.file("app.log"), encoding: .utf8)
    try await folder.tick()
    #expect(try await folder.onlyRemote() == String(content.dropLast(end.count)))
    try await folder.tick(after: 61)
    #expect(try await folder.onlyRemote() == content)
    #expect(try folder.site.local.home.openSessions().isEmpty)
    _ = folder.site.store.takeRequests()
    try await folder.tick(after: 61)
    #expect(folder.site.store.takeRequests() == [])
  }

  @Test func `bytes that complete a secret later are masked`() async throws {
    let folder = try AttachedFolder("app.log", idleEnd: 86_400)
    try folder.append("token g", to: "app.log")
    try await folder.tick(after: 7200)
    #expect(try await folder.onlyRemote() == "token g")
    try folder.append("hp_0123456789abcdefghijABCDEFGHIJ012345 end\nnext\n", to: "app.log")
    try await folder.tick(after: 7200)
    let remote = try await folder.onlyRemote()
    #expect(remote.hasPrefix("token g") && remote.hasSuffix(" end\nnext\n"))
    #expect(!remote.contains("0123") && remote.utf8.count == 56)
    try await folder.tick(after: 2 * 86_400)
    try await folder.expectSealed(1)
    #expect(try await folder.onlyRemote() == remote)
    #expect(try folder.sidecars().map(\.generation) == [nil])
    let session = try #require(try folder.sidecars().first?.sessionId)
    let finding = try await Verifier(folder.site.context()).verify(folder.site.remote(session))
    #expect(finding.problem == nil && finding.comparedLocally)
  }
}
