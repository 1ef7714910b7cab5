#if canImport(Darwin)
  package import Darwin
#else
  package import Glibc
#endif

/// A time as a file system stores it, in nanoseconds.
///
/// Nanoseconds distinguish changes within a millisecond. On a network file system the time comes
/// from another machine's clock.
package struct FileTime: Sendable, Hashable, Comparable {
  /// Nanoseconds since 1970-01-01T00:00:00Z.
  package let nanoseconds: Int64

  /// The beginning of 1970: means "no time"; all changes are later.
  package static let epoch = FileTime(nanoseconds: 0)

  /// Makes a time.
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The time in a system call's result, clamped to the range of this type.
  package init(_ time: timespec) {
    let limit: Int64 = 9_000_000_000
    let seconds = max(-limit, min(limit, Int64(time.tv_sec)))
    self.init(nanoseconds: seconds * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The modification time of a file changed now, clamped to the range of this type.
  package init(_ time: Timestamp) {
    let (product, isTooMuch) = time.milliseconds.multipliedReportingOverflow(by: 1_000_000)
    self.init(nanoseconds: isTooMuch ? (time.milliseconds < 0 ? .min : .max) : product)
  }

  /// In milliseconds, rounded towards 1970.
  package var timestamp: Timestamp { Timestamp(milliseconds: nanoseconds / 1_000_000) }

  /// For a system call.
  package var timespec: timespec {
    let billion: Int64 = 1_000_000_000
    let rest = (nanoseconds % billion + billion) % billion
    let seconds = nanoseconds / billion - (nanoseconds % billion < 0 ? 1 : 0)
    return .init(tv_sec: time_t(seconds), tv_nsec: Int(rest))
  }

  /// Orders by time.
  package static func < (left: FileTime, right: FileTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// How much later the first time is than the second.
  package static func - (later: FileTime, earlier: FileTime) -> Duration {
    .nanoseconds(later.nanoseconds) - .nanoseconds(earlier.nanoseconds)
  }

  /// An earlier time, clamped to the range of this type.
  package static func - (time: FileTime, span: Duration) -> FileTime {
    FileTime(nanoseconds: saturatingDifference(time.nanoseconds, span.nanoseconds))
  }
}
