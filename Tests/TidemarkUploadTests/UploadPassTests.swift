import Foundation
import ObjectStore
import Platform
import Redaction
import SessionLog
import TestSupport
import Testing
import TidemarkUpload

@testable import Sync

/// The steps of a pass, in order, and the effects of failures.
@Suite(.tags(.medium)) struct UploadPassTests {
  private static let day: Int64 = 86_400

  /// A home and its store.
  private struct Site {
    let local: TestHome
    let store: FaultyStore
    /// The present device of its home.
    var device: Device
    var policy = UploadPolicy()
    /// The configured rules.
    var redaction = RedactionRules()

    init(_ local: TestHome, in folder: String = "store") throws {
      (self.local, device) = (local, local.device)
      try DirectoryStore.prepared(at: "\(local.folder)/\(folder)")
      store = FaultyStore(
        try openStore(
          StoreURL("file://\(local.folder)/\(folder)"), settings: StoreSettings(machine: .current),
          environment: [:])
      )
      policy.retryScope = .transient
    }

    init() throws { try self.init(TestHome()) }

    func context() throws -> SyncContext {
      try SyncContext(
        home: local.home, device: device, store: store, machine: local.clock.machine,
        transfers: 2, redaction: redaction)
    }

    @discardableResult
    func pass() async throws -> UploadPassReport {
      let lock = try #require(try HomeLock.acquire(local.home))
      return try await UploadPass(context(), policy).run(holding: lock)
    }

    func hasLocalLog(_ session: SessionID) -> Bool {
      FileManager.default.fileExists(atPath: local.home.files(for: session).log)
    }
  }

  @Test func `old and proven copies are reaped by a later pass than the one that sealed them`()
    async throws
  {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    var report = try await site.pass()
    #expect(report.upload.sealed == 1 && report.reaped == 0 && site.hasLocalLog(session))
    site.local.clock.advance(seconds: 8 * Self.day)
    report = try await site.pass()
    #expect(report.reaped == 1 && !site.hasLocalLog(session))
  }

  @Test func `a home that lost its cache looks for what has expired in the store`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    for days in [0, 8, 8] {
      site.local.clock.advance(seconds: Int64(days) * Self.day)
      try await site.pass()
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: site.local.home.cachePath) {
      try File.remove("\(site.local.home.cachePath)/\(name)")
    }
    _ = site.store.takeRequests()
    try await site.pass()
    #expect(site.store.takeRequests().contains { $0.hasPrefix("LIST ") })
  }

  @Test func `if a session's upload state does not fit on the disk, proven copies are deleted`()
    async throws
  {
    let site = try Site()
    let old = try site.local.session(Array("x\n".utf8))
    try await site.pass()
    site.local.clock.advance(seconds: 2 * 3600)
    let writer = try site.local.writer()
    Array("y\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    let isFull = Guarded(true)
    let files = TestFiles { effect in
      switch effect.kind {
      case .remove where effect.path.hasSuffix("\(old).log"): isFull.withLock { $0 = false }
      case .write where effect.path.contains("\(writer.session).redaction"):
        return isFull.withLock(\.self) ? ENOSPC : nil
      default: break
      }
      return nil
    }
    let report = try await FileEffect.$hook.withValue(files) { try await site.pass() }
    #expect(report.reaped == 1 && !site.hasLocalLog(old))
    #expect(report.upload.failures.isEmpty && report.upload.logBytes > 0)
    // Not in the trash, which would free nothing.
    #expect(try Trash(site.local.home).sessions(at: site.context().lived.time.mark).isEmpty)
  }

  @Test func `sessions sealed in another store are reported once, and sent on request`()
    async throws
  {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.pass()
    let moved = try Site(site.local, in: "moved")
    let told = Guarded(0)
    func pass() async throws -> UploadPassReport {
      let lock = try #require(try HomeLock.acquire(moved.local.home))
      return try await UploadPass(moved.context(), moved.policy).run(holding: lock) { event in
        if case .sealedElsewhere(let count, _) = event { told.withLock { $0 += count } }
      }
    }
    for _ in 0..<2 {
      _ = try await pass()
      #expect(told.withLock(\.self) == 1)
    }
    var copies = try Uploader(moved.context()).sealedCopies()
    #expect(copies.elsewhere == [site.store.location: [session]] && copies.cut.isEmpty)
    #expect(try Uploader(site.context()).sealedCopies().elsewhere.isEmpty)
    do {
      let lock = try #require(try HomeLock.acquire(moved.local.home))
      #expect(try Uploader(moved.context()).sendFromElsewhere(session, holding: lock))
    }
    #expect(try await pass().upload.sealed == 1)
    copies = try Uploader(moved.context()).sealedCopies()
    #expect(copies.elsewhere.isEmpty)
    site.local.clock.advance(seconds: 8 * Self.day)
    #expect(try await pass().reaped == 1)
  }

  @Test(arguments: [false, true])
  func `a redaction deletes what it replaces, or says that it cannot`(isRefused: Bool) async throws
  {
    var site = try Site()
    let session = try site.local.session(Array("one\ntwo\n".utf8))
    try await site.pass()
    site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "word", near: "two", pattern: "two")])
    let pass = RemoteRedactionPass(try site.context())
    let items = try await pass.plan([session]) { Issue.record("\($0): \($1)") }
    if isRefused { site.store.plan(.failBefore(.authentication), on: "DELETE") }
    let lock = try #require(try HomeLock.acquire(site.local.home))
    let report = try await pass.run(items, holding: lock)
    #expect(items.count == 1 && report.hasFinished(session) && report.stoppedBy == nil)
    #expect(report.supersededLeft.keys.contains(session) == isRefused)
    #expect(try await pass.replaced([session]) == (isRefused ? [session: 1] : [:]))
  }

  @Test(arguments: [false, true])
  func `a repair skips a session whose local log lost its end`(afterNewDevice: Bool) async throws {
    var site = try Site()
    let session = try site.local.session(Array("one\ntwo\n".utf8))
    try await site.pass()
    let log = URL(filePath: site.local.home.files(for: session).log)
    try Data(contentsOf: log).dropLast(5).write(to: log)
    if afterNewDevice {
      try File.remove(site.local.home.devicePath)
      site.device = try Device.load(site.local.home, on: site.local.clock.machine)
    }
    let context = try site.context()
    let lock = try #require(try HomeLock.acquire(site.local.home))
    var refused: [String] = []
    let report = try await Repair(context).run([session], holding: lock) { refused.append($1) }
    #expect(refused.count == 1 && refused.first?.contains("lost what the store has") == true)
    #expect(report.failures.isEmpty && report.stoppedBy == nil)
    #expect(try site.local.home.openSessions().isEmpty)
    #expect(try Sidecar.load(site.local.home.files(for: session).sidecar).seal != nil)
  }

  @Test func `a repair says how a session gets out of the trash`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    try await site.pass()
    site.local.clock.advance(seconds: 8 * Self.day)
    #expect(try await site.pass().reaped == 1)
    let context = try site.context()
    let lock = try #require(try HomeLock.acquire(site.local.home))
    var refused: [String] = []
    _ = try await Repair(context).run([session], holding: lock) { refused.append($1) }
    #expect(refused.count == 1 && refused[0].contains("'tidemark restore \(session)'"))
  }

  @Test func `on a full disk copies that may be deleted make room for sending`() async throws {
    let site = try Site()
    let old = try site.local.session(Array("x\n".utf8))
    try await site.pass()
    site.local.clock.advance(seconds: 8 * Self.day)
    let new = try site.local.session(Array("y\n".utf8))
    let isFull = Guarded(true)
    let files = TestFiles { effect in
      switch effect.kind {
      case .remove where effect.path.hasSuffix("\(old).log"): isFull.withLock { $0 = false }
      case .write where isFull.withLock(\.self): return ENOSPC
      case .makeDirectory where effect.path.contains("/trash"): return ENOSPC
      default: break
      }
      return nil
    }
    let report = try await FileEffect.$hook.withValue(files) { try await site.pass() }
    #expect(report.reaped == 1 && !site.hasLocalLog(old))
    #expect(report.upload.sealed == 1 && report.upload.failures.isEmpty && site.hasLocalLog(new))
  }

  @Test func `a store that fails ends the pass before anything is deleted`() async throws {
    let site = try Site()
    let old = try site.local.session(Array("old\n".utf8))
    try await site.pass()
    site.local.clock.advance(seconds: 8 * Self.day)
    try site.local.session(Array("new\n".utf8))
    site.store.plan(.failBefore(.unreachable), on: "PUT", times: 9)
    let report = try await site.pass()
    #expect(report.upload.stoppedBy != nil && report.isStoreDown)
    #expect(report.reaped == 0 && site.hasLocalLog(old))
  }

  @Test func `an unreachable store is reported once it is stale, then once an hour`()
    async throws
  {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    var isDue: [Bool] = []
    for minutes in [0, 30, 31, 30, 31] {
      site.local.clock.advance(seconds: Int64(minutes) * 60)
      site.store.plan(.failBefore(.unreachable), on: "PUT", times: 9)
      isDue.append(try await site.pass().isReportDue)
    }
    #expect(isDue == [false, false, true, false, true])
  }

  @Test func `where a person watches every failure is reported`() async throws {
    var site = try Site()
    site.policy.isWatched = true
    try site.local.session(Array("x\n".utf8))
    for _ in 0..<2 {
      site.store.plan(.failBefore(.unreachable), on: "PUT", times: 9)
      #expect(try await site.pass().isReportDue)
    }
  }

  @Test func `refused credentials are reported at once, then once an hour`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    var isDue: [Bool] = []
    for minutes in [0, 30, 31] {
      site.local.clock.advance(seconds: Int64(minutes) * 60)
      site.store.plan(.failBefore(.authentication), on: "PUT", times: 9)
      isDue.append(try await site.pass().isReportDue)
    }
    #expect(isDue == [true, false, true])
  }

  @Test func `after a missing store folder is back, the store does not count as stale`()
    async throws
  {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.pass()
    let folder = "\(site.local.folder)/store"
    try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
    for _ in 0..<2 {
      #expect(try await site.pass().upload.stoppedBy != nil)
      let failed = try Uploader(site.context()).waiting().store
      #expect(failed?.failingSince != nil && failed?.attempts == 1 && failed?.nextAttempt == nil)
      #expect(failed?.lastError?.code == .configuration)
    }
    try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder)
    site.local.clock.advance(seconds: 2 * Self.day)
    #expect(try await site.pass().upload.stoppedBy == nil)
    #expect(
      try !site.context().storeEntry().isStale(
        after: .seconds(3600), at: site.local.clock.now(), waits: true))
    #expect(try site.context().storeEntry().failingSince == nil)
    #expect(try Uploader(site.context()).waiting().store == nil)
  }

  @Test func `a home that another upload holds is left to it`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    let pass = HomePass(site.local.home, site.policy) { try site.context() }
    let lock = try #require(try HomeLock.acquire(site.local.home))
    #expect(try await pass.run()?.upload.sealed == nil)
    #expect(try await pass.preview().upload.items.count == 1)
    withExtendedLifetime(lock) {}
  }
}
