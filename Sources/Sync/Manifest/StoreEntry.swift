package import ObjectStore
package import Platform

/// What the manifest keeps of a store.
package struct StoreEntry: Sendable, Equatable {
  /// Boot in which the format marker was last read.
  package var checkedBoot: String?
  /// When it was last read.
  package var checkedAt: Timestamp?
  /// When a pass last ended with the store's answers all good.
  package var lastSuccess: Timestamp?
  /// Since when every pass has failed for the store's sake; nil when the last one did not.
  package var failingSince: Timestamp?
  /// When a failure was last told without a terminal.
  package var lastTold: Timestamp?
  /// The device record as last sent.
  package var device: String?
  /// When remote retention last ran.
  package var remoteReapAt: Timestamp?
  /// Passes in a row that failed for the store's sake.
  package var attempts = 0
  /// What the last of them failed with.
  package var lastError: StoreError?
  /// Not before this time is the store asked again; nil when it may be at once.
  package var nextAttempt: Timestamp?
  /// The largest object that it is believed to take, in bytes; nil while it took all.
  package var objectLimit: Int?

  /// Nothing known.
  package init() {}

  /// The same without times that have not come yet: a clock was wrong, and has been set since.
  func believed(at now: Timestamp) -> StoreEntry {
    func past(_ time: Timestamp?) -> Timestamp? { time.flatMap { $0 <= now ? $0 : nil } }
    var copy = self
    copy.lastSuccess = past(lastSuccess)
    copy.failingSince = past(failingSince)
    copy.lastTold = past(lastTold)
    copy.remoteReapAt = past(remoteReapAt)
    return copy
  }

  /// Notes a pass that ended well.
  mutating func succeeded(at now: Timestamp) {
    lastSuccess = now
    failingSince = nil
    lastTold = nil
    attempts = 0
    lastError = nil
    nextAttempt = nil
  }

  /// Notes a pass in which nothing went through.
  ///
  /// - Parameter error: what the store failed with for all sessions, and is asked less and less for
  ///   from then on; nil when each session had its own failure.
  mutating func failed(_ error: StoreError?, at now: Timestamp) {
    failingSince = failingSince ?? now
    guard let error else { return }
    attempts += 1
    lastError = error
    nextAttempt = Backoff.passing.next(after: attempts, at: now)
  }

  /// Whether nothing has reached the store for too long: no pass has succeeded for a time, and the
  /// last one did not.
  ///
  /// - Parameter limit: that time.
  package func isStale(after limit: Duration, at now: Timestamp) -> Bool {
    guard let failingSince else { return false }
    return now - (lastSuccess ?? failingSince) >= limit
  }

  /// Why the store is left alone at this time; nil when it is not.
  func hold(at now: Timestamp) -> StoreError? {
    Backoff.passing.isTooEarly(nextAttempt, at: now) ? lastError : nil
  }
}
