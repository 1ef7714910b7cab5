/// How often, and how long, something transient is tried again: one row for each class of failure.
package struct RetryPolicy: Sendable, Hashable {
  /// How one class of failure is tried again.
  package struct Row: Sendable, Hashable {
    /// How many times an operation is tried in all.
    package var tries: Int
    /// The upper bound of the first pause; it doubles each time.
    package var base: Duration
    /// The upper bound of every pause.
    package var cap: Duration

    /// Makes a row.
    package init(tries: Int, base: Duration, cap: Duration) {
      self.tries = tries
      self.base = base
      self.cap = cap
    }
  }

  /// The table; a class that is not in it is never tried again.
  package var rows: [StoreError.Code: Row] = [
    .transient: Row(tries: 4, base: .milliseconds(200), cap: .seconds(5)),
    .damaged: Row(tries: 4, base: .milliseconds(200), cap: .seconds(5)),
    .overloaded: Row(tries: 4, base: .seconds(1), cap: .seconds(15)),
    // Whoever is not there now will hardly be in a second: the next pass is soon enough.
    .unreachable: Row(tries: 2, base: .milliseconds(500), cap: .milliseconds(500)),
  ]
  /// The time, pauses included, after which no further try is begun.
  package var maxElapsed = Duration.seconds(45)

  /// Makes the default policy.
  package init() {}

  /// Nothing is tried again.
  package static var once: RetryPolicy {
    var policy = RetryPolicy()
    policy.rows = [:]
    return policy
  }

  /// How many requests an operation takes that meets these failures in turn, time left aside.
  package func requests(facing failures: [StoreError.Code]) -> Int {
    let last = failures.indices.first { $0 + 1 >= rows[failures[$0]]?.tries ?? 1 }
    return (last ?? failures.count) + 1
  }

  /// The pause before the next try; nil when there is to be none.
  ///
  /// Full jitter: anything from nothing to the bound, so that many devices that failed together do
  /// not come back together. A server's `Retry-After` is the least.
  ///
  /// - Parameters:
  ///   - attempt: How many tries there were.
  ///   - elapsed: How long ago the first began.
  ///   - error: What the last one failed with.
  ///   - random: A number from 0 up to 1.
  func pause(attempt: Int, elapsed: Duration, error: StoreError, random: Double) -> Duration? {
    guard let row = rows[error.code], attempt < row.tries else { return nil }
    let bound = min(row.cap, row.base * (1 << min(attempt - 1, 30)))
    let pause = max(bound * random, error.retryAfter ?? .zero)
    return elapsed + pause <= maxElapsed ? pause : nil
  }
}
