import Foundation
import ObjectStore
package import Platform
import Replica
public import SessionLog
import Sync
public import TidemarkLogging

/// Uploads a program's sessions from within the program, for machines without a cron job.
///
/// ```swift
/// let session = Tidemark.start("Kiosk")
/// let uploads = try LogUploads(of: session, to: "https://logs.example/kiosk") { settings.consent }
/// uploads.start()
/// // …
/// await uploads.finish()
/// ```
///
/// Nothing leaves without consent, which is asked for before each upload. A cron job, or another
/// program, may upload the same home: whoever comes second does nothing.
public final class LogUploads: Sendable {
  private let session: LogSession
  private let home: Home
  private let store: StoreURL
  private let options: Options
  private let consent: @Sendable () -> Consent
  private let machine: Machine
  private let work = Guarded(Work())

  private struct Work {
    var schedule: UploadSchedule?
    var ticker: Ticker?
    var running: Task<Outcome, any Error>?
    var last: Outcome?
  }

  /// Describes the uploads of a session's home; nothing is contacted yet.
  ///
  /// - Parameters:
  ///   - session: the program's session.
  ///   - store: `s3://bucket/prefix`, `https://host/folder` or `file:///folder`; the latter is made
  ///     ready by `tidemark init`.
  ///   - options: how.
  ///   - consent: what may leave at this moment; nothing unless it says so.
  /// - Throws: an error that describes itself where the URL is none, or the session is not recorded.
  public convenience init(
    of session: LogSession, to store: String, options: Options = Options(),
    consent: @escaping @Sendable () -> Consent = { .none }
  ) throws {
    try self.init(of: session, to: store, options: options, on: .current, consent: consent)
  }

  package init(
    of session: LogSession, to store: String, options: Options, on machine: Machine,
    consent: @escaping @Sendable () -> Consent
  ) throws {
    guard let home = session.home else {
      throw LogSession.NotRecorded(session.problem, "upload")
    }
    self.session = session
    self.home = home.compressing(with: SegmentCompression())
    self.store = try StoreURL(store, allowsPlaintext: options.allowsPlaintext)
    (self.options, self.consent, self.machine) = (options, consent, machine)
  }

  /// What the last upload came to; nil before the first.
  public var lastOutcome: Outcome? { work.withLock { $0.last } }

  // MARK: While the program runs

  /// Begins to upload: now, what earlier starts have left, then at the interval.
  public func start() {
    work.withLock { work in
      guard work.ticker == nil else { return }
      work.schedule = UploadSchedule(
        interval: options.interval, now: .milliseconds(machine.uptime()))
      work.ticker = Ticker(every: .seconds(1)) { [weak self] in self?.tick() }
    }
    begin()
  }

  /// The program is back in the foreground, or the network is there again: uploads at once.
  public func resume() { begin() }

  /// Called about once a second.
  func tick() {
    let activity = session.takeActivity()
    let now = Duration.milliseconds(machine.uptime())
    if work.withLock({ $0.schedule?.isDue(activity, now: now) ?? false }) { begin() }
  }

  /// Starts an upload, unless one is under way.
  private func begin() {
    work.withLock { work in
      guard work.running == nil else { return }
      work.running = Task.detached(priority: .utility) { [self] in
        defer { self.work.withLock { $0.running = nil } }
        return try await upload()
      }
    }
  }

  /// Uploads what is new and waits for it.
  ///
  /// - Returns: what was sent, and what was not.
  /// - Throws: `CancellationError`; an error that describes itself where the home cannot be read.
  @discardableResult
  public func upload() async throws -> Outcome { try await pass(nil) }

  /// Uploads one session because its user asks for it now, whatever consent says otherwise.
  ///
  /// - Parameter id: which.
  /// - Returns: what was sent, and what was not.
  /// - Throws: as ``upload()`` does.
  @discardableResult
  public func uploadOnce(_ id: SessionID) async throws -> Outcome { try await pass(id) }

