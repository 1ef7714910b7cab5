/// When to upload a session while it is open.
///
/// At each interval while it grows, at once at the first ERROR after a quiet time, and at once when
/// the machine or the network is back.
package struct UploadSchedule: Sendable {
  /// Time between uploads; nil for immediate uploads only.
  private let interval: Duration?
  private var isUnsent = false
  private var isUrgent = false
  private var lastUpload: Duration
  private var lastError: Duration?

  /// The quiet time without another ERROR, if the interval does not determine it.
  private static let quiet = Duration.seconds(60)

  /// Starts with a session.
  ///
  /// - Parameters:
  ///   - interval: time between uploads; nil for immediate uploads only.
  ///   - now: the time of a monotonic clock.
  package init(interval: Duration?, now: Duration) {
    self.interval = interval
    lastUpload = now
  }

  /// Decides whether to begin an upload now.
  ///
  /// - Parameters:
  ///   - activity: the activity since the last call.
  ///   - now: the time of the same clock.
  ///   - isBusy: whether an upload is running; one that is due then begins after it.
  package mutating func begins(_ activity: SessionActivity, now: Duration, isBusy: Bool) -> Bool {
    isUnsent = isUnsent || activity.hasGrown
    isUrgent = isUrgent || activity.isBack
    if activity.hasError {
      isUrgent = isUrgent || lastError.map { now - $0 >= interval ?? Self.quiet } ?? true
      lastError = now
    }
    let isTime = interval.map { isUnsent && now - lastUpload >= $0 } ?? false
    guard !isBusy, isUrgent || isTime else { return false }
    (isUnsent, isUrgent) = (false, false)
    lastUpload = now
    return true
  }

  /// Records that an upload has left bytes unsent: another one is due after the interval, even if
  /// the session does not grow.
  package mutating func retry() { isUnsent = true }
}
