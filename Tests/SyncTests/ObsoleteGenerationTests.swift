import Foundation
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// What a redaction replaced is deleted whatever happens in between.
@Suite(.tags(.medium)) struct ObsoleteGenerationTests {
  private let site: Site
  private let writer: SessionWriter

  /// A sealed session that was redacted, and is sealed again.
  init() async throws {
    var site = try Site()
    writer = try site.local.writer()
    for line in ["one", "two"] {
      writer.print(line)
      try await site.upload()
    }
    try writer.end(.exit(0))
    try await site.upload()
    site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "word", near: "two", pattern: "two")])
    let redaction = try RemoteRedaction(site.context())
    try redaction.begin(#require(try await redaction.plan(writer.session)))
    try await site.upload()
    self.site = site
  }

  /// Former objects that the seal does not copy from.
  private func obsolete() async throws -> [SegmentName] {
    let basis = try Sidecar.load(writer.files.sidecar).basis ?? []
    return try await site.remote(writer.session).segments(of: 1).filter {
      !basis.contains($0.fileName)
    }
  }

  private func expectDeleted() async throws {
    #expect(try await obsolete().isEmpty)
    #expect(try await site.remote(writer.session).isWhole)
    // Done once, it costs nothing again.
    #expect(try Uploader(site.context()).plan(.due).isIdle)
  }

  @Test func `the cache is lost`() async throws {
    #expect(try await !obsolete().isEmpty)
    try FileManager.default.removeItem(atPath: site.local.home.cachePath)
    try site.local.home.create()
    do {
      let lock = try #require(try HomeLock.acquire(site.local.home))
      OpenSessionReview(try site.context()).runIfDue(holding: lock)
    }
    try await site.upload()
    try await expectDeleted()
  }

  @Test(arguments: ["seal", "segment"])
  func `the store loses what is new`(what: String) async throws {
    #expect(try await !obsolete().isEmpty)
    let remote = try await site.remote(writer.session)
    let name = what == "seal" ? remote.seal?.fileName : remote.segments(of: 2).first?.fileName
    _ = try await site.store.delete([remote.folder.key + #require(name)])
    let left = try await site.remote(writer.session)
    #expect(try await Verifier(site.context()).reopen(writer.session, having: left))
    for _ in 0..<2 { #expect(try await site.upload().failures.isEmpty) }
    try await expectDeleted()
  }

  /// As a person who asks for the redaction again.
  private func recall() throws {
    let lock = try #require(try HomeLock.acquire(site.local.home))
    try RemoteRedaction(site.context()).recallReplaced(writer.session, holding: lock)
  }

  @Test func `it comes back from a backup`() async throws {
    let names = try await obsolete()
    let folder = try await site.remote(writer.session).folder
    var objects: [String: [UInt8]] = [:]
    for name in names {
      objects[folder.key + name.fileName] = try await site.store.get(folder.key + name.fileName)
    }
    try await site.upload()
    let redaction = try RemoteRedaction(site.context())
    #expect(try await redaction.replaced(writer.session) == 0)
    for (key, bytes) in objects { _ = try await site.store.put(key, bytes) }
    #expect(try await redaction.replaced(writer.session) == names.count && !names.isEmpty)
    try recall()
    try await site.upload()
    try await expectDeleted()
  }

  @Test func `what could not be deleted is tried again as soon as a person asks`() async throws {
    for _ in 0..<2 {
      site.store.plan(.failBefore(.authentication), on: "DELETE")
      let report = try await site.upload()
      #expect(report.supersededLeft.keys.contains(writer.session))
      #expect(site.store.unexercised.isEmpty)
      try recall()
    }
    #expect(try await site.upload().supersededLeft.isEmpty)
    try await expectDeleted()
  }

  @Test func `a listing without the seal does not make it stay`() async throws {
    #expect(try await !obsolete().isEmpty)
    site.store.hide(".g2.")
    #expect(try await site.upload().supersededLeft.keys.contains(writer.session))
    #expect(try await !obsolete().isEmpty)
    site.store.hide(nil)
    site.local.clock.advance(seconds: 6 * 3_600)
    try await site.upload()
    try await expectDeleted()
  }
}
