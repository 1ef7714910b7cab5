/// When a session is uploaded while it goes on.
///
/// Every interval while it grows, at once when the first ERROR comes after a quiet time, and at once
/// when the machine or the network is back.
package struct UploadSchedule: Sendable {
  /// Time between uploads; nil for none but what comes at once.
  private let interval: Duration?
  private var isUnsent = false
  private var lastUpload: Duration
  private var lastError: Duration?

  /// Without another ERROR for so long it is quiet, where the interval does not say.
  private static let quiet = Duration.seconds(60)

  /// Starts with a session.
  ///
  /// - Parameters:
  ///   - interval: time between uploads; nil leaves those to others.
  ///   - now: the time of a clock that only goes forward.
  package init(interval: Duration?, now: Duration) {
    self.interval = interval
    lastUpload = now
  }

  /// Whether an upload is due; when it is, it is taken to be begun.
  package mutating func isDue(_ activity: SessionActivity, now: Duration) -> Bool {
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
