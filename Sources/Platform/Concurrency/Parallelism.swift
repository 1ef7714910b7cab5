import Foundation

/// Whether work is spread over tasks, threads and queues.
///
/// A task-local rather than a part of ``Machine``: what can be parallel is decided far below the
/// code that knows a machine, and a simulation disables it for an actor's whole tree of tasks. Nor
/// is it the number of cores: a machine with one core still has many concurrent requests.
package enum Parallelism {
  /// Whether all work runs sequentially in the caller's task.
  ///
  /// Threads, queues and detached tasks would not inherit the task's ``FileEffects``, so none is
  /// started.
  @TaskLocal package static var isSequential = false

  /// How much work that waits for answers is in progress at once, by default.
  package static let width = 8

  /// Number of cores for parallel computation, at least 1.
  package static var cores: Int {
    isSequential ? 1 : max(1, ProcessInfo.processInfo.activeProcessorCount)
  }
}