  /// Ends the session and uploads what is left, for ``Options/patience`` at the most.
  ///
  /// - Parameter cause: how the program ends.
  public func finish(_ cause: ExitCause = .exit(0)) async {
    stop()
    session.end(cause)
    let limit = options.patience
    await withTaskGroup(of: Void.self) { group in
      group.addTask { _ = try? await self.pass(nil, waiting: limit) }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
  }

  /// Uploads no more by itself.
  public func stop() {
    let running = work.withLock { work in
      work.ticker?.stop()
      work.ticker = nil
      return work.running
    }
    running?.cancel()
  }

  // MARK: One pass

  /// - Parameters:
  ///   - only: a session that is sent by its user's request; nil for all, by consent.
  ///   - patience: how long another upload of the home is waited for.
  private func pass(_ only: SessionID?, waiting patience: Duration = .zero) async throws -> Outcome
  {
    let consent = only == nil ? consent() : .logs
    var outcome = Outcome()
    guard consent != .none else {
      outcome.skipped = .consent
      return note(outcome)
    }
    var settings = StoreSettings()
    settings.allowsPlaintext = options.allowsPlaintext
    settings.transfers = options.transfers
    let opened = try openStore(
      store, settings: settings,
      environment: options.environment ?? ProcessInfo.processInfo.environment)
    let context = try SyncContext(
      home: home, device: Device.load(home, on: machine), store: opened, machine: machine,
      transfers: options.transfers, redaction: options.rules, consent: consent)
    guard let lock = try await lock(within: patience) else {
      outcome.skipped = .busy
      return note(outcome)
    }
    let report: UploadReport
    if let only {
      let uploader = Uploader(context)
      var plan = try uploader.plan(.all)
      plan.items.removeAll { $0.session != only }
      plan.waiting.removeAll { $0.session != only }
      plan.remains = []
      report = try await uploader.execute(plan, holding: lock)
    } else {
      report = try await UploadPass(context, policy).run(holding: lock).upload
    }
    outcome.sent = report.logBytes
    outcome.sealed = report.sealed
    outcome.waiting = report.waiting.reduce(0) { $0 + $1.bytes }
    outcome.problems = report.failures.map { "\($0.session): \($0.error)" }
    if let error = report.stoppedBy { outcome.problems.insert("\(error)", at: 0) }
    return note(outcome)
  }

  private var policy: UploadPolicy {
    var policy = UploadPolicy()
    policy.retention.local = options.keepsLocal
    policy.retention.remote = options.keepsRemote ?? policy.retention.remote
    policy.retention.localMax = options.localMax
    policy.reapsRemote = options.keepsRemote == nil ? .never : .onceUsed
    return policy
  }

  private static let lockInterval = Duration.milliseconds(50)

  private func lock(within limit: Duration) async throws -> HomeLock? {
    var waited = Duration.zero
    while true {
      if let lock = try HomeLock.acquire(home) { return lock }
      guard waited < limit else { return nil }
      try await Task.sleep(for: Self.lockInterval)
      waited += Self.lockInterval
    }
  }

  private func note(_ outcome: Outcome) -> Outcome {
    work.withLock { $0.last = outcome }
    return outcome
  }

  // MARK: Deletion

  /// Deletes the program's ended sessions from this machine, because its user asks for it; what the
  /// store has of them stays.
  ///
  /// - Returns: how many were deleted; sessions that still run, or cannot be deleted, stay.
  /// - Throws: as ``upload()`` does.
  @discardableResult
  public func clear() async throws -> Int {
    guard let lock = try await lock(within: options.patience) else { return 0 }
    let lived = try LivedClock(home: home, machine: machine)
    let deletion = Deletion(home: home, context: nil, lived: lived, command: "LogUploads.clear()")
    let own = session.id.flatMap { try? Sidecar.load(home.files(for: $0).sidecar).appName }
    var deleted = 0
    for session in try home.days().flatMap(home.sessions) {
      let files = home.files(for: session)
      guard session != self.session.id || self.session.hasEnded,
        let sidecar = try? Sidecar.load(files.sidecar), sidecar.appName == own,
        sidecar.source == nil, sidecar.status != .active || sidecar.recorder != nil,
        let alone = try? FileLock.tryExclusive(files.lock)
      else { continue }
      let outcomes = try await deletion.delete(session, local: true, remote: nil, holding: lock)
      withExtendedLifetime(alone) {}
      if outcomes.allSatisfy({ $0.error == nil }) { deleted += 1 }
    }
    return deleted
  }
}
