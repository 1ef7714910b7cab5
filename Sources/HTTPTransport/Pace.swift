import Platform

/// A bound of bytes a second that many transfers share: a bucket of tokens that may be overdrawn.
///
/// Whoever finds tokens takes what it has at hand, and all wait until the debt is paid: so no
/// piece has to be cut to measure, and no waiter is favoured by its size.
package final class Pace: Sendable {
  /// A moment, as seconds of any clock that never goes back.
  package typealias Clock = @Sendable () -> Double

  private struct Bucket {
    var tokens: Double
    var filled: Double
  }

  private let rate: Double
  private let capacity: Double
  private let now: Clock
  private let bucket: Guarded<Bucket>

  /// Makes a full bucket.
  ///
  /// - Parameters:
  ///   - bytesPerSecond: The bound, 1 at least.
  ///   - now: The clock.
  package init(bytesPerSecond: Int64, now: @escaping Clock = Pace.monotonic) {
    rate = Double(max(1, bytesPerSecond))
    // A tenth of a second's worth may come at once: more would show as bursts.
    capacity = max(1, rate / 10)
    self.now = now
    bucket = Guarded(Bucket(tokens: max(1, rate / 10), filled: now()))
  }

  /// The seconds since the first use.
  package static let monotonic: Clock = {
    let start = ContinuousClock.now
    return {
      let (seconds, attoseconds) = start.duration(to: .now).components
      return Double(seconds) + Double(attoseconds) * 1e-18
    }
  }()

  /// The most that is to be taken in one piece where the taker has a choice, in bytes.
  var piece: Int { Int(min(max(rate / 20, 64), 65536)) }

  /// Takes tokens for so many bytes, or for none.
  ///
  /// - Returns: 0 when they were taken, else after how many seconds to ask again.
  func take(_ count: Int) -> Double {
    let time = now()
    return bucket.withLock { bucket in
      let gained = max(0, time - bucket.filled) * rate
      bucket.tokens = min(capacity, bucket.tokens + gained)
      bucket.filled = max(bucket.filled, time)
      guard bucket.tokens > 0 else { return max(0.001, (1 - bucket.tokens) / rate) }
      bucket.tokens -= Double(count)
      return 0
    }
  }
}
