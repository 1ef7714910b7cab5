import Foundation

/// A value behind a lock: the only lock type of this package.
///
/// A POSIX lock instead of `Synchronization.Mutex`, because the thread sanitizer does not see the
/// latter's futex on Linux and reports false races. It is used like `Mutex`, with noncopyable
/// values too.
package final class Guarded<Value: ~Copyable>: @unchecked Sendable {
  // Unchecked: `value` is only accessed while `lock` is held, and results of `withLock` are sent.
  private let lock = NSLock()
  nonisolated(unsafe) private var value: Value

  /// Protects a value by a new lock.
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

  /// Whether the lock can be acquired within a time limit; never true on a thread that holds it.
  package func isAvailable(within limit: Duration) -> Bool {
    guard lock.lock(before: Date(timeIntervalSinceNow: Double(limit.milliseconds) / 1000)) else {
      return false
    }
    lock.unlock()
    return true
  }

  /// Acquires the lock before a `fork`, so that no other thread holds it in the child for ever.
  package func lockForFork() { lock.lock() }

  /// Releases it after the `fork`, in the parent and in the child.
  package func unlockAfterFork() { lock.unlock() }
}
