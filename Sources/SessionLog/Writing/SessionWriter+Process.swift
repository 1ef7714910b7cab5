import Platform

/// What a process needs that writes its own session.
extension SessionWriter {
  /// Whether a record could be written at this moment: not where the calling thread was interrupted
  /// while it wrote one.
  package func isAvailable(within limit: Duration) -> Bool { state.isAvailable(within: limit) }

  /// Keeps other threads from writing while the process forks.
  package func lockForFork() { state.lockForFork() }

  /// Lets them write again, in the parent and in the child.
  package func unlockAfterFork() { state.unlockAfterFork() }
}
