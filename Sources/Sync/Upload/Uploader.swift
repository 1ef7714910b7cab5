import Foundation
import Logging
import ObjectStore
import Platform
import Replica
package import SessionLog

/// One pass over all sessions: finds new bytes, sends them, and seals ended sessions.
package struct Uploader: Sendable {
  let context: SyncContext

  /// Makes an uploader.
  package init(_ context: SyncContext) { self.context = context }

  /// How long the format marker counts as checked within a boot.
  private static let markerLife = Duration.days(1)
  /// Consecutive transient failures, without a success between, after which a pass gives up.
  private static let patience = 2

  /// Plans a pass; changes nothing.
  ///
  /// - Parameter scope: which sessions ignore retry backoff.
  /// - Throws: when the home or the manifest cannot be read.
  package func plan(_ scope: RetryScope = .due) throws -> UploadPlan {
    var plan = try UploadPlanner(context: context, scope: scope).plan()
    context.logger.info(
      "plan: \(Plural.text(plan.items.count, "session")) to send, \(plan.skipped.count) skipped, \(plan.superseded.count) to clean up"
    )
    guard !plan.isIdle else { return plan }
    let entry = try context.storeEntry()
    plan.lastFailure = entry.lastError.map(WaitReason.init)
    if scope == .due {
      plan.storeBackoff = entry.backoff(at: context.now())
      if let backoff = plan.storeBackoff, let next = entry.nextAttempt {
        plan.wait(for: .store(backoff, until: next))
        context.logger.warning("the store is not asked until \(next): \(backoff)")
      }
    }
    return plan
  }

  /// Carries out a plan.
  ///
  /// A session that fails does not stop the others; a store that refuses us or is unreachable does.
  /// A folder is checked even when there is nothing to send: a caller who reaps relies on it.
  ///
  /// - Parameters:
  ///   - plan: from ``plan(_:)``, at most a few seconds old.
  ///   - time: how long to send, before the rest is left to a later pass; nil to send all.
  ///   - lock: the home's lock.
  ///   - report: called for every object and session, from any thread.
  /// - Returns: the result, failures included.
  /// - Throws: `CancellationError`, and errors of the manifest.
  package func execute(
    _ plan: UploadPlan, within time: Duration? = nil, holding lock: HomeLock,
    report: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) async throws -> UploadReport {
    lock.expect(context.home)
    let tally = Guarded(UploadReport(of: plan))
    try context.saveLivedTime(holding: lock)
    apply(plan, tally)
    for session in plan.ahead { LocalSession(context.home, session).countIdle(from: context.now()) }
    if plan.isIdle || plan.storeBackoff != nil {
      let problem = try await plan.isIdle ? folderProblem() : plan.storeBackoff
      return tally.withLock { tally in
        tally.stoppedBy = problem
        return tally
      }
    }
    let sealed = Guarded<[SessionID: Bool]>([:])
    let isCancelled = await attempt(tally) {
      try await carryOut(plan, within: time, holding: lock, tally, sealed, report: report)
    }
    try settle(sealed.withLock { $0 })
    if isCancelled { throw CancellationError() }
    return try conclude(tally.withLock { $0 })
  }

  /// Records the consent of sessions that are still open, and removes what leads passes to sessions
  /// with nothing to do.
  private func apply(_ plan: UploadPlan, _ tally: Guarded<UploadReport>) {
    func attempt(_ session: SessionID, _ body: (LocalSession) throws -> Void) {
      do {
        try body(LocalSession(context.home, session))
      } catch {
        tally.withLock { $0.failures.append(.init(session: session, error: error)) }
      }
    }
    for (session, consent) in plan.found.sorted(by: { $0.key < $1.key }) {
      attempt(session) { try $0.recordFound(consent) }
    }
    for (session, finish) in plan.finished.sorted(by: { $0.key < $1.key }) {
      attempt(session) { local in
        switch finish {
        case .seal: try local.settle(context)
        case .visits: try local.removeMarker()
        }
      }
    }
  }

  /// Prepares the store, sends, and cleans up.
  ///
  /// - Parameters:
  ///   - sealed: the sessions sealed, each with whether it left superseded objects.
  private func carryOut(
    _ plan: UploadPlan, within time: Duration?, holding lock: HomeLock,
    _ tally: Guarded<UploadReport>, _ sealed: Guarded<[SessionID: Bool]>,
    report: @escaping @Sendable (UploadEvent) -> Void
  ) async throws {
    try await prepareStore()
    try context.manifest.prepareToSend()
    // The first answers of a boot may credit the time before it, which must not count towards
    // seals of this pass.
    try context.saveLivedTime(holding: lock)
    let observe: @Sendable (UploadEvent) -> Void = { event in
      tally.withLock { $0.record(event) }
      log(event)
      if case .sealed(let session, _, let hasSuperseded) = event {
        sealed.withLock { $0[session] = hasSuperseded }
      }
      report(event)
    }
    try await send(plan, within: time, holding: lock, report: observe) { session in
      tally.withLock { $0.finish(session) }
    } failed: { failure in
      tally.withLock { $0.failures.append(failure) }
      context.logger.warning("\(failure.session): failed: \(failure.error)")
      report(.failed(session: failure.session, reason: "\(failure.error)"))
    }
    try await SupersededObjectCollector(context: context, lock: lock, report: observe)
      .sweep(plan.superseded)
  }

  /// Does the work of a pass; what stops it for all sessions goes into the report.
  ///
  /// - Returns: whether it was cancelled.
  private func attempt(
    _ tally: Guarded<UploadReport>, _ work: () async throws -> Void
  ) async -> Bool {
    do {
      try await work()
    } catch is CancellationError {
      return true
    } catch let error as StoreError where error.code == .cancelled {
      return true
    } catch {
      tally.withLock { $0.stoppedBy = error }
      let isBudget = (error as? StoreError)?.code == .exhausted
      context.logger.log(
        level: isBudget ? .info : .error, "the pass stops for all sessions: \(error)")
    }
    return false
  }

  /// What the files of attached sessions have, according to the cache of attached files.
  private func anchors(of plan: UploadPlan) -> [SessionID: LocalStream.Anchor] {
    let sessions = plan.items.filter(\.isAttached).map(\.session)
    // A cache that cannot be read is replaced by the next pass; what was sent is compared in any case.
    guard !sessions.isEmpty, let files = try? AttachedFiles(context.home) else { return [:] }
    var anchors: [SessionID: LocalStream.Anchor] = [:]
    for session in sessions { anchors[session] = (try? files.of(session))?.anchor }
    return anchors
  }

  /// Checks a folder that nothing is sent to.
  ///
  /// - Returns: why it cannot be used; nil if it can.
  /// - Throws: `CancellationError`, and errors of the manifest.
  private func folderProblem() async throws -> (any Error)? {
    do {
      try await context.checkFolder()
      try recordReturnedFolder()
      return nil
    } catch let error as StoreError where error.code == .cancelled {
      throw CancellationError()
    } catch {
      context.logger.error("the store cannot be used: \(error)")
      var entry = try context.storeEntry()
      if let error = error as? StoreError {
        entry.foundUnusable(error, at: context.now())
      } else {
        entry.failed(nil, at: context.now())
      }
      try context.manifest.save(entry)
      return error
    }
  }

  /// Completes the report of a pass that has sent, and records its result.
  private func conclude(_ report: UploadReport) throws -> UploadReport {
    var result = report
    let backoff = result.stoppedBy as? StoreError
    result.giveReasons()
    // If nothing at all succeeded, report the store's failure rather than the sessions'.
    if result.stoppedBy == nil, result.objects == 0, let first = result.failures.first?.error,
      result.failures.allSatisfy({ ($0.error as? StoreError)?.isTransient == true })
    {
      result.stoppedBy = first
      result.isStoppedBySessions = true
      result.failures = []
    }
    try record(result, backoff: backoff)
    return result
  }

  private func log(_ event: UploadEvent) {
    switch event {
    case .sealed(let session, let status, _):
      context.logger.info("\(session): sealed as \(status.rawValue)")
    case .supersededLeft(let session, let reason):
      context.logger.warning("\(session): obsolete objects stay: \(reason)")
    case .sealedAsSent(let session, let reason): context.logger.warning("\(session): \(reason)")
    case .leftToNextPass(let session, let rest):
      context.logger.info("\(session): left to the next pass, with \(rest) bytes")
    // The store logs each object, and the pass each failure.
    case .sent, .failed: break
    }
  }

  /// Clears the failure of a folder that was missing, if nothing waited for it.
  private func recordReturnedFolder() throws {
    var entry = try context.storeEntry()
    guard context.store.isFolder, entry.isFoundUnusable else { return }
    entry.foundUsable()
    try context.manifest.save(entry)
  }

  /// Makes the local records of sealed sessions durable, all at once, and only then removes the
  /// markers by which the next pass would find these sessions again.
  private func settle(_ sessions: [SessionID: Bool]) throws {
    // One at a time: the paths of ten thousand sessions would need ten megabytes.
    let sealed = sessions.keys.lazy.map { LocalSession(context.home, $0) }
    try AtomicFile.synchronize(sealed.map(\.files.sidecar))
    try context.manifest.forgetSealed(sessions, due: context.now())
    for session in sealed { try session.leave() }
  }

  // MARK: The store

  private func prepareStore() async throws {
    var entry = try context.storeEntry()
    let now = context.now()
    let isFresh =
      entry.checkedBoot == context.machine.bootId
      && entry.checkedAt.map { (.zero..<Self.markerLife).contains(now - $0) } == true
    if isFresh {
      try await context.checkFolder()
    } else {
      context.logger.debug(
        "reading the marker of \(context.store.location): first look of this boot or day")
      try await context.checkStore()
      entry.checkedBoot = context.machine.bootId
      entry.checkedAt = now
      try context.manifest.save(entry)
    }
    let device = try DeviceRecord(context.device).json()
    // Written daily: a lifecycle rule deletes objects that are not rewritten for long.
    if entry.device != device || !isFresh {
      let key = DeviceRecord.key(context.device.deviceId)
      do {
        _ = try await context.store.put(key, Array(device.utf8))
      } catch let error as StoreError where RemoteWriter.mayMeanTaken(error) {
        // Where names are write-once, the first record stays.
        guard (try? await context.store.head(key)) != nil else { throw error }
      }
      entry.device = device
      try context.manifest.save(entry)
    }
  }

  /// Records the result of the pass.
  ///
  /// - Parameter backoff: the store's failure for all sessions; nil if it had none.
  private func record(_ report: UploadReport, backoff: StoreError?) throws {
    var entry = try context.storeEntry()
    let now = context.now()
    // Reaching the request limit is not a failure.
    if report.stoppedBy.map({ ($0 as? StoreError)?.code == .exhausted }) ?? true {
      entry.succeeded(at: now)
    } else {
      entry.failed(backoff, afterSending: report.objects > 0, at: now)
    }
    try context.manifest.save(entry)
  }

  // MARK: The sessions

  private func send(
    _ plan: UploadPlan, within time: Duration?, holding lock: HomeLock,
    report: @escaping @Sendable (UploadEvent) -> Void, finished: (SessionID) -> Void,
    failed: (UploadReport.Failure) -> Void
  ) async throws {
    let folders = FolderListings(context.store, for: plan, of: context.device)
    let lanes = try (0..<min(Parallelism.cores, context.transfers)).map { _ in try SegmentWorker() }
    let budget = PassBudget(time, on: context.machine)
    let anchors = anchors(of: plan)
    @Sendable func leave(_ item: UploadPlan.Item) {
      report(.leftToNextPass(session: item.session, rest: item.unsent))
    }
    // Each session takes its part of a pass: many small ones fill it, or fewer large ones.
    let pass = WeightedSemaphore(context.transfers * context.smallTransfers)
    try await withThrowingTaskGroup(of: (UploadPlan.Item, (any Error)?).self) { group in
      var next = 0
      func start() {
        guard next < plan.items.count else { return }
        let (item, lane) = (plan.items[next], lanes[next % lanes.count])
        let isFirst = next == 0
        next += 1
        group.addTask {
          do {
            let part = item.isSmall ? context.transfers : context.smallTransfers
            try await pass.withUnits(part) { _ in
              // Waiting for its turn may have taken the time.
              guard isFirst || !budget.isSpent else { return leave(item) }
              try await SessionUpload(
                item, anchor: anchors[item.session], context, holding: lock, lane: lane,
                folders: folders, budget: budget, report: report
              ).run()
            }
            return (item, nil)
          } catch {
            return (item, error)
          }
        }
      }
      for _ in 0..<(Parallelism.isSequential ? 1 : context.smallTransfers) { start() }
      func leaveRest() {
        plan.items[next...].forEach(leave)
        next = plan.items.count
      }
      var transientInARow = 0
      var exhausted: (any Error)?
      while let (item, error) = try await group.next() {
        try Task.checkCancellation()
        if let error, (error as? StoreError)?.code == .exhausted {
          // Requests in progress may still succeed; begin no more.
          exhausted = error
          next = plan.items.count
        } else if let error {
          transientInARow += Self.mayBeTheStore(error) ? 1 : 0
          if Self.concernsWholeStore(error) || transientInARow >= Self.patience {
            group.cancelAll()
            throw error
          }
          try record(error, of: item)
          failed(.init(session: item.session, error: error))
        } else {
          transientInARow = 0
          finished(item.session)
        }
        if budget.isSpent { leaveRest() }
        start()
      }
      if let exhausted { throw exhausted }
    }
  }

  /// Whether a repeated failure means that the store is unusable.
  private static func mayBeTheStore(_ error: any Error) -> Bool {
    guard let error = error as? StoreError else { return false }
    return error.isTransient && error.code != .damaged
  }

  private static func concernsWholeStore(_ error: any Error) -> Bool {
    guard let error = error as? StoreError else { return error is CancellationError }
    return error.code != .exhausted && error.concernsWholeStore
  }

  /// Records a failure for `status`, and lengthens the backoff.
  private func record(_ error: any Error, of item: UploadPlan.Item) throws {
    let session = item.session
    var entry = try context.manifest.entry(session) ?? UploadCheckpoint(boot: "")
    entry.attempts += 1
    entry.lastError = "\(error)"
    entry.isDirty = true
    entry.isTransient = (error as? StoreError)?.isTransient == true
    if !Self.isForNextPass(error, of: item) {
      // What follows lost bytes is sent as it grows.
      let isTransient = entry.isTransient || (error as? ReplicaError)?.code == .lostBytes
      let backoff = isTransient ? Backoff.transient : .refused
      entry.nextAttempt = backoff.next(after: entry.attempts, at: context.now())
      if !entry.isTransient { try Quarantine(context.home).add(session, reason: "\(error)") }
    }
    try context.manifest.save(&entry, of: session)
    if item.isAttached, (error as? ReplicaError)?.code == .localLogChanged {
      try AttachedFiles(context.home).doubt(session)
    }
  }

  /// Whether a failure does not predict the next pass's result.
  private static func isForNextPass(_ error: any Error, of item: UploadPlan.Item) -> Bool {
    if (error as? SystemError)?.isDiskFull == true { return true }
    // The next pass first observes the foreign file again.
    return item.isAttached
      && ((error as? ReplicaError)?.code == .localLogChanged
        || (error as? SystemError)?.isNotFound == true)
  }
}

extension StoreError {
  /// Whether the store as a whole is unusable, rather than one object.
  var concernsWholeStore: Bool {
    switch code {
    case .authentication, .configuration, .full, .unreachable, .cancelled, .exhausted: true
    default: false
    }
  }
}
