import Platform

/// Pauses after failed attempts: 1, 2, 4 … minutes, up to a bound.
struct Backoff {
  /// The longest pause, in milliseconds.
  let longest: Int64

  /// For a store, and for what is likely to go away by itself.
  static let passing = Backoff(longest: 15 * 60_000)
  /// For what a store refuses, or what contradicts itself.
  static let refused = Backoff(longest: 360 * 60_000)

  /// A cron line that comes every minute is to find a pause of a minute over.
  private static let slack: Int64 = 10_000

  /// When to try again after so many attempts that failed, at least one.
  func next(after attempts: Int, at now: Timestamp) -> Timestamp {
    let pause = min(longest, 60_000 << Int64(min(attempts - 1, 10)))
    return Timestamp(milliseconds: now.milliseconds + pause - Self.slack)
  }

  /// Whether it is too early to try again; a clock that was set back makes no pause longer.
  func isTooEarly(_ next: Timestamp?, at now: Timestamp) -> Bool {
    guard let next else { return false }
    return (1...longest).contains(next.milliseconds - now.milliseconds)
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
