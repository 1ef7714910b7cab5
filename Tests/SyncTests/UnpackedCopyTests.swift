import Foundation
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// The home's copies of compressed logs, whose files are still there.
@Suite(.shiftedTime, .tags(.medium)) struct UnpackedCopyTests {
  private let folder: AttachedFolder
  private let session: SessionID
  private var log: String { folder.site.local.home.files(for: session).log }

  /// A compressed log that is sealed.
  init() async throws {
    folder = try AttachedFolder("app.log*")
    try folder.append(0..<100, to: "app.log.1")
    #expect(try await folder.run("gzip app.log.1") == 0)
    try await folder.tick()
    try await folder.expectSealed(1)
    session = try #require(try folder.sidecars().first?.sessionId)
    #expect(File.exists(log))
  }

  private func expectKnown() async throws {
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try folder.sidecars().map(\.sessionId) == [session])
    #expect(try await folder.remoteLines() == [Array(0..<100)])
  }

  @Test(arguments: [false, true])
  func `a copy is deleted when it is old enough, and its file stays known`(
    losesCache: Bool
  ) async throws {
    folder.site.local.clock.advance(seconds: 8 * 86_400)
    try await folder.site.reap()
    #expect(!File.exists(log))
    if losesCache { try folder.loseCache() }
    try await expectKnown()
    try folder.rename("app.log.1.gz", to: "app.log.2.gz")
    try await expectKnown()
    #expect(try await LocalReaper(folder.site.context()).plan(Retention()).isEmpty)
    #expect(!File.exists(log))
  }

  @Test func `what is appended after the copy and the cache are gone is sent alone`() async throws {
    folder.site.local.clock.advance(seconds: 8 * 86_400)
    try await folder.site.reap()
    #expect(!File.exists(log))
    try folder.loseCache()
    try folder.append(100..<120, to: "more")
    #expect(try await folder.run("gzip <more >>app.log.1.gz; rm more") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<100), Array(100..<120)])
  }

  @Test func `copies make room where the home is limited`() async throws {
    var retention = Retention()
    retention.localMax = 1000
    folder.site.local.clock.advance(seconds: 2 * 86_400)
    try await folder.site.reap(retention)
    #expect(!File.exists(log))
    try await expectKnown()
  }

  @Test func `a copy that is not proven stays`() async throws {
    let remote = try await folder.site.remote(session)
    _ = try await folder.site.store.delete(remote.keys)
    folder.site.local.clock.advance(seconds: 8 * 86_400)
    try await folder.site.reap()
    #expect(File.exists(log))
  }

  @Test func `what the store has lost is sent again from the file`() async throws {
    folder.site.local.clock.advance(seconds: 8 * 86_400)
    try await folder.site.reap()
    #expect(!File.exists(log))
    let remote = try await folder.site.remote(session)
    _ = try await folder.site.store.delete(
      remote.segments.map { remote.folder.key + $0.fileName })
    let left = try await folder.site.remote(session)
    #expect(try await Verifier(folder.site.context()).reopen(session, having: left))
    try await expectKnown()
  }

  @Test func `the session goes with its file`() async throws {
    folder.site.local.clock.advance(seconds: 8 * 86_400)
    try await folder.site.reap()
    try folder.remove("app.log.1.gz")
    try await folder.tick(after: 7200)
    try await folder.site.reap()
    #expect(try folder.sidecars().isEmpty)
    #expect(try await folder.site.remote(session).seal != nil)
  }
}
