package import Platform

/// How far a server's clock is ahead of ours, learned from the dates of its answers.
///
/// A date gives the second of the answer, which lies between request and receipt; servers that read
/// their clock once a second, such as lighttpd, may give the second before. So each answer bounds
/// the difference, and all together bound it more closely.
package final class ServerClock: Sendable {
  /// The least and the largest difference that the answers leave possible.
  private struct Bounds {
    let lower: Duration
    let upper: Duration

    func contains(_ offset: Duration) -> Bool { lower <= offset && offset <= upper }

    func overlaps(_ other: Bounds) -> Bool { lower <= other.upper && other.lower <= upper }

    func clamped(to other: Bounds) -> Bounds {
      Bounds(lower: max(lower, other.lower), upper: min(upper, other.upper))
    }
  }

  private let bounds = Guarded<Bounds?>(nil)

  /// Starts without knowledge.
  package init() {}

  /// Records an answer.
  ///
  /// - Parameters:
  ///   - date: its date, in whole seconds.
  ///   - sent: when the request was sent, by our clock.
  ///   - received: when the answer came.
  package func record(_ date: ServerTime, sent: Timestamp, received: Timestamp) {
    guard sent <= received else { return }
    let latest = date + .milliseconds(1999)
    let new = Bounds(lower: date.offset(from: received), upper: latest.offset(from: sent))
    bounds.withLock { bounds in
      guard let known = bounds, known.overlaps(new) else {
        // One of the clocks was set: earlier bounds no longer hold.
        bounds = new
        return
      }
      bounds = known.clamped(to: new)
    }
  }

  /// How far the server's clock is ahead of ours; nil if unknown, zero as long as the answers show
  /// no difference.
  package var offset: Duration? {
    bounds.withLock { bounds in
      bounds.map { $0.contains(.zero) ? .zero : ($0.lower + $0.upper) / 2 }
    }
  }
}
