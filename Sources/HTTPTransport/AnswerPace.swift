/// Notices an answer that never stalls, and yet is so slow that it would take hours or days.
///
/// Confined to the worker's thread.
struct AnswerPace {
  /// Bytes per second that an answer must bring on average.
  static let slowest = 1024
  /// The time over which the average is taken, unless requests may stall for longer.
  static let shortestWindow = Duration.seconds(60)

  /// Seconds over which the average is taken.
  private let window: Double
  /// When the present window began; nil while there is nothing to wait for.
  private var beginning: Double?
  /// Bytes received before the present window.
  private var counted = 0

  /// Measures an answer.
  ///
  /// - Parameter stall: the time without a byte that is permitted, also before the answer begins.
  init(stallTimeout stall: Duration) {
    window = max(Self.shortestWindow, stall * 2) / .seconds(1)
  }

  /// Begins a new window, as while we send, or pause for the rate limit.
  mutating func restart() { beginning = nil }

  /// Whether the window that ends now has brought too few bytes.
  ///
  /// - Parameters:
  ///   - received: number of bytes received so far.
  ///   - time: seconds of a monotonic clock.
  ///   - windows: number of windows to wait; several while the end of a large body may still be on
  ///     its way over a slow line.
  mutating func isTooSlow(received: Int, at time: Double, over windows: Int = 1) -> Bool {
    guard let start = beginning, time >= start, received >= counted else {
      (beginning, counted) = (time, received)
      return false
    }
    guard time - start >= window * Double(windows) else { return false }
    // Not by the time that has passed: while the machine sleeps, nothing arrives.
    let isSlow = Double(received - counted) < window * Double(Self.slowest)
    (beginning, counted) = (time, received)
    return isSlow
  }

  /// What is wrong, for a person.
  var problem: String {
    "the answer came with less than \(Self.slowest) bytes a second for \(Int(window)) s"
  }
}
