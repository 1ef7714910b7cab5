import Dispatch

/// Calls a function at an interval, on a thread of its own, until it is deinitialized.
///
/// Not a timer of Dispatch: where a process has no descriptor left for it, that ends the process.
package final class Ticker: Sendable {
  private let isStopped = DispatchSemaphore(value: 0)

  /// Starts.
  ///
  /// - Parameters:
  ///   - interval: time between two calls.
  ///   - body: never called concurrently.
  package init(every interval: Duration, _ body: @escaping @Sendable () -> Void) {
    let pause = DispatchTimeInterval.milliseconds(Int(clamping: interval.milliseconds))
    _ = BackgroundThread("ticker") { [isStopped] in
      while isStopped.wait(timeout: .now() + pause) == .timedOut { body() }
    }
  }

  deinit { stop() }

  /// Stops; a call in progress continues.
  package func stop() { isStopped.signal() }
}
