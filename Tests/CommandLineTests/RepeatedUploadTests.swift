import Foundation
import ObjectStore
import Platform
import SessionLog
import TestSupport
import Testing
import TidemarkUpload

@testable import Sync
@testable import tidemark

/// Uploads of several passes, and what each pass reports.
@Suite(.tags(.medium)) struct RepeatedUploadTests {
  /// Some of what `--json` prints for a pass.
  private struct Printed: Decodable {
    let logBytes: Int64
    let sealed: Int
    let error: String?
    let status: Int32
  }

  private let local: TestHome
  private let store: FaultyStore

  init() throws {
    local = try TestHome()
    try DirectoryStore.prepared(at: "\(local.folder)/store")
    store = FaultyStore(
      try openStore(
        StoreURL("file://\(local.folder)/store"), settings: StoreSettings(machine: .current),
        environment: [:]))
  }

  private func context() throws -> SyncContext {
    try SyncContext(
      home: local.home, device: local.device, store: store, machine: local.clock.machine,
      transfers: 2)
  }

  /// A session that has ended, with a number of lines.
  private func session(lines count: Int) throws -> SessionID {
    try local.session(Array(String(repeating: "line\n", count: count).utf8))
  }

  private func length(_ session: SessionID) throws -> Int64 { Int64(try local.log(session).count) }

  /// Runs the passes of an upload; returns its exit code, and what each pass prints.
  private func upload(
    _ policy: UploadPolicy
  ) async throws -> (exit: tidemark.ExitStatus, passes: [Printed]) {
    var passes = PassSeries(left: tidemark.ExitStatus.tryLater)
    var printed: [Printed] = []
    try await passes.run { continues in
      var pass = HomePass(local.home, policy) { try context() }
      if continues { pass.continueUpload() }
      let report = try #require(try await pass.run())
      let json = try Console.json(Upload.Summary(report, of: local.home, nil))
      printed.append(try JSONDecoder().decode(Printed.self, from: Data(json.utf8)))
      return (Upload.status(of: report), report.upload.isCutShort)
    }
    return (tidemark.ExitStatus(of: passes.statuses), printed)
  }

  /// A pass whose time is always over sends one of several sessions.
  private var withoutTime: UploadPolicy {
    var policy = UploadPolicy()
    policy.sendingTime = .zero
    return policy
  }

  @Test func `each pass reports what it has sent, and all together have sent everything`()
    async throws
  {
    let sessions = try [10, 20, 30].map(session(lines:))
    let (exit, passes) = try await upload(withoutTime)
    #expect(exit == .ok && passes.map(\.status) == [75, 75, 0])
    #expect(passes.map(\.sealed) == [1, 1, 1])
    #expect(try passes.map(\.logBytes) == sessions.map(length))
    #expect(try local.home.openSessions().isEmpty)
  }

  @Test func `an upload with nothing to do is one pass`() async throws {
    let (exit, passes) = try await upload(withoutTime)
    #expect(exit == .ok && passes.map(\.status) == [0])
  }

  /// With `--now` the first pass tries it, whenever it failed before.
  @Test func `a session that fails is tried once, and the others are sent`() async throws {
    let bad = try session(lines: 10)
    let good = try session(lines: 20)
    store.plan(.failBefore(.other), on: "PUT", keyContaining: "\(bad)")
    var policy = withoutTime
    policy.retryScope = .all
    let (exit, passes) = try await upload(policy)
    #expect(store.unexercised.isEmpty)
    #expect(exit == .partial && passes.map(\.status) == [1, 1])
    #expect(try passes.map(\.logBytes) == [0, length(good)])
    #expect(try local.home.openSessions() == [bad])
    #expect(store.takeRequests().count { $0.hasPrefix("PUT ") && $0.contains("\(bad)") } == 1)
  }

  @Test func `a limit of requests ends an upload with its only pass, and the next continues`()
    async throws
  {
    let short = try session(lines: 10)
    let long = try session(lines: 20)
    var policy = UploadPolicy()
    policy.limitTime(andRequests: 8)
    #expect(policy.sendingTime == nil)
    store.plan(.failBefore(.exhausted), on: "PUT", keyContaining: "\(long)")
    let limited = try await upload(policy)
    #expect(store.unexercised.isEmpty)
    #expect(limited.exit == .partial && limited.passes.map(\.status) == [1])
    #expect(limited.passes.first?.error != nil)
    #expect(try limited.passes.map(\.logBytes) == [length(short)])
    #expect(try local.home.openSessions() == [long])
    let next = try await upload(policy)
    #expect(next.exit == .ok && next.passes.map(\.status) == [0])
    #expect(try local.home.openSessions().isEmpty)
  }

  @Test func `without a limit of requests, a pass has five minutes`() {
    var policy = UploadPolicy()
    policy.limitTime(andRequests: nil)
    #expect(policy.sendingTime == .seconds(300))
  }
}
