import Foundation
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

#if canImport(Glibc)
  import Glibc
#endif

/// Copies that other users make of logs they may read: what they add is theirs.
@Suite(
  .shiftedTime, .tags(.medium),
  .enabled(if: getuid() == 0, "only root can give a file away"))
struct ForeignCopyTests {
  private static let (owner, other): (uid_t, uid_t) = (33, 65_534)
  private let folder: AttachedFolder
  private let session: SessionID
  private let source: Sidecar.Source?

  /// A log of one user, longer than the bytes compared at its beginning, in the store.
  init() async throws {
    folder = try AttachedFolder("app*")
    try folder.append(String(repeating: "a line of the log\n", count: 400), to: "app.log")
    try #require(chown(folder.file("app.log"), Self.owner, Self.owner) == 0)
    try await folder.tick()
    try await folder.tick(after: 7200)
    let sidecar = try #require(try folder.sidecars().first)
    (session, source) = (sidecar.sessionId, sidecar.source)
  }

  private func give(_ name: String, to user: uid_t) throws {
    try #require(chown(folder.file(name), user, user) == 0)
  }

  /// Copies the log and adds a line.
  private func copy(to name: String, by user: uid_t) throws {
    try folder.copy("app.log", to: name)
    try folder.append("FORGED\n", to: name)
    try give(name, to: user)
  }

  /// The sessions whose remote streams have the added line.
  private func forged() async throws -> [SessionID] {
    var found: [SessionID] = []
    for sidecar in try folder.sidecars()
    where try await folder.remote(sidecar.sessionId).contains("FORGED") {
      found.append(sidecar.sessionId)
    }
    return found
  }

  private func expectForgedApart() async throws {
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    let found = try await forged()
    #expect(found.count == 1 && found != [session])
  }

  @Test(arguments: ["app.copy", "app.log.1"], [false, true])
  func `a copy of another user is a log of its own once the original is removed`(
    name: String, losesCache: Bool
  ) async throws {
    try copy(to: name, by: Self.other)
    if losesCache { try folder.loseCache() }
    try folder.remove("app.log")
    try await expectForgedApart()
  }

  @Test func `a copy of another user is a log of its own once the original is compressed`()
    async throws
  {
    try copy(to: "app.log.1", by: Self.other)
    #expect(try await folder.run("gzip app.log") == 0)
    try give("app.log.gz", to: Self.owner)
    try await expectForgedApart()
  }

  @Test(arguments: [owner, 0])
  func `a copy of its owner or root continues a log that is removed`(user: uid_t) async throws {
    try copy(to: "app.log.1", by: user)
    try folder.remove("app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try folder.sidecars().count == 1)
    #expect(try await forged().count == 1)
  }

  /// The number of a removed file is used again.
  @Test func `a copy of another user at the same path is a log of its own`() async throws {
    let inode = try #require(source?.inode)
    try copy(to: "copy", by: Self.other)
    let bytes = try Data(contentsOf: URL(filePath: folder.file("copy")))
    // What a new file with that number would be.
    let handle = try FileHandle(forWritingTo: URL(filePath: folder.file("app.log")))
    try handle.write(contentsOf: bytes)
    try handle.close()
    try give("app.log", to: Self.other)
    try folder.remove("copy")
    #expect(try FileStatus(folder.file("app.log"))?.inode == inode)
    try await expectForgedApart()
  }

  @Test func `a rewritten log of another user is a log of its own`() async throws {
    try folder.append(String(repeating: "a line of the log\n", count: 8000), to: "app.log")
    try await folder.tick(after: 7200)
    try copy(to: "new", by: Self.other)
    #expect(try await folder.run("sed -i 1d new") == 0)
    try give("new", to: Self.other)
    try folder.rename("new", to: "app.log")
    try await expectForgedApart()
  }

  @Test func `a log whose owner changes goes on in a session of its own`() async throws {
    #expect(source?.owner == Self.owner)
    try give("app.log", to: Self.other)
    try folder.append("more\n", to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    let sidecars = try folder.sidecars()
    #expect(sidecars.count == 2)
    var text = try await folder.remote(session)
    for sidecar in sidecars where sidecar.sessionId != session {
      text += try await folder.remote(sidecar.sessionId)
    }
    // Whether it is the same file, and what it held before, is not known.
    #expect(try await folder.gaps().count == 1)
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("[GAP") }
    #expect(lines == Array(repeating: "a line of the log", count: 400) + ["more"])
  }
}
