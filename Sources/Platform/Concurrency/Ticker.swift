import Dispatch

/// Calls a function at an interval, on a thread of the system's, until it is let go.
package final class Ticker: Sendable {
  // Only ``stop()`` touches it after it was made, and cancelling is safe from any thread.
  nonisolated(unsafe) private let source: any DispatchSourceTimer

  /// Starts.
  ///
  /// - Parameters:
  ///   - interval: time between two calls.
  ///   - body: is never called twice at once.
  package init(every interval: Duration, _ body: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "tidemark.ticker", qos: .utility)
    source = DispatchSource.makeTimerSource(queue: queue)
    let milliseconds = Int(clamping: interval.milliseconds)
    source.schedule(
      deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds),
      leeway: .milliseconds(milliseconds / 10))
    source.setEventHandler(handler: body)
    source.resume()
  }

  deinit { source.cancel() }

  /// Stops; a call that is under way goes on.
  package func stop() { source.cancel() }
}
