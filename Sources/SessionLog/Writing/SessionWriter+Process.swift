import Platform

/// Supports a process that writes its own session.
extension SessionWriter {
  /// Whether a record could be written now; false if the calling thread was interrupted while
  /// writing one.
  package func isAvailable(within limit: Duration) -> Bool { state.isAvailable(within: limit) }

  /// Prevents other threads from writing while the process forks.
  package func lockForFork() { state.lockForFork() }

  /// Allows writing again, in the parent and in the child.
  package func unlockAfterFork() { state.unlockAfterFork() }
}
