public import ObjectStore
public import Platform

/// What the manifest keeps of a store.
public struct StoreEntry: Sendable, Equatable {
  /// Boot in which the format marker was last read.
  public var checkedBoot: String?
  /// When it was last read.
  public var checkedAt: Timestamp?
  /// When a pass last ended with the store's answers all good.
  public var lastSuccess: Timestamp?
  /// Since when every pass has failed for the store's sake; nil when the last one did not.
  public var failingSince: Timestamp?
  /// When a failure was last told without a terminal.
  public var lastTold: Timestamp?
  /// The device record as last sent.
  public var device: String?
  /// When remote retention last ran.
  public var remoteReapAt: Timestamp?
  /// Passes in a row that failed for the store's sake.
  public var attempts = 0
  /// What the last of them failed with.
  public var lastError: StoreError?
  /// Not before this time is the store asked again; nil when it may be at once.
  public var nextAttempt: Timestamp?
  /// The largest object that it is believed to take, in bytes; nil while it took all.
  public var objectLimit: Int?

  /// Nothing known.
  public init() {}

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

  /// Why the store is left alone at this time; nil when it is not.
  func hold(at now: Timestamp) -> StoreError? {
    Backoff.passing.isTooEarly(nextAttempt, at: now) ? lastError : nil
  }
}
