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

/// Redaction of what a file held before it was rewritten.
@Suite(.shiftedTime, .tags(.medium)) struct RedactedStreamTests: RewritingJob {
  let folder: AttachedFolder

  init() throws { folder = try AttachedFolder("job.log") }

  @Test func `a redaction leaves former streams in which it masks nothing`() async throws {
    var folder = folder
    let runs = [Self.run(1), Self.run(2, "key k-0123456789abcdef"), Self.run(3)]
    let session = try await send(runs)
    try await seal()
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1, 2])
    folder.site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "key", near: "k-0", pattern: "k-[0-9a-f]+")])
    let redaction = try RemoteRedaction(folder.site.context())
    let item = try #require(try await redaction.plan(session))
    #expect(item.former.map(\.generation) == [2])
    try redaction.begin(item)
    try await folder.tick()
    try await folder.tick(after: 86_400)
    try await folder.tick(after: 86_400)
    try await folder.expectSealed(1)
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1])
    #expect(try await read(session, nil) == runs[2])
    #expect(try await read(session, 1) == runs[0])
    await #expect(throws: ReadingError.self) { try await reader(session, 2) }
    let remote = try await folder.site.remote(session)
    for segment in remote.segments {
      var bytes: [UInt8] = []
      try await folder.site.context().reader.read(segment, in: remote.folder) { bytes += $0 }
      #expect(!String(decoding: bytes, as: UTF8.self).contains("k-0123"))
    }
    #expect(try await Verifier(folder.site.context()).verify(remote, deeply: true).problem == nil)
    #expect(try await redaction.plan(session) == nil)
  }

  @Test func `a key that two objects share is masked in what former streams copy from, too`()
    async throws
  {
    var folder = folder
    folder.site.redaction = RedactionRules(groups: [])
    let key = (0..<30).map { "MIIEpAIBAAKCAQEA\($0)aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5z\n" }
    let log = Self.run(1)
    let lines = log.split(separator: "\n", omittingEmptySubsequences: false)
    let head = lines.prefix(600).joined(separator: "\n") + "\n"
    let begin = "-----BEGIN RSA PRIVATE KEY-----\n" + key.prefix(10).joined()
    let rest = key.dropFirst(10).joined() + "-----END RSA PRIVATE KEY-----\n" + log
    func other(_ number: Int) -> String {
      (0..<600).map { "another run \(number), line \($0)\n" }.joined()
    }
    for text in [head + begin, head + begin + rest, other(2) + log, other(3) + log] {
      try write(text)
      try await folder.tick()
    }
    let session = try #require(try folder.sidecars().first?.sessionId)
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1, 2])
    folder.site.redaction = RedactionRules()
    let redaction = try RemoteRedaction(folder.site.context())
    let item = try #require(try await redaction.plan(session))
    #expect(item.former.map(\.generation) == [1, 2])
    try redaction.begin(item)
    try await folder.tick()
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick(after: 86_400)
    try await folder.expectSealed(1)
    let remote = try await folder.site.remote(session)
    for segment in remote.segments {
      var bytes: [UInt8] = []
      try await folder.site.context().reader.read(segment, in: remote.folder) { bytes += $0 }
      #expect(!String(decoding: bytes, as: UTF8.self).contains("MIIEpAIBAAKCAQEA29"))
    }
  }

  @Test func `a redaction that died at its revision goes on under rules that changed since`()
    async throws
  {
    var folder = folder
    let session = try await send([
      Self.run(1, "key k-0123456789abcdef, pass p-0123456789abcdef")
    ])
    func redact(_ rules: [RedactionRule]) async throws {
      folder.site.redaction = RedactionRules(own: rules)
      let redaction = try RemoteRedaction(folder.site.context())
      try redaction.begin(#require(try await redaction.plan(session)))
    }
    let key = try RedactionRule(kind: "key", near: "k-0", pattern: "k-[0-9a-f]+")
    try await redact([key])
    folder.site.store.plan(.die, on: "PUT", keyContaining: ".json")
    await #expect(throws: (any Error).self) { try await folder.tick() }
    folder.site.store.revive()
    #expect(try await !folder.site.remote(session).segments(of: 2).isEmpty)
    try await redact([
      key, try RedactionRule(kind: "pass", near: "p-0", pattern: "p-[0-9a-f]+"),
    ])
    for wait: Int64 in [0, 11 * 86_400, 86_400, 86_400] { try await folder.tick(after: wait) }
    try await folder.expectSealed(1)
    let remote = try await folder.site.remote(session)
    #expect(remote.generation == 3)
    #expect(Set(remote.segments.map(\.generation)) == [3])
    for segment in remote.segments {
      var bytes: [UInt8] = []
      try await folder.site.context().reader.read(segment, in: remote.folder) { bytes += $0 }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(!text.contains("k-0123") && !text.contains("p-0123"))
    }
  }

  @Test func `a redaction that has begun says what is left although the file is shorter since`()
    async throws
  {
    var folder = folder
    let session = try await send([Self.run(1, "key k-0123456789abcdef")])
    folder.site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "key", near: "k-0", pattern: "k-[0-9a-f]+")])
    let redaction = try RemoteRedaction(folder.site.context())
    try redaction.begin(#require(try await redaction.plan(session)))
    try write(String(Self.run(2).prefix(20_000)) + "\n")
    let item = try #require(try await redaction.plan(session))
    #expect(item.segments > 0 && item.bytes > 0)
  }

  @Test(arguments: [false, true])
  func `a redaction deletes former streams with what is now masked`(
    isMirrored: Bool
  ) async throws {
    var folder = folder
    let session = try await send([Self.run(1, "key k-0123456789abcdef"), Self.run(2)])
    try await seal()
    var mirror = Mirror(of: folder.site)
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.names(of: session).count == 3)

    folder.site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "key", near: "k-0", pattern: "k-[0-9a-f]+")])
    let redaction = try RemoteRedaction(folder.site.context())
    let home = folder.site.local.home
    do {
      let lock = try #require(try HomeLock.acquire(home))
      let lived = try folder.site.context().lived
      _ = try Holds(home).keep(session, for: .days(1), lived, holding: lock)
      await #expect(throws: ReplicaError.self) { try await redaction.plan(session) }
      _ = try Holds(home).release(session, holding: lock)
    }
    let item = try #require(try await redaction.plan(session))
    #expect(item.former.map(\.generation) == [1])
    try redaction.begin(item)
    try await folder.tick()
    try await folder.tick(after: 86_400)
    try await folder.tick(after: 86_400)
    try await folder.expectSealed(1)
    #expect(try folder.sidecars().map(\.former) == [nil])
    #expect(try await read(session, nil) == Self.run(2))
    await #expect(throws: ReadingError.self) { try await reader(session, 1) }
    #expect(try await folder.site.remote(session).segments(of: 1).isEmpty)
    #expect(try await redaction.plan(session) == nil)

    // Also if the mirror has the rest of the session already.
    if isMirrored {
      #expect(try await mirror.pull().isEmpty)
      #expect(try mirror.names(of: session).contains("\(session).g1.log"))
    }
    mirror.puller.replacesFormer = true
    #expect(try await mirror.pull().isEmpty)
    #expect(try mirror.names(of: session) == ["\(session).json", "\(session).log"])
    #expect(try await mirror.puller.plan(devices: [folder.site.local.device.deviceId]).isEmpty)
  }
}
