import Platform

/// Pauses after failed attempts: 1, 2, 4 … minutes, up to a bound.
struct Backoff {
  /// The longest pause.
  let longest: Duration

  /// For a store, and for transient failures.
  static let transient = Backoff(longest: .seconds(15 * 60))
  /// For refusals of a store, and for contradictions.
  static let refused = Backoff(longest: .hours(6))

  /// Lets a cron job that runs every minute find a pause of one minute over.
  private static let slack = Duration.seconds(10)

  /// When to try again after a number of failed attempts, at least one.
  func next(after attempts: Int, at now: Timestamp) -> Timestamp {
    now + pause(after: attempts) - Self.slack
  }

  /// The time of the last attempt, from that of the next.
  func last(before next: Timestamp, after attempts: Int) -> Timestamp {
    next - pause(after: attempts) + Self.slack
  }

  private func pause(after attempts: Int) -> Duration {
    min(longest, .seconds(60 << min(max(attempts, 1) - 1, 10)))
  }

  /// Whether it is too early to try again; a clock that was set back does not prolong the pause.
  func isTooEarly(_ next: Timestamp?, at now: Timestamp) -> Bool {
    guard let next else { return false }
    return next > now && next - now <= longest
  }
}

/// Which sessions a pass tries, despite failed attempts.
package enum RetryScope: Sendable {
  /// Those whose pause is over.
  case due
  /// Also the store, and sessions whose failure was likely to be transient.
  case transient
  /// All.
  case all
}
