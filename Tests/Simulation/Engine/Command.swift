import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import SessionReading
import Sync
import TestSupport
import TidemarkUpload

/// One command of the product in a separate process: everything below its arguments and its output.
struct Command: Sendable {
  let home: Home
  let consent: Consent
  let rules: RedactionRules
  /// How long local copies stay.
  let retention: Duration
  /// The folder of other programs' logs.
  let logs: String
  /// Those that are attached.
  let pattern: String
  let mirror: String
  let process: SimulatedProcess
  let client: StoreClient
  let time: SimulatedTime
  let oracle: Oracle

  var machine: Machine { process.machine }

  var store: any ObjectStore {
    let begun = ContinuousClock.now
    let start = time.milliseconds
    return RetryingStore(
      client, sleep: { [time] in time.advance(Int64($0 / .milliseconds(1))) },
      random: machine.fraction,
      now: { [time] in begun + .milliseconds(time.milliseconds - start) })
  }

  /// Runs a command.
  ///
  /// - Returns: the result, for the trace.
  func run(_ action: Action) async throws -> String {
    defer { oracle.leave(home, process.name) }
    try home.create()
    return switch action {
    case .upload: try await upload()
    case .reap(_, let age, let isRemote): try await reap(age, isRemote: isRemote)
    case .reapWithoutStore: try await reapWithoutStore()
    case .pull: try await pull()
    case .repair: try await repair()
    case .redact: try await redact()
    case .delete(_, let number, let isLocal, let isRemote):
      try await delete(number, isLocal: isLocal, isRemote: isRemote)
    case .read(_, let number): try await read(number)
    case .keep(_, let number): try await keep(number)
    case .restore(_, let number): try await restore(number)
    case .retry(_, let number): try await retry(number)
    default: ""
    }
  }

  /// Small enough for logs of some kilobytes to reach every limit.
  private static let limits = {
    var limits = UploadLimits()
    limits.largestObject = 16 << 10
    limits.smallestObject = 4 << 10
    limits.mergedSegments = 6
    limits.signatureStep = 4096
    return limits
  }()

  func makeContext() throws -> SyncContext {
    let device = try Device.load(home, on: machine)
    let signer = try DeviceKey.simulated(of: device.deviceId, created: device.created)
    return try SyncContext(
      home: home, device: device, store: store, machine: machine, transfers: 1,
      redaction: rules, consent: consent, limits: Self.limits, signer: signer,
      keys: KnownKeys(home, named: [:], own: signer))
  }

  func context(_ body: (SyncContext) async throws -> String) async throws -> String {
    // SQLite removes files by name when it closes: the next process must not have created its own
    // yet.
    weak var manifest: Manifest?
    let result: Result<String, any Error>
    do {
      let context = try makeContext()
      manifest = context.manifest
      result = .success(try await body(context))
    } catch {
      result = .failure(error)
    }
    while manifest != nil { await Task.yield() }
    return try result.get()
  }

  func lock() throws -> HomeLock? {
    guard let lock = try HomeLock.acquire(home) else { return nil }
    oracle.enter(home, process.name)
    return lock
  }

  // MARK: Commands

  private func upload() async throws -> String {
    try await context { context in
      let pass = UploadPass(context, policy)
      guard let lock = try lock() else {
        try preview(pass)
        return "another upload is running"
      }
      let report = try await pass.run(holding: lock)
      oracle.record(report, of: home, consent: consent)
      return "objects \(report.upload.objects) sealed \(report.upload.sealed) reaped "
        + "\(report.reaped) failures \(report.upload.failures.map(\.session)) stopped "
        + "\(report.upload.stoppedBy.map { "\($0)" } ?? "no")"
    }
  }

  var policy: UploadPolicy {
    var policy = UploadPolicy()
    policy.sources = SourcePattern(pattern).map { [LogSource(path: $0)] } ?? []
    policy.retention.local = retention
    policy.retention.pruneAfter = .days(3)
    // Passes whose time is over when they begin, too.
    policy.sendingTime = machine.random() % 3 == 0 ? .zero : nil
    return policy
  }

  private func reap(_ age: Int64?, isRemote: Bool) async throws -> String {
    try await context { context in
      guard let lock = try lock() else { return "locked" }
      var retention = Retention()
      retention.local = self.retention
      if let age { retention = retention.asking(.seconds(age)) }
      try await context.checkFolder()
      guard isRemote else {
        let reaper = LocalReaper(context)
        let plan = try await reaper.plan(retention)
        _ = reaper.execute(plan, retention, holding: lock)
        try context.saveLivedTime(holding: lock)
        return "reaped \(plan.local.count) local"
      }
      let reaper = RemoteReaper(context, devices: [context.device.deviceId])
      let plan = try await reaper.plan(retention)
      if age != nil { for removal in plan.remote { oracle.ask(for: removal.session) } }
      _ = try await reaper.execute(plan, holding: lock)
      try context.saveLivedTime(holding: lock)
      return "reaped \(plan.remote.count) remote"
    }
  }

  private func reapWithoutStore() async throws -> String {
    guard let lock = try lock() else { return "locked" }
    let lived = try LivedClock(home: home, machine: machine)
    let reaper = LocalReaper(home: home, lived: lived, now: machine.now())
    let plan = try await reaper.plan(Retention())
    _ = reaper.execute(plan, Retention(), holding: lock)
    try lived.save(holding: lock)
    return "reaped \(plan.local.count) local"
  }

  private func pull() async throws -> String {
    let puller = Puller(store, into: mirror, knowing: try keys())
    guard let lock = try puller.lock() else { return "another pull is writing" }
    defer { withExtendedLifetime(lock) {} }
    let devices = try await DeviceRecord.ids(
      in: store, first: Device.load(home, on: machine).deviceId)
    let items = try await puller.plan(devices: devices)
    let failures = await puller.execute(items, atOnce: 1)
    return "pulled \(items.count) failures \(failures.keys.map(\.session).sorted())"
  }

  private func read(_ number: Int) async throws -> String {
    let catalog = try catalog(store)
    let devices = try await DeviceRecord.ids(in: store, first: catalog.context.device.deviceId)
    let entries = try await catalog.entries(devices: devices)
    guard !entries.isEmpty else { return "nothing to read" }
    let entry = entries[number % entries.count]
    let reader = try SessionReader(entry, side: .any, in: catalog) { _ in }
    var bytes: [UInt8] = []
    let choice = RecordChoice(RecordFilter())
    let isWhole = try await reader.read(choice, .verified) { bytes += $0 }
    if !process.isDead, !oracle.isChanged(entry.session) {
      oracle.judge(bytes, readFrom: entry.session)
    }
    return "read \(bytes.count) \(isWhole)"
  }

  func catalog(_ store: (any ObjectStore)?) throws -> SessionCatalog {
    var context = ReadingContext(
      home: home, device: try Device.load(home, on: machine), machine: machine)
    context.store = store
    context.keys = try keys()
    return SessionCatalog(context)
  }

  /// The keys that a reader in this home knows: its own, and those that it saw first.
  private func keys() throws -> KnownKeys {
    let device = try Device.load(home, on: machine)
    return KnownKeys(
      home, named: [:],
      own: try DeviceKey.simulated(of: device.deviceId, created: device.created))
  }
}
