import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// Files whose already sent bytes change.
@Suite(.shiftedTime, .tags(.medium)) struct RewrittenFileTests {
  /// A log of unique lines, enough for some hundred blocks.
  private static func lines(_ numbers: Range<Int>) -> String {
    numbers.map { number in
      let noise = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
      return "line \(number) \(String(noise, radix: 36)) \(String(noise.byteSwapped, radix: 36))\n"
    }.joined()
  }

  private let folder: AttachedFolder

  init() throws {
    folder = try AttachedFolder("app.log")
    try folder.append(Self.lines(0..<20_000), to: "app.log")
  }

  private func content() throws -> String {
    try String(contentsOfFile: folder.file("app.log"), encoding: .utf8)
  }

  private func write(_ text: String, how: String) throws {
    switch how {
    case "in place":
      let handle = try FileHandle(forWritingTo: URL(filePath: folder.file("app.log")))
      try handle.write(contentsOf: Data(text.utf8))
      try handle.truncate(atOffset: UInt64(text.utf8.count))
      try handle.close()
    default:
      try text.write(toFile: folder.file("new"), atomically: false, encoding: .utf8)
      try folder.rename("new", to: "app.log")
    }
  }

  private func stored(_ requests: [String]) -> [String] { requests.filter { $0.hasPrefix("PUT") } }

  /// Bytes of the objects of a generation.
  private func bytes(of generation: Int) async throws -> ByteCount {
    let session = try #require(try folder.sidecars().first?.sessionId)
    return try await folder.site.remote(session).segments(of: generation)
      .reduce(0) { $0 + $1.stored }
  }

  static let edits = ["head pruned", "head pruned and grown", "lines masked", "line inserted"]

  private func edit(_ text: String, _ edit: String) -> String {
    switch edit {
    case "head pruned": String(text.dropFirst(text.utf8.count / 3))
    case "head pruned and grown":
      String(text.dropFirst(text.utf8.count / 3)) + Self.lines(20_000..<20_100)
    case "lines masked":
      text.replacingOccurrences(of: "line 777", with: "**** 777")
    default: text.replacingOccurrences(of: "line 10000 ", with: "first\nline 10000 ")
    }
  }

  @Test(arguments: edits, ["in place", "renamed over"])
  func `a rewritten file is sent as a delta`(edit: String, how: String) async throws {
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    let first = try await bytes(of: 1)
    _ = folder.site.store.takeRequests()
    try write(self.edit(try content(), edit), how: how)
    try await folder.tick()
    let requests = folder.site.store.takeRequests()
    #expect(requests.allSatisfy { $0.hasPrefix("PUT") } && requests.count <= 3, "\(requests)")
    #expect(try await folder.onlyRemote() == content())
    #expect(try await bytes(of: 2) * 10 < first)

    // It grows, and is pruned again: there are no copies of copies.
    try folder.append(Self.lines(30_000..<30_500), to: "app.log")
    try await folder.tick()
    #expect(try await folder.onlyRemote() == content())
    try write(String(try content().dropFirst(100_000)), how: how)
    try await folder.tick()
    #expect(try await folder.site.remote(session).generation == 3)
    #expect(try await folder.onlyRemote() == content())
    #expect(try await bytes(of: 3) * 10 < first)

    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
    #expect(try await folder.onlyRemote() == content())
    let remote = try await folder.site.remote(session)
    #expect(remote.revisions.count == 1)
    let cached = try FileManager.default.contentsOfDirectory(
      atPath: folder.site.local.home.cachePath)
    #expect(!cached.contains { $0.hasSuffix(".sig") })
    #expect(try await Verifier(folder.site.context()).verify(remote).problem == nil)
  }

  @Test func `a mirror follows a rewritten file`() async throws {
    let store = folder.site.store
    let mirror = folder.site.local.folder + "/mirror"
    let device = folder.site.local.device.deviceId
    func pull() async throws -> ByteCount {
      let puller = Puller(store, into: mirror, knowing: nil)
      let items = try await puller.plan(devices: [device])
      #expect(await puller.execute(items, atOnce: 1).isEmpty)
      let remote = try #require(try await puller.plan(devices: [device]).isEmpty ? items : [])
      let session = try #require(try folder.sidecars().first?.sessionId)
      let log = "\(mirror)/\(device)/\(session.day)/\(session).log"
      #expect(try String(contentsOfFile: log, encoding: .utf8) == content())
      return remote.reduce(0) { $0 + $1.missing }
    }
    try await folder.tick()
    #expect(try await pull() == ByteCount(content().utf8.count))
    // A longer one does not continue at the end of the mirror's log.
    let text = try content().replacingOccurrences(of: "line 77", with: "masked 77")
    try write(text, how: "in place")
    try await folder.tick()
    #expect(try await pull() == ByteCount(text.utf8.count))
    try folder.append(Self.lines(30_000..<30_010), to: "app.log")
    try await folder.tick()
    #expect(try await pull() == ByteCount(Self.lines(30_000..<30_010).utf8.count))
  }

  @Test func `a mirror keeps bytes that a shorter generation lacks`() async throws {
    let mirror = Mirror(of: folder.site)
    try await folder.tick()
    #expect(try await mirror.pull().isEmpty)
    let session = try #require(try folder.sidecars().first?.sessionId)
    let before = try mirror.log(session)

    try write(String(try content().dropFirst(500_000)), how: "in place")
    try await folder.tick()
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == Array(content().utf8))
    #expect(try mirror.file("\(session).g1.log") == before)

    // Sealed, it is the log; the mirror loses nothing.
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.log(session) == Array(content().utf8))
    #expect(try mirror.file("\(session).g1.log") == before)
    #expect(try mirror.names(of: session).count == 3)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.names(of: session).count == 3)
  }

  @Test func `a rewrite hidden by growth is found at the seal`() async throws {
    try await folder.tick()
    try write(edit(try content(), "lines masked") + Self.lines(20_000..<20_010), how: "in place")
    try await folder.tick()
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
    #expect(try await folder.onlyRemote() == content())
  }

  @Test(arguments: [false, true])
  func `a rewrite that was noticed, but neither sent nor remembered, ends with what was sent`(
    isRemoved: Bool
  ) async throws {
    try await folder.tick()
    let sent = try content()
    try write(edit(sent, "head pruned"), how: "in place")
    try folder.tickWithoutStore()
    #expect(try folder.sidecars().map(\.generation) == [2])
    try FileManager.default.removeItem(atPath: folder.site.local.home.cachePath)
    try folder.truncate("app.log")
    if isRemoved { try folder.remove("app.log") }
    for _ in 1...3 { try await folder.tick(after: 3_700) }
    let session = try #require(try folder.sidecars().first?.sessionId)
    let remote = try await folder.site.remote(session)
    #expect(remote.seal != nil && remote.generation == 1)
    let text = try await folder.remote(session)
    #expect(text.hasPrefix(sent) && text.dropFirst(sent.count).contains("[GAP ? bytes: "))
  }

  @Test(arguments: [false, true])
  func `without a signature, a rewritten file is sent whole`(isPruned: Bool) async throws {
    try await folder.tick()
    for name in try FileManager.default.contentsOfDirectory(
      atPath: folder.site.local.home.cachePath) where name.hasSuffix(".sig")
    {
      try FileManager.default.removeItem(atPath: "\(folder.site.local.home.cachePath)/\(name)")
    }
    try write(edit(try content(), isPruned ? "head pruned" : "lines masked"), how: "in place")
    try await folder.tick()
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    var remotes: [String] = []
    for sidecar in try folder.sidecars() {
      remotes.append(try await folder.remote(sidecar.sessionId))
    }
    // A file that appears to be another one ends the session before.
    #expect(try remotes.count == 2 && remotes.contains(content()))
    #expect(try await folder.gaps().count == 1)
  }

  @Test(arguments: 1...4)
  func `a rewrite interrupted by failures is completed by later passes`(request: Int) async throws {
    try await folder.tick()
    try write(edit(try content(), "head pruned and grown"), how: "renamed over")
    folder.site.store.plan(.failAfter, on: "PUT", times: 1)
    for _ in 1..<request { folder.site.store.plan(.failBefore(.transient), on: "PUT") }
    for _ in 0..<6 { try await folder.tick(after: 60, isDisturbed: true) }
    #expect(folder.site.store.unexercised.isEmpty)
    #expect(try await folder.onlyRemote() == content())
  }

  @Test func `a rewrite that changes again starts a new generation`() async throws {
    try await folder.tick()
    try write(edit(try content(), "head pruned"), how: "in place")
    folder.site.store.plan(.die, on: "PUT", keyContaining: ".json")
    await #expect(throws: (any Error).self) { try await folder.tick() }
    #expect(folder.site.store.unexercised.isEmpty)
    folder.site.store.revive()
    try write(String(try content().dropFirst(50_000)), how: "in place")
    try await folder.tick()
    #expect(try await folder.onlyRemote() == content())
    let session = try #require(try folder.sidecars().first?.sessionId)
    #expect(try await folder.site.remote(session).generation == 3)
  }

  @Test
  func `if a rewritten file is removed before upload, the old generation stays`() async throws {
    try await folder.tick()
    let before = try content()
    try write(edit(before, "head pruned"), how: "renamed over")
    try folder.tickWithoutStore()
    try folder.remove("app.log")
    try await folder.tick(isDisturbed: true)
    try await folder.tick()
    #expect(try await folder.onlyRemote().hasPrefix(before))
    #expect(try await folder.gaps().count == 1)
  }

  @Test func `a truncated file of identical lines is another session`() async throws {
    let folder = try AttachedFolder("same.log")
    try folder.append(String(repeating: "tick\n", count: 100_000), to: "same.log")
    try await folder.tick()
    try folder.truncate("same.log")
    try folder.append(String(repeating: "tick\n", count: 60_000), to: "same.log")
    try await folder.tick()
    #expect(try folder.sidecars().count == 2)
    #expect(try await folder.gaps().count == 1)
  }

  @Test func `a touched or rewritten but unchanged file is not sent again`() async throws {
    try await folder.tick()
    _ = folder.site.store.takeRequests()
    try folder.modified("app.log", ago: 5)
    try await folder.tick(after: 60)
    try write(try content(), how: "renamed over")
    try await folder.tick(after: 60)
    #expect(folder.site.store.takeRequests() == [])
    #expect(try await folder.onlyRemote() == content())
  }

  @Test func `a damaged delta is replaced before the seal`() async throws {
    try await folder.tick()
    try write(edit(try content(), "lines masked"), how: "renamed over")
    folder.site.store.plan(.flip, on: "PUT", keyContaining: ".delta.")
    try await folder.tick()
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
    #expect(try await folder.onlyRemote() == content())
    #expect(folder.site.store.unexercised.isEmpty)
  }
}
