#if canImport(Darwin)
  package import Darwin
#else
  package import Glibc
#endif

/// A time as a file system keeps it, to the nanosecond.
///
/// Nanoseconds tell two changes within a millisecond apart. On a network file system it is another
/// machine's clock that sets them.
package struct FileTime: Sendable, Hashable, Comparable {
  /// Nanoseconds since 1970-01-01T00:00:00Z.
  package let nanoseconds: Int64

  /// The beginning of 1970: stands for no time at all, and all changes are later.
  package static let epoch = FileTime(nanoseconds: 0)

  /// Makes a time.
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The time of a system call's answer; one that a file system cannot mean is kept within what fits.
  package init(_ time: timespec) {
    let limit: Int64 = 9_000_000_000
    let seconds = max(-limit, min(limit, Int64(time.tv_sec)))
    self.init(nanoseconds: seconds * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The time that a file gets that is changed now; the nearest that fits.
  package init(_ time: Timestamp) {
    let (product, isTooMuch) = time.milliseconds.multipliedReportingOverflow(by: 1_000_000)
    self.init(nanoseconds: isTooMuch ? (time.milliseconds < 0 ? .min : .max) : product)
  }

  /// The same to the millisecond, rounded towards 1970.
  package var timestamp: Timestamp { Timestamp(milliseconds: nanoseconds / 1_000_000) }

  /// The same for a system call.
  package var timespec: timespec {
    let billion: Int64 = 1_000_000_000
    let rest = (nanoseconds % billion + billion) % billion
    let seconds = nanoseconds / billion - (nanoseconds % billion < 0 ? 1 : 0)
    return .init(tv_sec: time_t(seconds), tv_nsec: Int(rest))
  }

  /// Earlier before later.
  package static func < (left: FileTime, right: FileTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// How much later the first time is than the second.
  package static func - (later: FileTime, earlier: FileTime) -> Duration {
    .nanoseconds(later.nanoseconds) - .nanoseconds(earlier.nanoseconds)
  }

  /// The time before a while; the earliest that fits.
  package static func - (time: FileTime, span: Duration) -> FileTime {
    FileTime(nanoseconds: saturatingDifference(time.nanoseconds, span.nanoseconds))
  }
}
