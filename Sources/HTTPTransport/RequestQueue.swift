import Foundation

/// The requests waiting for a worker, and the number of workers.
final class RequestQueue: @unchecked Sendable {
  // Unchecked: every variable is only accessed while `condition` is locked.
  /// One request, and the continuation that waits for its answer.
  struct Job {
    let request: HTTPRequest
    let handle: CancellationHandle
    let continuation: CheckedContinuation<HTTPResponse, any Error>
  }

  private let condition = NSCondition()
  private var waiting: [Job] = []
  private var running: [CancellationHandle] = []
  private var workers = 0
  private var idle = 0
  private var isClosed = false

  /// Adds a job; calls `startWorker` if none is free and there are fewer than `limit`.
  func add(_ job: Job, limit: Int, startWorker: () -> Void) {
    condition.lock()
    if isClosed || job.handle.isCancelled {
      condition.unlock()
      job.continuation.resume(throwing: TransportError(.cancelled, "the request was cancelled"))
      return
    }
    waiting.append(job)
    if waiting.count > idle, workers < limit {
      workers += 1
      startWorker()
    }
    condition.signal()
    condition.unlock()
  }

  /// Waits for the next job; nil if the queue is closed.
  ///
  /// For workers; blocks the thread.
  func next() -> Job? {
    condition.lock()
    defer { condition.unlock() }
    idle += 1
    while waiting.isEmpty, !isClosed { condition.wait() }
    idle -= 1
    guard !isClosed else { return nil }
    let job = waiting.removeFirst()
    running.append(job.handle)
    return job
  }

  /// Records that a worker has finished a job.
  func finished(_ handle: CancellationHandle) {
    condition.lock()
    running.removeAll { $0 === handle }
    condition.unlock()
  }

  /// Removes a waiting job and fails it as cancelled; a running one is cancelled by its handle.
  func cancel(_ handle: CancellationHandle) {
    condition.lock()
    let index = waiting.firstIndex { $0.handle === handle }
    let job = index.map { waiting.remove(at: $0) }
    condition.unlock()
    job?.continuation.resume(throwing: TransportError(.cancelled, "the request was cancelled"))
  }

  /// Ends the workers; cancels waiting and running jobs.
  func close() {
    condition.lock()
    isClosed = true
    let jobs = waiting
    let handles = running
    waiting = []
    condition.broadcast()
    condition.unlock()
    for handle in handles { handle.cancel() }
    for job in jobs {
      job.continuation.resume(throwing: TransportError(.cancelled, "the transport was shut down"))
    }
  }
}
