import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// The store's copy of a session that is still open, of which somebody deletes an object.
@Suite(.tags(.medium)) struct OpenCopyTests {
  @Test(arguments: [0, 1, 2])
  func `an open session that lost an object in the store is not whole, and is sent again`(
    lost index: Int
  ) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for round in 0..<3 {
      for line in 0..<20 { writer.print("\(round) line \(line)") }
      try await site.upload()
    }
    func finding() async throws -> Verifier.Finding {
      try await Verifier(site.context()).verify(site.remote(writer.session))
    }
    #expect(try await finding().problem == nil)
    let remote = try await site.remote(writer.session)
    let lost = remote.segments.sorted { $0.range.lowerBound < $1.range.lowerBound }[index]
    _ = try await site.store.delete([remote.folder.key + lost.fileName])
    let problem = try #require(try await finding().problem)
    #expect(problem.contains("\(lost.range.lowerBound) to \(lost.range.upperBound)"), "\(problem)")

    let lock = try #require(try HomeLock.acquire(site.local.home))
    let found = try await site.remote(writer.session)
    #expect(try await Verifier(site.context()).reopen(writer.session, having: found, holding: lock))
    _ = try await Uploader(site.context()).execute(
      Uploader(site.context()).plan(.all), holding: lock)
    #expect(try await finding().problem == nil)
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }

  @Test func `an open session that lost its sidecar in the store is named, and gets another`()
    async throws
  {
    let site = try Site()
    let writer = try site.local.writer()
    for line in 0..<20 { writer.print("line \(line)") }
    try await site.upload()
    func finding() async throws -> Verifier.Finding {
      try await Verifier(site.context()).verify(site.remote(writer.session))
    }
    #expect(try await finding().problem == nil)
    let remote = try await site.remote(writer.session)
    let names = remote.revisions.map { remote.folder.key + $0.fileName }
    try #require(!names.isEmpty)
    _ = try await site.store.delete(names)
    #expect(try await finding().problem?.contains("its sidecar") == true)

    let found = try await site.remote(writer.session)
    #expect(try Verifier(site.context()).obstacle(to: found) == nil)
    // The local sidecar is its recorder's, which may end the session meanwhile.
    let sidecar = "\(writer.session).json"
    let files = TestFiles { effect in effect.path.contains(sidecar) ? EPERM : nil }
    let isReopened = try await FileEffect.$hook.withValue(files) {
      try await Verifier(site.context()).reopen(writer.session, having: found)
    }
    #expect(isReopened)
    try await site.upload(.all)
    #expect(try await !site.remote(writer.session).revisions.isEmpty)
    #expect(try await finding().problem == nil)
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }

  @Test(.shiftedTime) func `a revision states how much of a rewritten file there was`() async throws
  {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<5000, to: "app.log")
    for _ in 0..<4 { try await folder.tick() }
    let former = try String(contentsOfFile: folder.file("app.log"), encoding: .utf8)
    let text = former.replacingOccurrences(of: "line 2500 ", with: "other\nline 2500 ")
    try text.write(toFile: folder.file("new"), atomically: false, encoding: .utf8)
    try folder.rename("new", to: "app.log")
    try await folder.tick()
    let session = try #require(folder.sidecars().first).sessionId
    let remote = try await folder.site.remote(session)
    try #require(remote.generation == 2 && remote.revision?.length == remote.end)
    let objects = remote.segments(of: 2).map { remote.folder.key + $0.fileName }
    _ = try await folder.site.store.delete(objects)
    let left = try await folder.site.remote(session)
    #expect(left.mark == 0)
    #expect(try await Verifier(folder.site.context()).verify(left).problem != nil)
  }
}
