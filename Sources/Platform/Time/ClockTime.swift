/// A point in time by one clock, in whole milliseconds.
///
/// Every operator takes two values of one type, so times of different clocks do not mix. All of
/// them saturate: results out of range become the largest or smallest value.
package protocol ClockTime: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  var milliseconds: Int64 { get }
  /// Makes a time.
  init(milliseconds: Int64)
}

extension ClockTime {
  /// How much later the first time is than the second; negative when it is earlier.
  package static func - (later: Self, earlier: Self) -> Duration {
    .milliseconds(saturatingDifference(later.milliseconds, earlier.milliseconds))
  }

  /// A later time; a fraction of a millisecond is dropped.
  package static func + (time: Self, span: Duration) -> Self {
    let (sum, isTooMuch) = time.milliseconds.addingReportingOverflow(span.milliseconds)
    return Self(milliseconds: isTooMuch ? (sum < 0 ? .max : .min) : sum)
  }

  /// An earlier time; a fraction of a millisecond is dropped.
  package static func - (time: Self, span: Duration) -> Self {
    Self(milliseconds: saturatingDifference(time.milliseconds, span.milliseconds))
  }
}

/// `left - right`, saturating.
func saturatingDifference(_ left: Int64, _ right: Int64) -> Int64 {
  let (difference, isTooMuch) = left.subtractingReportingOverflow(right)
  return isTooMuch ? (left < 0 ? .min : .max) : difference
}
