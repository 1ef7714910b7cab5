package import ObjectStore
package import Platform
package import Replica
import SessionLog

/// One alert pass: reads the news, decides, and delivers.
package struct AlertPass: Sendable {
  /// The result of a pass.
  package struct Report: Sendable {
    /// Number of firing alerts.
    package var firing = 0
    /// Messages that were decided in this pass.
    package var decided: [OutgoingAlert] = []
    /// Number of messages that are not delivered yet.
    package var undelivered = 0
    /// Messages that were given up after a day.
    package var lost: [OutgoingAlert] = []
    /// Targets that fail, by name.
    package var failing: [String: FailingTarget] = [:]
    /// Unreadable objects, one line each.
    package var problems: [String] = []
    /// Why the store could not be read.
    package var storeError: StoreError?

    /// Whether everything was read and delivered.
    package var wentWell: Bool { storeError == nil && undelivered == 0 && lost.isEmpty }
  }

  /// The rules.
  package let rules: [AlertRule]
  /// The state file.
  package let path: String
  /// The time by our clock.
  package let now: @Sendable () -> Timestamp
  /// Maximum number of messages per target.
  package var most = 20
  /// The maximum age of events that a first pass reports.
  package var newsAge = AlertPlan.newsAge
  /// Maximum number of sessions to remember; nil for as many as the file can have.
  package var sessionLimit: Int?
  /// Maximum number of alerts to remember.
  package var alertLimit = AlertPlan.mostAlerts
  /// The room in the state file.
  package var room = AlertState.Room()
  /// The keys that revisions must be signed with; nil to skip that check.
  package var keys: KnownKeys?

  /// Describes a pass.
  package init(_ rules: [AlertRule], state path: String, now: @escaping @Sendable () -> Timestamp) {
    (self.rules, self.path, self.now) = (rules, path, now)
  }

  private var lockPath: String { path + ".lock" }

  /// The lock of a pass; nil while another one is running.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func lock() throws -> FileLock? {
    let lock = try FileLock.tryExclusive(lockPath)
    // A pass that finds the lock taken can say since when.
    lock?.recordTime()
    return lock
  }

  /// Since when another pass has had the lock, if that is longer than a pass takes; call it after
  /// ``lock()`` returned nil.
  ///
  /// - Parameters:
  ///   - limit: how long a pass may take.
  ///   - uptime: how long ago the machine has started, which ended all locks.
  package func busySince(
    longerThan limit: Duration = AlertPass.longest, up uptime: Duration
  ) throws -> Timestamp? {
    let time = now()
    guard let status = try FileStatus(lockPath) else { return nil }
    guard status.modifiedAt <= time else {
      // A time in the future says nothing: count from now.
      FileLock.recordTime(of: lockPath)
      return nil
    }
    let since = max(status.modifiedAt, time - uptime)
    return time - since > limit ? since : nil
  }

  /// How long a pass takes at most, as a rule.
  package static let longest = Duration.seconds(10 * 60)

  /// Reads, decides, and delivers.
  ///
  /// Decisions are saved before they are delivered: each is delivered at least once, even if the
  /// process is killed.
  ///
  /// - Parameters:
  ///   - store: the store to read.
  ///   - sender: delivers messages to targets.
  ///   - lock: shows that no other pass is running.
  ///   - report: called with messages for a person, one line each.
  /// - Throws: ``Platform/SystemError``, `CancellationError`; a failing store is in the report.
  package func run(
    _ store: any ObjectStore, _ sender: any AlertSender, holding lock: FileLock,
    report: (String) -> Void
  ) async throws -> Report {
    defer { withExtendedLifetime(lock) {} }
    var state = try AlertState.load(path, report: report)
    var result = try await decide(&state, store)
    // Save firing alerts and the messages about them together.
    try state.save(path)
    result.lost = try await AlertDelivery(sender, now: now).run(&state) { try $0.save(path) }
    result.undelivered = state.outbox.count
    result.failing = state.failing
    return result
  }

  /// The same without delivering or saving anything.
  ///
  /// - Throws: as ``run(_:_:holding:report:)`` does.
  package func preview(
    _ store: any ObjectStore, report: (String) -> Void
  ) async throws -> Report {
    var state = try AlertState.load(path, report: report)
    return try await decide(&state, store)
  }

  private func decide(
    _ state: inout AlertState, _ store: any ObjectStore
  ) async throws -> Report {
    var result = Report()
    let clock = ServerClock()
    let clocked = ClockedStore.wrapping(store, clock, now: now)
    var cursors = state.cursors[store.location] ?? AlertCursors()
    var reading: AlertReading?
    do {
      // An unmounted share looks like an empty store, in which all devices are silent.
      if store.isFolder {
        _ = try await FormatMarker.check(
          store, isUsed: cursors.devicesListedAt != nil, create: false)
      }
      if cursors.devicesListedAt == nil { _ = try await clocked.list(AlertScan.root, after: nil) }
      // The clock offset of the previous pass is accurate enough to choose folders.
      let offset = serverOffset(clock, or: cursors.clockOffset)
      let scan = AlertScan(
        clocked, knowing: keys, rules, now: now().asServer(offset: offset), newsAge: newsAge,
        sessionLimit: sessionLimit)
      reading = try await scan.read(&cursors)
      cursors.clockOffset = clock.offset?.milliseconds ?? cursors.clockOffset
      state.cursors[store.location] = cursors
    } catch let error as StoreError where error.code != .cancelled {
      result.storeError = error
    }
    let offset = serverOffset(clock, or: cursors.clockOffset)
    let plan = AlertPlan(
      rules, state.ledger, reading, now: now().asServer(offset: offset), offset: offset,
      newsAge: newsAge, most: most, mostAlerts: alertLimit)
    state.ledger = plan.ledger
    state.outbox += plan.outgoing
    result.decided = plan.outgoing
    result.firing = plan.firing.count
    result.problems = reading?.problems ?? []
    result.problems += AlertState.lines(plan.leftOut, "alerts")
    result.problems += try state.fit(room, reading: store.location)
    return result
  }

  /// How far the server's clock is ahead of ours; zero if that is unknown.
  private func serverOffset(_ clock: ServerClock, or known: Int64?) -> Duration {
    clock.offset ?? .milliseconds(known ?? 0)
  }
}
