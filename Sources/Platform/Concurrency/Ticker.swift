import Dispatch

/// Calls a function at an interval, on a system thread, until it is deinitialized.
package final class Ticker: Sendable {
  // Accessed only by ``stop()`` after creation, and cancelling is safe from any thread.
  nonisolated(unsafe) private let source: any DispatchSourceTimer

  /// Starts.
  ///
  /// - Parameters:
  ///   - interval: time between calls.
  ///   - body: never called concurrently.
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

  /// Stops; a call in progress continues.
  package func stop() { source.cancel() }
}
