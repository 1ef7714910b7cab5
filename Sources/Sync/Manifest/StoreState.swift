package import ObjectStore
package import Platform

/// The manifest's entry of a store.
package struct StoreState: Sendable, Equatable {
  /// Boot in which the format marker was last read.
  package var checkedBoot: String?
  /// When it was last read.
  package var checkedAt: Timestamp?
  /// When a pass last ended without an error from the store.
  package var lastSuccess: Timestamp?
  /// Since when every pass has failed because of the store; nil if the last one did not.
  package var failingSince: Timestamp?
  /// When a failure was last reported without a terminal.
  package var lastTold: Timestamp?
  /// The device record as last sent.
  package var device: String?
  /// When remote retention last ran.
  package var remoteReapAt: Timestamp?
  /// Consecutive passes that failed because of the store.
  package var attempts = 0
  /// The last store failure.
  package var lastError: StoreError?
  /// The earliest time to try the store again; nil for at once.
  package var nextAttempt: Timestamp?
  /// The largest object that the store is believed to accept, in bytes; nil while it has refused
  /// none.
  package var objectLimit: Int?

  /// An entry without knowledge.
  package init() {}

  /// The entry without times in the future, which a wrong clock has recorded.
  func believed(at now: Timestamp) -> StoreState {
    func past(_ time: Timestamp?) -> Timestamp? { time.flatMap { $0 <= now ? $0 : nil } }
    var copy = self
    copy.lastSuccess = past(lastSuccess)
    copy.failingSince = past(failingSince)
    copy.lastTold = past(lastTold)
    copy.remoteReapAt = past(remoteReapAt)
    return copy
  }

  /// Records a successful pass.
  mutating func succeeded(at now: Timestamp) {
    lastSuccess = now
    failingSince = nil
    lastTold = nil
    attempts = 0
    lastError = nil
    nextAttempt = nil
  }

  /// Records a pass that the store has ended, or in which nothing was sent.
  ///
  /// - Parameters:
  ///   - error: the store's failure for all sessions, which lengthens the backoff; nil if each session
  ///     had its own failure.
  ///   - hasSent: whether something was sent before: then it may fail for some sessions only, whose
  ///     failures must not delay the others more and more.
  mutating func failed(
    _ error: StoreError?, afterSending hasSent: Bool = false, at now: Timestamp
  ) {
    if hasSent { (lastSuccess, failingSince, attempts) = (now, nil, 0) }
    failingSince = failingSince ?? now
    guard let error else { return }
    attempts += 1
    lastError = error
    nextAttempt = Backoff.transient.next(after: attempts, at: now)
  }

  /// Records that the folder of a store cannot be used, as a pass without anything to send has found.
  ///
  /// It is looked at again by each pass: nothing is delayed.
  mutating func foundUnusable(_ error: StoreError, at now: Timestamp) {
    failed(nil, at: now)
    (lastError, attempts, nextAttempt) = (error, max(attempts, 1), nil)
  }

  /// Whether the last failure is one of ``foundUnusable(_:at:)``, or is to be forgotten like one.
  var isFoundUnusable: Bool { failingSince != nil && nextAttempt == nil }

  /// Records that the folder can be used again.
  mutating func foundUsable() {
    (failingSince, lastTold, lastError, attempts) = (nil, nil, nil, 0)
  }

  /// Whether nothing has reached the store for too long although something waits: the last pass
  /// failed, and none has succeeded within a limit.
  ///
  /// - Parameters:
  ///   - limit: that time.
  ///   - waits: whether anything waits, see ``UploadPlan/waits(besides:consent:)``; a pass that has
  ///     just failed had something to send.
  package func isStale(after limit: Duration, at now: Timestamp, waits: Bool) -> Bool {
    guard waits, let failingSince else { return false }
    return now - (lastSuccess ?? failingSince) >= limit
  }

  /// The failure because of which the store is not tried at this time; nil if it may be.
  func backoff(at now: Timestamp) -> StoreError? {
    Backoff.transient.isTooEarly(nextAttempt, at: now) ? lastError : nil
  }
}
