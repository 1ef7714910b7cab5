/// How often, and for how long, transient failures are retried: one row per class of failure.
package struct RetryPolicy: Sendable, Hashable {
  /// How one class of failure is retried.
  package struct Row: Sendable, Hashable {
    /// Total number of tries.
    package var tries: Int
    /// Upper bound of the first pause; doubles each time.
    package var base: Duration
    /// Upper bound of every pause.
    package var cap: Duration

    /// Makes a row.
    package init(tries: Int, base: Duration, cap: Duration) {
      self.tries = tries
      self.base = base
      self.cap = cap
    }
  }

  /// Rows by class of failure.
  ///
  /// Searched in order, because there are few: a dictionary takes longer to set up than to search
  /// this ever takes.
  package struct Rows: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    private struct Entry: Sendable, Hashable {
      let code: StoreError.Code
      let row: Row
    }

    private var entries: [Entry] = []

    /// Makes a table.
    package init(dictionaryLiteral elements: (StoreError.Code, Row)...) {
      for (code, row) in elements { entries.append(Entry(code: code, row: row)) }
    }

    /// The row of a class; nil without one.
    package subscript(code: StoreError.Code) -> Row? {
      for entry in entries where entry.code == code { return entry.row }
      return nil
    }
  }

  /// The table; a class without a row is never retried.
  package var rows: Rows = [
    .transient: Row(tries: 4, base: .milliseconds(200), cap: .seconds(5)),
    .damaged: Row(tries: 4, base: .milliseconds(200), cap: .seconds(5)),
    .overloaded: Row(tries: 4, base: .seconds(1), cap: .seconds(15)),
    // An unreachable host will hardly return within a second: the next pass is soon enough.
    .unreachable: Row(tries: 2, base: .milliseconds(500), cap: .milliseconds(500)),
  ]
  /// The time, pauses included, after which no further try begins.
  package var maxElapsed = Duration.seconds(45)

  /// Makes the default policy.
  package init() {}

  /// A policy without retries.
  package static var once: RetryPolicy {
    var policy = RetryPolicy()
    policy.rows = [:]
    return policy
  }

  /// Number of requests that an operation sends if it meets these failures in turn, ignoring time.
  package func requests(facing failures: [StoreError.Code]) -> Int {
    let last = failures.indices.first { $0 + 1 >= rows[failures[$0]]?.tries ?? 1 }
    return (last ?? failures.count) + 1
  }

  /// The pause before the next try; nil for no further try.
  ///
  /// Full jitter: any length up to the bound, so that many devices that failed together do not
  /// return together. A server's `Retry-After` is the minimum.
  ///
  /// - Parameters:
  ///   - attempt: Number of tries so far.
  ///   - elapsed: Time since the first try began.
  ///   - error: The last failure.
  ///   - random: A number from 0 up to 1.
  func pause(attempt: Int, elapsed: Duration, error: StoreError, random: Double) -> Duration? {
    guard let row = rows[error.code], attempt < row.tries else { return nil }
    let bound = min(row.cap, row.base * (1 << min(attempt - 1, 30)))
    let pause = max(bound * random, error.retryAfter ?? .zero)
    return elapsed + pause <= maxElapsed ? pause : nil
  }
}
