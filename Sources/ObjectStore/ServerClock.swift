package import Foundation
import Synchronization

/// How far a server's clock is ahead of ours, learned from the dates of its answers.
///
/// A date tells the second in which the server answered, and that was between asking and hearing; of
/// servers that look at their clock once a second, such as lighttpd, it may be the second before. So
/// each answer bounds the difference, and all of them together bound it closer.
package final class ServerClock: Sendable {
  private let bounds = Mutex<ClosedRange<Int64>?>(nil)

  /// Knows nothing yet.
  package init() {}

  /// Notes an answer.
  ///
  /// - Parameters:
  ///   - date: what it said, whole seconds.
  ///   - sent: when it was asked for, by our clock, in milliseconds since 1970.
  ///   - received: when it came.
  package func note(_ date: Date, sent: Int64, received: Int64) {
    let server = Int64((date.timeIntervalSince1970 * 1000).rounded(.down))
    guard sent <= received else { return }
    let new = server - received...server + 1999 - sent
    bounds.withLock { bounds in
      guard let known = bounds, known.overlaps(new) else {
        // One of the clocks was set: what held before says nothing any more.
        bounds = new
        return
      }
      bounds = known.clamped(to: new)
    }
  }

  /// Milliseconds to add to our clock for the server's; nil while nothing is known, 0 as long as
  /// the answers do not show a difference.
  package var offset: Int64? {
    bounds.withLock { bounds in
      bounds.map { $0.contains(0) ? 0 : ($0.lowerBound + $0.upperBound) / 2 }
    }
  }
}
