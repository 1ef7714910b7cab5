extension Duration {
  /// Whole milliseconds, rounded towards zero and clamped to the range.
  package var milliseconds: Int64 { whole(perSecond: 1000) }

  /// Whole nanoseconds, rounded towards zero and clamped to the range.
  package var nanoseconds: Int64 { whole(perSecond: 1_000_000_000) }

  private func whole(perSecond: Int64) -> Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooMuch) = seconds.multipliedReportingOverflow(by: perSecond)
    let rest = attoseconds / (1_000_000_000_000_000_000 / perSecond)
    let (sum, isFar) = product.addingReportingOverflow(rest)
    return isTooMuch || isFar ? (seconds < 0 ? .min : .max) : sum
  }

  /// Whole seconds, rounded towards zero.
  package var seconds: Int64 { components.seconds }

  /// The duration in whole seconds.
  package var inWholeSeconds: Duration { .seconds(seconds) }

  /// In rounded milliseconds with their unit, such as `12 ms`.
  package var millisecondsText: String {
    "\(Int64((self / .milliseconds(1)).rounded())) ms"
  }

  /// The duration without its sign.
  package var magnitude: Duration { self < .zero ? .zero - self : self }

  /// A duration of days of 24 hours.
  package static func days(_ count: Int64) -> Duration { hours(24) * count }

  /// A duration of hours.
  package static func hours(_ count: Int64) -> Duration { .seconds(3600) * count }
}
