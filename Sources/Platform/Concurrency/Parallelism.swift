import Foundation

/// Whether work is spread over tasks, threads and queues.
///
/// A task-local and not a part of ``Machine``: what can be spread is decided deep below those who
/// know a machine, and a simulation switches it off for the whole tree of an actor's tasks. It is
/// not the number of cores either: a machine with one core still has many requests under way.
package enum Parallelism {
  /// Whether all work runs in the caller's task, one piece after the other.
  ///
  /// Threads, queues and detached tasks would not inherit the task's ``FileEffects``, so none is
  /// started.
  @TaskLocal package static var isSequential = false

  /// Cores that computing may be spread over, at least 1.
  package static var cores: Int {
    isSequential ? 1 : max(1, ProcessInfo.processInfo.activeProcessorCount)
  }
}
