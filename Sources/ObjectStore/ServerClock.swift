package import Platform

/// How far a server's clock is ahead of ours, learned from the dates of its answers.
///
/// A date tells the second in which the server answered, and that was between asking and hearing; of
/// servers that look at their clock once a second, such as lighttpd, it may be the second before. So
/// each answer bounds the difference, and all of them together bound it closer.
package final class ServerClock: Sendable {
  private let bounds = Guarded<ClosedRange<Duration>?>(nil)

  /// Knows nothing yet.
  package init() {}

  /// Notes an answer.
  ///
  /// - Parameters:
  ///   - date: what it said, whole seconds.
  ///   - sent: when it was asked for, by our clock.
  ///   - received: when it came.
  package func note(_ date: ServerTime, sent: Timestamp, received: Timestamp) {
    guard sent <= received else { return }
    let latest = date + .milliseconds(1999)
    let new = date.offset(from: received)...latest.offset(from: sent)
    bounds.withLock { bounds in
      guard let known = bounds, known.overlaps(new) else {
        // One of the clocks was set: what held before says nothing any more.
        bounds = new
        return
      }
      bounds = known.clamped(to: new)
    }
  }

  /// How far the server's clock is ahead of ours; nil while nothing is known, zero as long as the
  /// answers do not show a difference.
  package var offset: Duration? {
    bounds.withLock { bounds in
      bounds.map { $0.contains(.zero) ? .zero : ($0.lowerBound + $0.upperBound) / 2 }
    }
  }
}
