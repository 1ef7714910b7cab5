import Foundation

/// A value behind a lock: the one lock of this package.
///
/// A POSIX lock and not `Synchronization.Mutex`, because the thread sanitizer does not see the
/// latter's futex on Linux and reports races that do not exist. It is used like `Mutex`, with
/// noncopyable values too.
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
  // Unchecked: `value` is only touched while `lock` is held, and what leaves `withLock` is sent.
  private let lock = NSLock()
  nonisolated(unsafe) private var value: Value

  /// Puts a value behind a new lock.
  package init(_ value: consuming sending Value) {
    self.value = value
  }

  /// Runs a short, non-blocking body with the value while holding the lock.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
