import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

@Suite(.shiftedTime, .tags(.medium)) struct PartPruningTests: RotatedSessions {
  /// Possible faults of a part's bytes, remote or local.
  enum Doubt: String, CaseIterable {
    case unsent, noSegment, halfASegment, flippedBit, otherHere, stillPlain, otherStore, sealGone,
      basisGone
  }

  @Test(arguments: Doubt.allCases)
  func `a part without proof in the store is not pruned`(_ doubt: Doubt) async throws {
    let site = try site()
    let writer: SessionWriter
    if doubt == .unsent {
      writer = try site.local.writer(rotateAt: Self.limit)
      try site.context().saveLivedTime()
      var random = SeededGenerator(case: 1)
      write(200, to: writer, &random)
      try await compressParts(of: writer)
    } else {
      writer = try await sent(site)
    }
    let remote = try await site.remote(writer.session)
    let key = remote.segments.first.map { remote.folder.key + $0.fileName } ?? ""
    let first = try #require(try writer.files.parts().first)
    switch doubt {
    case .unsent: break
    case .noSegment: _ = try await site.store.delete([key])
    case .halfASegment:
      let object = try await site.store.get(key)
      _ = try await site.store.put(key, Array(object.prefix(object.count / 2)))
    case .flippedBit:
      var object = try await site.store.get(key)
      object[10] ^= 1
      _ = try await site.store.put(key, object)
    case .otherHere:
      // The same length, other bytes, and a valid compressed file.
      let length = try writer.files.open(first).length
      try FileManager.default.removeItem(atPath: first.compressed)
      try Data(repeating: 0x62, count: Int(length)).write(to: URL(filePath: first.plain))
      try await compressParts(of: writer)
    case .stillPlain:
      let bytes = try writer.files.open(first).read(at: 0, count: 1 << 20)
      try Data(bytes).write(to: URL(filePath: first.plain))
    case .otherStore, .sealGone, .basisGone:
      try writer.end(.exit(0))
      try await site.upload()
      if doubt == .sealGone {
        let keys = try await site.remote(writer.session).keys
        _ = try await site.store.delete(keys.filter { $0.hasSuffix(".json") })
      } else {
        var sidecar = try Sidecar.load(writer.files.sidecar)
        if doubt == .otherStore { sidecar.seal?.store = "s3://elsewhere" }
        if doubt == .basisGone {
          sidecar.basis = [
            "\(writer.session).g1.000000000000-000000000009.0123456789abcdef.8.log.zst"
          ]
        }
        try sidecar.save(writer.files.sidecar)
      }
    }
    let parts = try writer.files.parts()
    site.local.clock.advance(seconds: 2 * 86_400)
    let plan = try await prune(site)
    #expect(plan.pruned.isEmpty && plan.kept.count == 1, "\(plan)")
    #expect(try writer.files.parts() == parts)
  }

  @Test func `pruned parts are recorded in the ledger with one sync`() async throws {
    let site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 86_400 + 60)
    var retention = Retention()
    retention.pruneAfter = .days(1)
    let pruner = PartPruner(try site.context())
    let plan = try await pruner.plan(retention)
    #expect(plan.pruned.count > 1)
    let files = TestFiles()
    let outcomes = try FileEffect.$hook.withValue(files) { try pruner.execute(plan) }
    #expect(outcomes.count == plan.pruned.count && outcomes.allSatisfy { $0.error == nil })
    let syncs = files.effects.count { $0.kind == .synchronize && $0.path.contains("/deletions/") }
    #expect(syncs == 1)
    let entries = try DeletionLedger(site.local.home).entries { $0 == writer.session }
    #expect(entries.map(\.what) == plan.pruned.map { "part \($0.part.start)" })
  }

  /// Of a running session's second generation, the first one's bytes no longer exist.
  @Test func `a part whose delta lost its basis is kept`() async throws {
    var site = try site()
    site.redaction = RedactionRules(groups: [])
    let writer = try site.local.writer(rotateAt: Self.limit)
    var random = SeededGenerator(case: 1, seed: 1)
    write(40, to: writer, &random)
    try await site.upload()
    Array("AKIAIOSFODNN7EXAMPLE\n".utf8).withUnsafeBytes {
      writer.capture($0, from: .standardOutput)
    }
    try await site.upload()
    write(60, to: writer, &random)
    try await site.upload()
    try await compressParts(of: writer)
    site.redaction = RedactionRules()
    let redaction = try RemoteRedaction(site.context())
    let item = try #require(try await redaction.plan(writer.session))
    do {
      let lock = try #require(try HomeLock.acquire(site.local.home))
      try redaction.begin(item, holding: lock)
    }
    try await site.upload()
    for part in try writer.files.parts() {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date], ofItemAtPath: part.compressed)
    }
    let remote = try await site.remote(writer.session)
    #expect(remote.generation == 2)
    let delta = try #require(remote.cover(upTo: remote.mark).first)
    #expect(delta.kind == .delta && delta.range.lowerBound == 0)
    let basis = try await RemoteReader(site.store, knowing: nil).basis(of: delta, in: remote)
    _ = try await site.store.delete(basis.map { remote.folder.key + $0.fileName })
    site.local.clock.advance(seconds: 2 * 86_400)
    let parts = try writer.files.parts()
    let plan = try await prune(site)
    #expect(plan.pruned.isEmpty && plan.kept.count == 1, "\(plan)")
    #expect(try writer.files.parts() == parts)
  }

  /// An object in a pruned range, which nothing here compares: someone else put it.
  @Test(arguments: [false, true])
  func `a foreign object in a pruned range is kept`(losesManifest: Bool) async throws {
    let site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 86_400 + 60)
    #expect(try await !prune(site).pruned.isEmpty)
    let remote = try await site.remote(writer.session)
    let large = try #require(remote.segments.first)
    let body: [UInt8] = [1, 2, 3]
    let foreign = SegmentName(
      session: writer.session, generation: 1, range: large.range.lowerBound..<9,
      hash: "0123456789abcdef", stored: 3)
    _ = try await site.store.put(remote.folder.key + foreign.fileName, body)
    if losesManifest {
      try FileManager.default.removeItem(atPath: site.local.home.cachePath + "/manifest.sqlite")
    } else {
      try site.context().manifest.distrustSessions()
    }
    var random = SeededGenerator(case: 2)
    write(10, to: writer, &random)
    try await site.upload()
    try writer.end(.exit(0))
    for _ in 0..<3 {
      site.local.clock.advance(seconds: 86_400)
      try await site.upload()
    }
    let left = try await site.remote(writer.session)
    #expect(left.seal != nil && left.segments.contains(foreign))
  }

  /// Without the header of a key the following bytes would be masked differently than they were
  /// sent.
  @Test func `a part is kept while a private key may reach beyond it`() async throws {
    var site = try site()
    site.redaction = RedactionRules()
    let writer = try site.local.writer(rotateAt: Self.limit)
    let sending = site
    func write(_ lines: [String]) async throws {
      for line in lines {
        Array("\(line)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      }
      try await compressParts(of: writer)
      try await sending.upload()
      sending.local.clock.advance(seconds: 2 * 86_400)
      for part in try writer.files.parts() {
        try FileManager.default.setAttributes(
          [.modificationDate: sending.local.clock.now().date.addingTimeInterval(-90_000)],
          ofItemAtPath: part.compressed)
      }
    }
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghABC="
    try await write(
      ["before", "-----BEGIN RSA PRIVATE KEY-----"] + Array(repeating: key, count: 99))
    #expect(try writer.files.parts().count > 2)
    let held = try await prune(site)
    #expect(held.pruned.isEmpty, "\(held)")

    // Sent by now, but not maskable without its header.
    try await write(Array(repeating: "of others", count: 5))
    let kept = try await prune(site)
    #expect(kept.pruned.isEmpty && kept.kept.contains { $0.reason.contains("private key") })

    try await write(
      Array(repeating: key, count: 9) + ["-----END RSA PRIVATE KEY-----"]
        + Array(repeating: String(repeating: "word ", count: 20), count: 1000))
    let raw = try site.local.log(writer.session)
    #expect(try await !prune(site).pruned.isEmpty)
    try await write(["after"])
    try writer.end(.exit(0))
    try await site.upload()
    let remote = try await site.remoteBytes(writer.session)
    let isRedacted = remote.starts(with: Redactor.standard.redacted(raw, format: .lines))
    #expect(isRedacted)
    #expect(try Sidecar.load(writer.files.sidecar).seal != nil)
  }

  @Test func `a part is read back once if the put proved nothing`() async throws {
    let site = try site()
    let writer = try await sent(site)
    site.local.clock.advance(seconds: 2 * 86_400)
    _ = site.store.takeRequests()
    var retention = Retention()
    retention.pruneAfter = .days(1)
    let pruner = PartPruner(try site.context())
    _ = try await pruner.plan(retention)
    #expect(site.store.takeRequests().contains { $0.hasPrefix("GET") })
    let plan = try await pruner.plan(retention)
    #expect(!plan.pruned.isEmpty)
    let requests = site.store.takeRequests()
    #expect(requests.count == 1 && requests[0].hasPrefix("LIST"), "\(requests)")
    withExtendedLifetime(writer) {}
  }
}
