import Foundation
import GRDB
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Changes of consent that no upload could tell the store, and those of attached logs.
@Suite(.shiftedTime, .tags(.medium)) struct FoundConsentTests {
  @Test(arguments: [false, true])
  func `an attached file that does not grow is sent once the consent allows it`(
    isUpgraded: Bool
  ) async throws {
    var folder = try AttachedFolder("*.log")
    folder.site.consent = .metadata
    try folder.append(0..<20, to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 60) }
    if isUpgraded {
      // What earlier versions wrote.
      let cache = folder.site.local.home.cachePath + "/attached.sqlite"
      try await DatabaseQueue(path: cache).write { database in
        try database.execute(
          sql: """
            DROP TABLE consent; DROP TABLE doubt;
            UPDATE pass SET sources = 'metadata ' || sources
            """)
      }
    }
    folder.site.consent = .logs
    try await folder.tick(after: 60)
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    _ = folder.site.store.takeRequests()
    try await folder.tick(after: 60)
    #expect(folder.site.store.takeRequests() == [])
  }

  @Test func `a file that ends before its turn is sent if an upload found its log allowed`()
    async throws
  {
    var folder = try AttachedFolder("*.log")
    folder.site.consent = .metadata
    try folder.append(0..<20, to: "app.log")
    try await folder.tick()
    folder.site.consent = .logs
    try folder.append(20..<30, to: "app.log")
    let session = try #require(try folder.sidecars().first?.sessionId)
    folder.site.store.plan(
      .failBefore(.unreachable), on: "PUT", keyContaining: "\(session)", times: 9)
    _ = try? await folder.tick(after: 60)
    #expect(try await folder.site.remote(session).segments.isEmpty)
    _ = folder.site.store.forgetPlans()
    for _ in 0..<2 { try await folder.tick(after: 90_000) }
    #expect(try await folder.remoteLines() == [Array(0..<30)])
  }

  @Test func `what a pass withheld without the store stays withheld`() async throws {
    var site = try Site()
    let writer = try site.local.writer()
    writer.print("sent")
    try await site.upload()
    site.consent = .metadata
    writer.print("withheld")
    site.store.plan(.failBefore(.unreachable), on: "PUT", keyContaining: "devices/", times: 99)
    for _ in 0..<2 {
      _ = try? await site.upload()
      site.local.clock.advance(seconds: 3600)
    }
    try writer.end(.exit(0))
    _ = site.store.forgetPlans()
    site.consent = .logs
    try await site.upload()
    let remote = try await site.remote(writer.session)
    #expect(remote.seal != nil)
    #expect(
      try await !String(decoding: site.remoteBytes(writer.session), as: UTF8.self)
        .contains("withheld"))
  }
}
