import ObjectStore
import Platform
import SessionLog
import Sync
import TestSupport
import Testing

@testable import TidemarkUpload

/// What passes that continue others, and a recorder's last one, send, and how long they wait for
/// another upload of the home.
@Suite(.tags(.medium)) struct ContinuedPassTests {
  private let local: TestHome
  private let store: FaultyStore
  /// How long the passes of a test have waited.
  private let waited = Guarded(Duration.zero)

  init() throws {
    local = try TestHome()
    try DirectoryStore.prepared(at: "\(local.folder)/store")
    store = FaultyStore(
      try openStore(
        StoreURL("file://\(local.folder)/store"), settings: StoreSettings(machine: .current),
        environment: [:]))
  }

  /// A pass whose pauses end at once.
  ///
  /// - Parameters:
  ///   - time: when the other upload ends, by those pauses.
  ///   - lock: its lock; nil if it does not end.
  private func pass(
    _ policy: UploadPolicy = UploadPolicy(), after time: Duration = .zero,
    releasing lock: Guarded<HomeLock?>? = nil
  ) -> HomePass {
    var pass = HomePass(local.home, policy) {
      try SyncContext(
        home: local.home, device: local.device, store: store, machine: local.clock.machine,
        transfers: 1)
    }
    pass.sleep = { duration in
      waited.withLock { $0 += duration }
      if let lock, waitingTime >= time { lock.withLock { $0 = nil } }
    }
    return pass
  }

  private var waitingTime: Duration { waited.withLock(\.self) }

  @Test func `a pass that continues waits ten minutes for another upload of the home`()
    async throws
  {
    try local.session(Array("x\n".utf8))
    let lock = try #require(try HomeLock.acquire(local.home))
    var pass = pass()
    #expect(try await pass.run()?.upload.sealed == nil)
    #expect(waitingTime == .zero)
    pass.continueUpload()
    #expect(try await pass.run()?.upload.sealed == nil)
    #expect(waitingTime == .seconds(600))
    #expect(store.takeRequests() == [])
    withExtendedLifetime(lock) {}
  }

  @Test func `it sends once the other upload has ended`() async throws {
    try local.session(Array("x\n".utf8))
    let lock = Guarded(try HomeLock.acquire(local.home))
    try #require(lock.withLock { $0 != nil })
    var pass = pass(after: .seconds(300), releasing: lock)
    pass.continueUpload()
    #expect(try await pass.run()?.upload.sealed == 1)
    #expect(waitingTime == .seconds(300))
  }

  @Test func `it waits as long as it was told to, if that is longer`() {
    var pass = pass()
    pass.patience = .seconds(900)
    pass.continueUpload()
    #expect(pass.patience == .seconds(900))
  }

  @Test func `it does not try again what failed in the pass before`() async throws {
    let session = try local.session(Array("x\n".utf8))
    store.plan(.failBefore(.other), on: "PUT", keyContaining: "\(session)")
    var policy = UploadPolicy()
    policy.retryScope = .all
    var pass = pass(policy)
    #expect(try await pass.run()?.upload.failures.count == 1)
    pass.continueUpload()
    let report = try #require(try await pass.run())
    #expect(report.upload.failures.isEmpty && report.upload.sealed == 0)
    #expect(report.upload.skipped.map(\.session) == [session])
    #expect(store.unexercised.isEmpty)
  }

  /// As `run` does at the end, where the configuration has a limit of requests.
  @Test func `a recorder's last upload sends its session first, within the limit of requests`()
    async throws
  {
    let old = try local.session(Array(String(repeating: "older\n", count: 100).utf8))
    let own = try local.session(Array("x\n".utf8))
    let lock = Guarded(try HomeLock.acquire(local.home))
    try #require(lock.withLock { $0 != nil })
    var policy = UploadPolicy()
    policy.isWatched = true
    policy.limitTime(andRequests: 8)
    store.plan(.failBefore(.exhausted), on: "PUT", keyContaining: "\(old)")
    var pass = pass(policy, after: .seconds(9), releasing: lock)
    pass.patience = .seconds(10)
    let report = try #require(try await pass.run())
    #expect(waitingTime == .seconds(9) && store.unexercised.isEmpty)
    #expect(report.upload.sealedSessions == [own])
    // No further pass follows, and a person at the terminal is told why.
    #expect((report.upload.stoppedBy as? StoreError)?.code == .exhausted)
    #expect(!report.upload.isCutShort && report.isReportDue)
    // Cron has a limit of its own.
    #expect(try await pass.run()?.upload.sealedSessions == [old])
  }

  @Test func `a recorder's last upload waits ten seconds at most`() async throws {
    try local.session(Array("x\n".utf8))
    let lock = try #require(try HomeLock.acquire(local.home))
    var pass = pass()
    pass.patience = .seconds(10)
    #expect(try await pass.run()?.upload.sealed == nil)
    #expect(waitingTime == .seconds(10))
    withExtendedLifetime(lock) {}
  }
}
