public import Foundation

/// How often, and how long, something transient is tried again.
public struct RetryPolicy: Sendable, Hashable {
  /// How many times an operation is tried in all.
  public var maxAttempts = 4
  /// The upper bound of the first pause, in seconds; it doubles each time.
  public var base: TimeInterval = 0.2
  /// The upper bound of every pause, in seconds.
  public var cap: TimeInterval = 5
  /// After how many seconds, pauses included, no further try is begun.
  public var maxElapsed: TimeInterval = 45

  /// Makes the default policy.
  public init() {}

  /// The pause before the next try; nil when there is to be none.
  ///
  /// Full jitter: anything from nothing to the bound, so that many devices that failed together do
  /// not come back together. A server's `Retry-After` is the least.
  ///
  /// - Parameters:
  ///   - attempt: How many tries there were.
  ///   - elapsed: How many seconds have gone by since the first began.
  ///   - error: What the last one failed with.
  ///   - random: A number from 0 up to 1.
  func pause(attempt: Int, elapsed: TimeInterval, error: StoreError, random: Double)
    -> TimeInterval?
  {
    guard error.isTransient, attempt < maxAttempts else { return nil }
    let bound = min(cap, base * pow(2, Double(attempt - 1)))
    let pause = max(bound * random, error.retryAfter ?? 0)
    return elapsed + pause <= maxElapsed ? pause : nil
  }
}
