import Foundation

/// A thread for calls that block.
package final class BackgroundThread: Sendable {
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Starts.
  package init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let hasEnded = hasEnded
    let thread = Thread {
      body()
      hasEnded.signal()
    }
    thread.name = name
    thread.start()
  }

  /// Waits for its end, up to a time limit.
  package func join(within limit: Duration) {
    _ = hasEnded.wait(timeout: .now() + .milliseconds(Int(clamping: limit.milliseconds)))
  }
}
