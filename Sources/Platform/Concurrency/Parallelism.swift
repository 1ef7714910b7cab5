import Foundation

/// Whether work is spread over tasks, threads and queues.
///
/// A task-local and not a part of ``Machine``: what can be spread is decided deep below those who
/// know a machine, and a simulation switches it off for the whole tree of an actor's tasks. It is
/// not the number of cores either: a machine with one core still has many requests under way.
package enum Parallelism {
  /// Whether everything is done one after the other, in the task of the caller: no thread, no queue
  /// and no task of its own is started, none of which would follow the task's ``FileEffects``.
  @TaskLocal package static var isSequential = false

  /// Cores that computing may be spread over, at least 1.
  package static var cores: Int {
    isSequential ? 1 : max(1, ProcessInfo.processInfo.activeProcessorCount)
  }
}
