import Platform

/// Number of records written in each minute, as far back as a rate needs.
package struct RateWindow: Sendable, Codable, Equatable {
  /// Counts by minutes since 1970.
  private var minutes: [Int64: Int] = [:]
  /// The id of the device whose records were counted first; nil if unknown.
  package private(set) var device: String?

  /// Nothing counted yet.
  package init(of device: String? = nil) { self.device = device }

  /// Counts records, and forgets those too long before the newest.
  ///
  /// - Parameters:
  ///   - records: by the minute in which they were written.
  ///   - span: the rate's time.
  /// - Returns: the largest number of records in any window of that length that includes one of
  ///   these.
  package mutating func add(_ records: [Int64: Int], within span: Duration) -> Int {
    for (minute, count) in records {
      let (sum, isTooMuch) = minutes[minute, default: 0].addingReportingOverflow(count)
      minutes[minute] = isTooMuch ? .max : sum
    }
    let width = max(1, (span.seconds + 59) / 60)
    guard let first = records.keys.min(), let newest = minutes.keys.max() else { return 0 }
    // A late record may complete a window that began before it.
    let known = minutes.sorted { $0.key < $1.key }
    var (most, sum, start) = (0, 0, 0)
    for (end, count) in known {
      sum += Self.bounded(count)
      while known[start].key <= end - width {
        sum -= Self.bounded(known[start].value)
        start += 1
      }
      if end >= first { most = max(most, sum) }
    }
    minutes = minutes.filter { $0.key > newest - 2 * width }
    return most
  }

  /// A count that is far more than any limit, so that their sum is always a number.
  private static func bounded(_ count: Int) -> Int { max(0, min(count, 1 << 36)) }

  /// Whether counted records may be part of a window that has not ended.
  package func isOpen(at minute: Int64, within span: Duration) -> Bool {
    // Records may arrive hours after they were written.
    minutes.keys.contains { $0 > minute - max(1, span.seconds / 60) - Self.latest }
  }

  /// How long to wait for late records, in minutes.
  private static let latest: Int64 = 24 * 60
}
