import Platform

/// Pauses after failed attempts: 1, 2, 4 … minutes, up to a bound.
struct Backoff {
  /// The longest pause.
  let longest: Duration

  /// For a store, and for what is likely to go away by itself.
  static let passing = Backoff(longest: .seconds(15 * 60))
  /// For what a store refuses, or what contradicts itself.
  static let refused = Backoff(longest: .hours(6))

  /// A cron line that comes every minute is to find a pause of a minute over.
  private static let slack = Duration.seconds(10)

  /// When to try again after so many attempts that failed, at least one.
  func next(after attempts: Int, at now: Timestamp) -> Timestamp {
    let pause = min(longest, .seconds(60 << min(attempts - 1, 10)))
    return now + pause - Self.slack
  }

  /// Whether it is too early to try again; a clock that was set back makes no pause longer.
  func isTooEarly(_ next: Timestamp?, at now: Timestamp) -> Bool {
    guard let next else { return false }
    return next > now && next - now <= longest
  }
}

/// Whose turn it is in a pass, after attempts that failed.
package enum Turn: Sendable {
  /// Those whose pause is over.
  case due
  /// Also the store, and sessions whose failure was likely to go away by itself.
  case passing
  /// All.
  case all
}
