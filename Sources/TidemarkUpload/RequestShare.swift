/// Divides `--max-requests` among the homes of users, so that none takes the share of another.
struct RequestShare: Equatable {
  /// The number of homes to upload now.
  let homes: Int
  /// Maximum number of requests for each; nil for no limit.
  let requests: Int?

  /// A session needs a few requests: with fewer than this, a home would make little progress.
  private static let least = 50

  /// Divides a number of requests.
  ///
  /// The remaining homes are left to later uploads, each of which has a different order.
  init(of maximum: Int?, among count: Int) {
    guard let maximum, count > 0 else {
      (homes, requests) = (count, maximum)
      return
    }
    homes = min(count, max(1, maximum / Self.least))
    requests = maximum / homes
  }
}
