import Foundation
import Redaction
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A cache of attached files that was put back to a former state while the home was not.
@Suite(.shiftedTime, .tags(.medium)) struct OutdatedCacheTests {
  private let folder: AttachedFolder
  private let manager = FileManager.default

  init() throws { folder = try AttachedFolder("*.log*", idleEnd: 3600) }

  private var cache: String { folder.site.local.home.cachePath }
  private var saved: String { folder.site.local.folder + "/saved" }

  private func save() throws { try manager.copyItem(atPath: cache, toPath: saved) }

  /// - Parameter isWhole: whether the cache of sent objects is put back, too.
  private func putBack(isWhole: Bool = false) throws {
    for name in try manager.contentsOfDirectory(atPath: saved)
    where isWhole || name.hasPrefix("attached") {
      try? manager.removeItem(atPath: "\(cache)/\(name)")
      try manager.copyItem(atPath: "\(saved)/\(name)", toPath: "\(cache)/\(name)")
    }
  }

  @Test(arguments: ["true", "mv app.log app.log.1", "gzip app.log && mv app.log.gz app.log.1.gz"])
  func `lines that follow a sealed session are sent`(rotate: String) async throws {
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try save()
    try folder.append(10..<20, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.site.remote(folder.sidecars()[0].sessionId).seal != nil)
    try putBack()
    try folder.append(20..<30, to: "app.log")
    #expect(try await folder.run(rotate) == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<20), Array(20..<30)])
    #expect(try await folder.gaps() == [])
  }

  @Test(arguments: [false, true], ["true", "gzip app.log.1", "cp app.log app.log.2; : >app.log"])
  func `no line is sent twice after rotations that the cache does not know`(
    isWhole: Bool, rotate: String
  ) async throws {
    try folder.append("heading\n", to: "app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try save()
    try folder.rename("app.log", to: "app.log.1")
    try folder.append("heading\n", to: "app.log")
    try folder.append(10..<20, to: "app.log")
    try await folder.tick(after: 60)
    #expect(try await folder.run(rotate) == 0)
    try await folder.tick(after: 60)
    try putBack(isWhole: isWhole)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<20)])
    #expect(try await folder.gaps() == [])
  }

  @Test(arguments: [false, true])
  func `a cache that knows only a heading does not take a new log for the sent one`(
    isWhole: Bool
  ) async throws {
    let heading = String(repeating: "a heading of each log\n", count: 300)
    try folder.append(heading, to: "app.log")
    try await folder.tick()
    try save()
    try folder.append(0..<100, to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 60) }
    try putBack(isWhole: isWhole)
    try folder.append(100..<103, to: "app.log")
    try folder.rename("app.log", to: "app.log.1")
    try folder.append(heading, to: "app.log")
    try folder.append(103..<400, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<103), Array(103..<400)])
    #expect(try await folder.gaps() == [])
  }

  @Test func `a session that was continued and deleted since is not continued again`() async throws
  {
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try save()
    try folder.append(10..<20, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    try folder.append(20..<30, to: "app.log")
    try await folder.tick()
    try await folder.reap()
    #expect(try folder.sidecars().count == 1)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    try putBack()
    try folder.append(30..<40, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(
      try await folder.remoteLines() == [Array(0..<20), Array(20..<30), Array(30..<40)])
    #expect(try await folder.gaps() == [])
  }

  @Test(arguments: [false, true])
  func `a former stream that the cache does not know is kept`(isRedacted: Bool) async throws {
    var folder = folder
    func write(_ lines: [String]) throws {
      try lines.joined(separator: "\n").appending("\n").write(
        toFile: folder.file("app.log"), atomically: false, encoding: .utf8)
    }
    var lines = (0..<3000).map { "line \($0) \(UInt64($0) &* 0x9E37_79B9_7F4A_7C15)" }
    try write(Array(lines.prefix(1000)))
    try await folder.tick()
    try save()
    try write(lines)
    try await folder.tick()
    // As long as before, and not among the first bytes: that would be another log.
    let length = lines[1500].utf8.count
    lines[1500] = String("another run".padding(toLength: length, withPad: ".", startingAt: 0))
    try write(lines)
    for _ in 0..<2 { try await folder.tick() }
    let session = try #require(try folder.sidecars().first?.sessionId)
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1])
    try putBack(isWhole: true)
    if isRedacted {
      folder.site.redaction = RedactionRules(
        own: [try RedactionRule(kind: "run", near: "another", pattern: "another run")])
      let redaction = try RemoteRedaction(folder.site.context())
      let item = try #require(try await redaction.plan(session))
      #expect(item.former.isEmpty)
      try redaction.begin(item)
    }
    for _ in 0..<4 { try await folder.tick(after: 7200) }
    let sidecar = try #require(try folder.sidecars().first)
    #expect(sidecar.seal != nil && sidecar.former?.map(\.generation) == [1])
    let remote = try await folder.site.remote(session)
    #expect(remote.mark(of: 1) >= (sidecar.former?.first?.length ?? .max))
  }
}
