import CCurl
import Platform

/// Cancels one request from any thread.
final class CancellationHandle: Sendable {
  private struct State {
    var isCancelled = false
    /// The multi handle that currently drives the request; nil before and after.
    nonisolated(unsafe) var multi: OpaquePointer?
  }

  private let state = Guarded(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels, and wakes the worker that drives the request.
  func cancel() {
    state.withLock {
      $0.isCancelled = true
      // Under the lock, so that the handle cannot be closed in between.
      if let multi = $0.multi { _ = curl_multi_wakeup(multi) }
    }
  }

  /// Sets the handle to wake; nil when the request is over.
  func drive(with multi: OpaquePointer?) {
    state.withLock { $0.multi = multi }
  }
}
