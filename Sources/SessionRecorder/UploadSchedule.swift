package import SessionLog

/// When a session is uploaded while it goes on.
///
/// Every interval while it grows, at once when the first ERROR comes after a quiet time, and at once
/// when the machine or the network is back.
package struct UploadSchedule: Sendable {
  /// Milliseconds between uploads; nil for none but what comes at once.
  private let interval: Int64?
  private var isUnsent = false
  private var lastUpload: Int64
  private var lastError: Int64?

  /// Without another ERROR for so many milliseconds it is quiet, where the interval does not say.
  private static let quiet: Int64 = 60_000

  /// Starts with a session.
  ///
  /// - Parameters:
  ///   - interval: milliseconds between uploads; nil leaves those to others.
  ///   - now: milliseconds of a clock that only goes forward.
  package init(interval: Int64?, now: Int64) {
    self.interval = interval
    lastUpload = now
  }

  /// Whether an upload is due; when it is, it is taken to be begun.
  package mutating func isDue(_ activity: SessionActivity, now: Int64) -> Bool {
    isUnsent = isUnsent || activity.hasGrown
    var isUrgent = activity.isBack
    if activity.hasError {
      isUrgent = isUrgent || lastError.map { now - $0 >= interval ?? Self.quiet } ?? true
      lastError = now
    }
    let isTime = interval.map { isUnsent && now - lastUpload >= $0 } ?? false
    guard isUrgent || isTime else { return false }
    isUnsent = false
    lastUpload = now
    return true
  }
}
