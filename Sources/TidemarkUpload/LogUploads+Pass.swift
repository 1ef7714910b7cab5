import Foundation
import Logging
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync

/// One upload.
extension LogUploads {
  /// - Parameters:
  ///   - only: the session to send at its user's request; nil for all sessions, as far as consent
  ///     allows.
  ///   - patience: how long to wait for another upload of the home.
  func pass(_ only: SessionID?, waiting patience: Duration = .zero) async throws -> Outcome {
    var isDone = false
    // Unsent bytes are tried again after the interval, even if the session no longer grows.
    defer { if !isDone { work.withLock { $0.schedule?.retry() } } }
    let consent = only == nil ? consent() : .logs
    var outcome = Outcome()
    guard consent != .none else {
      outcome.skipped = .consent
      return record(outcome)
    }
    var settings = StoreSettings(machine: machine)
    settings.allowsPlaintext = options.allowsPlaintext
    settings.transfers = options.transfers
    settings.logger = options.logger ?? .off
    let opened = try opening(
      store, settings, options.environment ?? ProcessInfo.processInfo.environment)
    let device = try Device.load(home, on: machine)
    let context = try SyncContext.open(
      home, of: device, on: machine, store: opened, transfers: options.transfers,
      redaction: options.rules, consent: consent, limits: UploadLimits(policy.retention),
      logger: options.logger ?? .off)
    guard let lock = try await HomeLock.acquire(home, within: patience, pausing: pausing) else {
      outcome.skipped = .busy
      return record(outcome)
    }
    let report: UploadReport
    if let only {
      let uploader = Uploader(context)
      var plan = try uploader.plan(.all)
      plan.restrict(to: only)
      report = try await uploader.execute(plan, holding: lock)
    } else {
      report = try await UploadPass(context, policy).run(holding: lock).upload
    }
    outcome.sent = report.logBytes
    outcome.sealed = report.sealed
    outcome.waiting = report.waiting.reduce(0) { $0 + $1.bytes }
    outcome.problems = report.failures.map { "\($0.session): \($0.error)" }
    if let error = report.stoppedBy { outcome.problems.insert("\(error)", at: 0) }
    isDone = only == nil && outcome.problems.isEmpty && outcome.waiting == 0
    return record(outcome)
  }

  private var policy: UploadPolicy {
    var policy = UploadPolicy()
    policy.retention.local = options.keepsLocal
    policy.retention.remote = options.keepsRemote ?? policy.retention.remote
    policy.retention.localMax = options.localMax
    policy.reapsRemote = options.keepsRemote == nil ? .never : .onceUsed
    return policy
  }

  private func record(_ outcome: Outcome) -> Outcome {
    work.withLock { $0.last = outcome }
    return outcome
  }
}
