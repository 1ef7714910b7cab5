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

  /// Whether the lock can be had within a time; a thread that holds it itself never can.
  package func isAvailable(within limit: Duration) -> Bool {
    guard lock.lock(before: Date(timeIntervalSinceNow: Double(limit.milliseconds) / 1000)) else {
      return false
    }
    lock.unlock()
    return true
  }

  /// Takes the lock before a `fork`, so that no other thread holds it in the child for ever.
  package func lockForFork() { lock.lock() }

  /// Releases it after the `fork`, in the parent and in the child.
  package func unlockAfterFork() { lock.unlock() }
}
