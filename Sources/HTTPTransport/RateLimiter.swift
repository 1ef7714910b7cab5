import Platform

/// A limit of bytes per second shared by many transfers: a token bucket that may be overdrawn.
///
/// A transfer that finds tokens takes all it needs at once, and then all transfers wait until the
/// debt is paid: so no piece has to be split, and size gives no advantage.
package final class RateLimiter: Sendable {
  /// A moment, in seconds of a monotonic clock.
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
  ///   - bytesPerSecond: The limit, at least 1.
  ///   - now: The clock.
  package init(bytesPerSecond: Int64, now: @escaping Clock = RateLimiter.monotonic) {
    rate = Double(max(1, bytesPerSecond))
    // Allow a tenth of a second's worth at once: more would show as bursts.
    capacity = max(1, rate / 10)
    self.now = now
    bucket = Guarded(Bucket(tokens: max(1, rate / 10), filled: now()))
  }

  /// Seconds since the first use.
  package static let monotonic: Clock = {
    let start = ContinuousClock.now
    return {
      let (seconds, attoseconds) = start.duration(to: .now).components
      return Double(seconds) + Double(attoseconds) * 1e-18
    }
  }()

  /// Maximum size of a piece, in bytes, when the transfer can choose.
  var piece: Int { Int(min(max(rate / 20, 64), 65536)) }

  /// Acquires tokens for this many bytes, all or none.
  ///
  /// - Returns: 0 if they were acquired, else the seconds after which to try again.
  func acquire(_ count: Int) -> Double {
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
