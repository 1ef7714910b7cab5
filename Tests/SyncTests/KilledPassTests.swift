import LogRecords
import Platform
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// The production code below the command line when its process dies between two changes to files.
@Suite(.tags(.medium)) struct KilledPassTests {
  private static let text = Array("one\ntwo\nthree\n".utf8)

  /// A hook follows tasks, but neither threads nor queues.
  private func run<Value>(
    _ files: TestFiles, _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(files) { try await body() }
    }
  }

  /// A pass over a session with rotated parts.
  private func site() throws -> (site: Site, session: SessionID) {
    let site = try Site()
    let writer = try site.local.writer(rotateAt: 8)
    for _ in 0..<3 { Self.text.withUnsafeBytes { writer.capture($0, from: .standardOutput) } }
    try writer.end(.exit(0))
    return (site, writer.session)
  }

  @Test func `the file hook sees every change by a recorder and a pass`() async throws {
    let site = try Site()
    let files = TestFiles(clock: site.local.clock)
    try await run(files) {
      let writer = try site.local.writer(rotateAt: 8)
      Self.text.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      // In the caller's task, so before it continues.
      #expect(files.effects.contains { $0.path.hasSuffix(".log.zst.tmp") })
      try writer.end(.exit(0))
      try await site.upload()
      try await site.expectSealedAndEqual(writer.session)
    }
    #expect(
      files.effects.contains { $0.kind == .transaction && $0.path.hasSuffix("manifest.sqlite") })
    #expect(files.effects.contains { $0.kind == .synchronizeNames && $0.path.contains("/store/") })
  }

  @Test func `a pull makes each log durable before its sidecar`() async throws {
    let site = try Site()
    let sessions = try (0..<3).map { _ in try site.local.session(Self.text) }
    try await site.upload()
    let mirror = Mirror(of: site)
    let files = TestFiles()
    #expect(try await run(files) { try await mirror.pull() }.isEmpty)
    for session in sessions {
      #expect(try mirror.log(session) == site.local.log(session))
      let sidecar = "\(mirror.place(session))/\(session).json"
      let durable = files.effects.filter {
        $0.kind == .synchronize && $0.path.hasSuffix("\(session).log")
          || $0.kind == .rename(to: sidecar)
      }
      #expect(durable.count == 2 && durable.last?.kind == .rename(to: sidecar))
    }
  }

  @Test func `a refused transaction is an error and changes nothing`() throws {
    let site = try Site()
    let manifest = try site.context().manifest
    var entry = try manifest.storeEntry()
    entry.remoteReapAt = site.local.clock.now()
    FileEffect.$hook.withValue(TestFiles(lifetime: 0)) {
      #expect(throws: CacheError.self) { try manifest.save(entry) }
    }
    #expect(try manifest.storeEntry().remoteReapAt == nil)
    try manifest.save(entry)
    #expect(try manifest.storeEntry().remoteReapAt == entry.remoteReapAt)
  }

  @Test func `the next pass completes one that died at any file change`() async throws {
    let (whole, session) = try site()
    let all = TestFiles()
    _ = try await run(all) { try await whole.upload() }
    try await whole.expectSealedAndEqual(session)
    let count = all.effects.count
    #expect(count > 20)
    for lifetime in stride(from: 0, to: count, by: max(1, count / 12)) {
      let (site, session) = try site()
      let files = TestFiles(lifetime: lifetime)
      _ = try? await run(files) { try await site.upload() }
      #expect(files.isDead && files.effects.count == lifetime)
      let later = try site.reopened()
      // As often as refused attempts are postponed.
      later.local.clock.advance(seconds: 86_400)
      try await later.upload()
      try await later.expectSealedAndEqual(session)
    }
  }
}
