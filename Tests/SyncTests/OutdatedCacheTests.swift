import Foundation
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A cache of attached files that was put back to a former state while the home was not.
@Suite(.shiftedTime, .tags(.medium)) struct OutdatedCacheTests {
  @Test(arguments: ["true", "mv app.log app.log.1", "gzip app.log && mv app.log.gz app.log.1.gz"])
  func `lines that follow a sealed session are sent`(rotate: String) async throws {
    let folder = try AttachedFolder("*.log*", idleEnd: 3600)
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    let cache = folder.site.local.home.cachePath
    let saved = folder.site.local.folder + "/saved"
    try FileManager.default.createDirectory(atPath: saved, withIntermediateDirectories: true)
    let names = try FileManager.default.contentsOfDirectory(atPath: cache)
      .filter { $0.hasPrefix("attached") }
    for name in names {
      try FileManager.default.copyItem(atPath: "\(cache)/\(name)", toPath: "\(saved)/\(name)")
    }
    try folder.append(10..<20, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.site.remote(folder.sidecars()[0].sessionId).seal != nil)
    try folder.loseCache()
    for name in names {
      try FileManager.default.copyItem(atPath: "\(saved)/\(name)", toPath: "\(cache)/\(name)")
    }
    try folder.append(20..<30, to: "app.log")
    #expect(try await folder.run(rotate) == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<20), Array(20..<30)])
    #expect(try await folder.gaps() == [])
  }
}
