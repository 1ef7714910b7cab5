import Foundation

/// A value behind a lock.
///
/// A POSIX lock and not `Synchronization.Mutex`, because the thread sanitizer does not see the
/// latter's futex on Linux and reports races that are none.
package final class Guarded<Value>: @unchecked Sendable {
  // Unchecked: `value` is only touched while `lock` is held, and never handed out.
  private let lock = NSLock()
  private var value: Value

  /// Puts a value behind a new lock.
  package init(_ value: sending Value) {
    self.value = value
  }

  /// Runs a short, non-blocking body with the value while holding the lock.
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
