import Foundation
import ObjectStore
import Replica
import SessionLog
import Synchronization

/// One pass over all sessions: finds what is new, sends it, seals what has ended.
public struct Uploader: Sendable {
  private let context: SyncContext

  /// Makes an uploader.
  public init(_ context: SyncContext) { self.context = context }

  /// The format marker is read once a boot and after this many milliseconds.
  private static let markerLife: Int64 = 86_400_000
  /// Transient failures in a row, without a success between, after which a pass gives up.
  private static let patience = 2

  /// What a pass would do now.
  ///
  /// - Parameter ignoresBackoff: look also at sessions whose next attempt is not yet due.
  /// - Throws: when the home or the manifest cannot be read.
  public func plan(ignoresBackoff: Bool = false) throws -> UploadPlan {
    try UploadPlanner(context: context, ignoresBackoff: ignoresBackoff).plan()
  }

  /// Carries out a plan.
  ///
  /// A session that fails does not stop the others; a store that refuses us or cannot be reached
  /// does.
  ///
  /// - Parameters:
  ///   - plan: from ``plan(ignoresBackoff:)``, not older than a few seconds.
  ///   - report: told of every object and session, from any thread.
  /// - Returns: what was done, failures included.
  /// - Throws: `CancellationError`, and errors of the manifest.
  public func execute(
    _ plan: UploadPlan, report: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) async throws -> UploadReport {
    let tally = Mutex(UploadReport())
    tally.withLock { $0.held = plan.held }
    guard !plan.items.isEmpty || !plan.remains.isEmpty else { return tally.withLock { $0 } }
    let sealed = Mutex<[SessionID]>([])
    var isCancelled = false
    do {
      try await prepareStore()
      let note: @Sendable (UploadEvent) -> Void = { event in
        tally.withLock { $0.note(event) }
        if case .sealed(let session, _) = event { sealed.withLock { $0.append(session) } }
        report(event)
      }
      try await send(plan, report: note) { failure in
        tally.withLock { $0.failures.append(failure) }
        report(.failed(session: failure.session, reason: "\(failure.error)"))
      }
      try await RemainsSweeper(context: context, report: note).sweep(plan.remains)
    } catch is CancellationError {
      isCancelled = true
    } catch let error as StoreError where error.code == .cancelled {
      isCancelled = true
    } catch {
      tally.withLock { $0.stoppedBy = error }
    }
    try settle(sealed.withLock { $0 })
    if isCancelled { throw CancellationError() }
    var result = tally.withLock { $0 }
    // When nothing at all went through, it is the store and not the sessions.
    if result.stoppedBy == nil, result.objects == 0, let first = result.failures.first?.error,
      result.failures.allSatisfy({ ($0.error as? StoreError)?.isTransient == true })
    {
      result.stoppedBy = first
      result.failures = []
    }
    try remember(result)
    return result
  }

  /// Makes the local marks of sealed sessions durable, all at once, and only then removes what would
  /// let the next pass find these sessions again.
  private func settle(_ sessions: [SessionID]) throws {
    let sealed = sessions.map { LocalSession(context.home, $0) }
    try AtomicFile.synchronize(sealed.map(\.files.sidecar))
    try context.manifest.forgetSealed(sessions, due: context.now())
    for session in sealed { try session.leave() }
  }

  // MARK: The store

  private func prepareStore() async throws {
    var entry = try context.manifest.storeEntry()
    let now = context.now()
    let isFresh =
      entry.checkedBoot == context.machine.bootId
      && entry.checkedAt.map { (0..<Self.markerLife).contains(now.milliseconds - $0.milliseconds) }
        == true
    if !isFresh {
      try await FormatMarker.check(context.store, create: true)
      entry.checkedBoot = context.machine.bootId
      entry.checkedAt = now
      try context.manifest.save(entry)
    }
    let device = try DeviceRecord(context.device).json()
    if entry.device != device {
      let key = DeviceRecord.key(context.device.deviceId)
      _ = try await context.store.put(key, Array(device.utf8))
      entry.device = device
      try context.manifest.save(entry)
    }
  }

  private func remember(_ report: UploadReport) throws {
    var entry = try context.manifest.storeEntry()
    let now = context.now()
    if report.stoppedBy == nil {
      entry.lastSuccess = now
      entry.failingSince = nil
      entry.lastTold = nil
    } else if entry.failingSince == nil {
      entry.failingSince = now
    }
    try context.manifest.save(entry)
  }

  // MARK: The sessions

  private func send(
    _ plan: UploadPlan, report: @escaping @Sendable (UploadEvent) -> Void,
    failed: @escaping @Sendable (UploadReport.Failure) -> Void
  ) async throws {
    let folders = FolderListings(context.store)
    let cores = max(1, ProcessInfo.processInfo.activeProcessorCount)
    let lanes = try (0..<min(cores, context.transfers)).map { _ in try SegmentLane() }
    try await withThrowingTaskGroup(of: (UploadPlan.Item, (any Error)?).self) { group in
      var next = 0
      func start() {
        guard next < plan.items.count else { return }
        let upload = SessionUpload(
          context: context, item: plan.items[next], lane: lanes[next % lanes.count],
          folders: folders, report: report)
        next += 1
        group.addTask {
          do {
            try await upload.run()
            return (upload.item, nil)
          } catch {
            return (upload.item, error)
          }
        }
      }
      for _ in 0..<context.transfers { start() }
      var transientInARow = 0
      while let (item, error) = try await group.next() {
        try Task.checkCancellation()
        if let error {
          transientInARow += (error as? StoreError)?.isTransient == true ? 1 : 0
          if Self.concernsWholeStore(error) || transientInARow >= Self.patience {
            group.cancelAll()
            throw error
          }
          try note(error, of: item)
          failed(.init(session: item.session, error: error))
        } else {
          transientInARow = 0
        }
        start()
      }
    }
  }

  private static func concernsWholeStore(_ error: any Error) -> Bool {
    guard let error = error as? StoreError else { return error is CancellationError }
    return switch error.code {
    case .authentication, .configuration, .full, .cancelled: true
    default: false
    }
  }

  /// Keeps a failure for `status`.
  ///
  /// Spaces out the attempts: 1 minute, doubling up to 6 hours. What is likely to go away by itself
  /// is tried in the next pass.
  private func note(_ error: any Error, of item: UploadPlan.Item) throws {
    let session = item.session
    var entry = try context.manifest.entry(session) ?? ManifestEntry(boot: "")
    entry.attempts += 1
    entry.lastError = "\(error)"
    entry.isDirty = true
    let passes =
      (error as? StoreError)?.isTransient == true || (error as? SystemError)?.isDiskFull == true
      // What became of a foreign file is found out at the beginning of the next pass.
      || (item.sidecar.source != nil
        && ((error as? ReplicaError)?.code == .localLogChanged
          || (error as? SystemError)?.isNotFound == true))
    if !passes {
      let minutes = min(360, 1 << min(entry.attempts - 1, 9))
      entry.nextAttempt = Timestamp(
        milliseconds: context.now().milliseconds + Int64(minutes) * 60_000)
      try Quarantine(context.home).hold(session, reason: "\(error)")
    }
    try context.manifest.save(&entry, of: session)
  }
}
