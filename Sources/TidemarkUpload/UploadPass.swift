import ObjectStore
import Platform
package import SessionLog
package import Sync

/// One upload of a home, as called by cron, a recorder and an application.
///
/// Each step is a plan, which is a value, and its execution, which needs the home's lock.
package struct UploadPass: Sendable {
  /// Called with each event, from any thread.
  package typealias Observer = @Sendable (UploadPassEvent) -> Void

  let context: SyncContext
  let policy: UploadPolicy

  /// Describes a pass over the home of a context.
  package init(_ context: SyncContext, _ policy: UploadPolicy) {
    self.context = context
    self.policy = policy
  }

  /// Runs the pass, step by step.
  ///
  /// - Parameters:
  ///   - lock: the home's lock.
  ///   - observe: called with each event, from any thread.
  /// - Returns: the result, including failures of single sessions and of the store.
  /// - Throws: `CancellationError`; errors of the home and of its cache.
  package func run(
    holding lock: HomeLock, _ observe: @escaping Observer = { _ in }
  ) async throws -> UploadPassReport {
    var report = UploadPassReport(
      device: context.device.deviceId, store: context.store.location)
    if try await !sendIfRoom(holding: lock, &report, observe) {
      // Sending needs disk space, which retention frees: it deletes old copies and, on a full disk,
      // those proven an hour ago.
      let first = report.upload
      try await reapLocal(holding: lock, making: Self.room, &report, observe)
      try await send(holding: lock, &report, observe)
      report.upload.precede(by: first)
    }
    if report.upload.stoppedBy == nil {
      // Delete old local copies that a listing of this pass proves.
      try await reapLocal(holding: lock, &report, observe)
      // Delete old remote copies, once a day.
      try await reapRemote(holding: lock, &report, observe)
      // Delete old proven parts of sessions that stay.
      if policy.prunes { try await prune(holding: lock, observe) }
      // Once a day, check that the store still has what was proven to be in it.
      report.vanished = try await SealReview(context).runIfDue(
        policy.retention, doubting: report.withoutCopy, besides: report.upload.sealedSessions,
        holding: lock)
    } else {
      report.vanished = VanishedCopies(of: context)
    }

    // Ages are measured in the home's lived time, which must outlive this process.
    try context.saveLivedTime(holding: lock)

    // An unreachable store is not reported every minute.
    report.isReportDue = try isReportDue(report.upload.stoppedBy)
    return report
  }

  /// Space that a pass frees on a full disk, to be able to send.
  private static let room: ByteCount = 16 << 20

  /// Sends new bytes.
  ///
  /// - Returns: false if the disk is too full to do so.
  private func sendIfRoom(
    holding lock: HomeLock, _ report: inout UploadPassReport, _ observe: @escaping Observer
  ) async throws -> Bool {
    do {
      try await send(holding: lock, &report, observe)
    } catch let error as SystemError where error.isDiskFull {
      return false
    }
    return report.upload.stoppedBy != nil
      || !report.upload.failures.contains { ($0.error as? SystemError)?.isDiskFull == true }
  }

  /// Sends new bytes, and seals ended sessions.
  private func send(
    holding lock: HomeLock, _ report: inout UploadPassReport, _ observe: @escaping Observer
  ) async throws {
    // Attach logs of other programs first, so that this pass sends their growth.
    report.unreadable = try attach(holding: lock, observe)

    // Once a day and once a boot, check the markers and the cached state of the store.
    let elsewhere = OpenSessionReview(context).runIfDue(holding: lock)
    if elsewhere > 0 { observe(.sealedElsewhere(elsewhere, configured: context.store.location)) }

    // Plan from local state alone: with nothing new there is no request.
    let uploader = Uploader(context)
    let plan = try uploader.plan(policy.retryScope)
    observe(.planned(bytes: plan.unsent))

    // A session's failure does not stop the others. A store's failure ends the pass: nothing can be
    // proven, so nothing is deleted.
    report.upload = try await uploader.execute(plan, within: policy.sendingTime, holding: lock) {
      observe(.upload($0))
    }
    observe(.uploadEnded)
    report.hasContactedStore = plan.storeBackoff == nil
  }

  /// The plan of a pass.
  package struct Preview: Sendable {
    /// Changes to other programs' logs, one line each.
    package let attached: [String]
    /// Growth of attached logs in bytes that ``upload`` does not include.
    package let attachedBytes: ByteCount
    /// The upload plan.
    package let upload: UploadPlan
  }

  /// Plans the pass without executing it.
  ///
  /// - Throws: errors of the home and of its cache.
  package func preview() throws -> Preview {
    let upload = try Uploader(context).plan(policy.retryScope)
    guard !policy.sources.isEmpty else {
      return Preview(attached: [], attachedBytes: 0, upload: upload)
    }
    let attacher = try Attacher(context, sources: policy.sources)
    let attached = try attacher.plan()
    return Preview(
      attached: attached.descriptions,
      attachedBytes: try attacher.growth(attached, besides: upload).bytes, upload: upload)
  }
}
