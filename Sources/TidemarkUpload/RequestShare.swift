/// How `--max-requests` is divided among the homes of users, who may not decide it for each other.
struct RequestShare: Equatable {
  /// The number of homes that have a turn.
  let homes: Int
  /// Maximum number of requests for each; nil for no limit.
  let requests: Int?

  /// A session needs a few requests: with fewer than this, a home would hardly get on.
  private static let least = 50

  /// Divides a number of requests.
  ///
  /// Homes without a turn have theirs in a later upload: each time, the order is another.
  init(of maximum: Int?, among count: Int) {
    guard let maximum, count > 0 else {
      (homes, requests) = (count, maximum)
      return
    }
    homes = min(count, max(1, maximum / Self.least))
    requests = maximum / homes
  }
}
