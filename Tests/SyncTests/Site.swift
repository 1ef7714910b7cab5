import Foundation
import LogRecords
import Logging
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A home with a directory store behind a faulty one.
struct Site {
  let local: TestHome
  let store: FaultyStore
  /// The present device of its home.
  var device: Device
  /// The configured consent.
  var consent = Consent.logs
  /// The configured rules.
  var redaction = RedactionRules()
  /// Number of concurrent requests, if configured.
  var transfers: Int? = 4
  /// Sizes and counts at which an upload splits, merges and compares segments.
  var limits = UploadLimits()
  /// Logs the decisions of a pass.
  var logger: Logger?

  init(clock: TestClock = TestClock()) throws {
    local = try TestHome(clock: clock)
    device = local.device
    try DirectoryStore.prepared(at: "\(local.folder)/store")
    store = try Self.open(local)
  }

  private static func open(_ local: TestHome) throws -> FaultyStore {
    FaultyStore(
      try openStore(
        StoreURL("file://\(local.folder)/store"),
        settings: StoreSettings(machine: ShiftedTime.machine),
        environment: [:]))
  }

  private init(local: TestHome) throws {
    self.local = local
    device = local.device
    store = try Self.open(local)
  }

  /// The same home and folder, as found by a later process.
  func reopened() throws -> Site { try Site(local: local) }

  /// A context as made by a new process.
  func context() throws -> SyncContext {
    return try SyncContext(
      home: local.home, device: device, store: store, machine: local.clock.machine,
      transfers: transfers,
      redaction: redaction, consent: consent, limits: limits,
      signer: DeviceKey(
        deviceId: device.deviceId, created: local.clock.now(),
        seed: Array(repeating: 7, count: 32)), logger: logger ?? .off)
  }

  /// Loses the device record: from then on the home is another device.
  mutating func loseDevice() throws {
    try FileManager.default.removeItem(atPath: local.home.devicePath)
    let former = device
    device = try Device.load(local.home, on: local.clock.machine)
    #expect(device.deviceId != former.deviceId)
  }

  @discardableResult
  func upload(
    _ scope: RetryScope = .transient, within time: Duration? = nil
  ) async throws -> UploadReport {
    try await onePass(scope, within: time, in: context)
  }

  func remote(_ session: SessionID) async throws -> RemoteSession {
    let folder = SessionFolder(device: device.deviceId, session: session)
    return try await FolderListing(folder, in: store)[session, in: folder]
  }

  /// The remote stream, verified against every name.
  func remoteBytes(_ session: SessionID) async throws -> [UInt8] {
    let remote = try await remote(session)
    var bytes: [UInt8] = []
    try await RemoteReader(store, knowing: nil).read(
      remote, upTo: remote.seal?.length ?? remote.mark
    ) {
      bytes.append(contentsOf: $0)
    }
    return bytes
  }

  func expectSealedAndEqual(_ session: SessionID) async throws {
    #expect(try await remote(session).seal != nil)
    #expect(try await remoteBytes(session) == local.log(session))
    #expect(try local.home.openSessions().contains(session) == false)
  }

  /// Both sides of retention as carried out by a cron pass.
  func reap(_ retention: Retention = Retention()) async throws {
    let context = try context()
    let reaper = LocalReaper(context)
    for outcome in try reaper.execute(try await reaper.plan(retention)) {
      try outcome.error.map { throw $0 }
    }
    let remote = RemoteReaper(context, devices: [context.device.deviceId])
    _ = try await remote.execute(remote.plan(retention))
    try context.saveLivedTime()
  }

  /// Makes everything in the folder older.
  func ageStore(days: Int64) throws {
    let date = local.clock.now().date.addingTimeInterval(-Double(days) * 86_400)
    let devices = "\(local.folder)/store/devices"
    for name in try FileManager.default.subpathsOfDirectory(atPath: devices) {
      try FileManager.default.setAttributes(
        [.modificationDate: date], ofItemAtPath: "\(devices)/\(name)")
    }
  }
}

extension SessionWriter {
  /// Records a line of standard output.
  func print(_ line: String) {
    Array("\(line)\n".utf8).withUnsafeBytes { capture($0, from: .standardOutput) }
  }
}
