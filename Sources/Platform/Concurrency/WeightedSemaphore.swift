/// A limited amount of a resource that tasks acquire and return, such as memory for objects in
/// transfer.
///
/// Requests are served in order of arrival, so that small ones cannot starve a large one. A task
/// that holds a share must not request another.
package final class WeightedSemaphore: Sendable {
  private struct State {
    var free: Int
    var waiting: [(amount: Int, task: CheckedContinuation<Void, Never>)] = []
  }

  private let capacity: Int
  private let state: Guarded<State>

  /// Creates a semaphore with all of its capacity free.
  package init(_ capacity: Int) {
    self.capacity = capacity
    state = Guarded(State(free: capacity))
  }

  /// The number of waiting tasks.
  package var waiting: Int { state.withLock(\.waiting.count) }

  /// The amount that a task holds while it works.
  package final class Share {
    private(set) var amount: Int
    private let semaphore: WeightedSemaphore

    fileprivate init(_ amount: Int, of semaphore: WeightedSemaphore) {
      self.amount = amount
      self.semaphore = semaphore
    }

    /// Returns everything above an amount.
    package func shrink(to amount: Int) {
      guard amount < self.amount else { return }
      semaphore.give(self.amount - amount)
      self.amount = amount
    }
  }

  /// Waits until enough is free, then runs the work.
  ///
  /// - Parameters:
  ///   - amount: the amount to acquire, at most the capacity.
  ///   - work: receives its share, and may return parts of it early.
  package func withUnits<Result>(
    _ amount: Int, _ work: (Share) async throws -> Result
  ) async rethrows -> Result {
    let share = Share(min(max(0, amount), capacity), of: self)
    await acquire(share.amount)
    defer { share.shrink(to: 0) }
    return try await work(share)
  }

  private func acquire(_ amount: Int) async {
    await withCheckedContinuation { task in
      let isFree = state.withLock { state in
        guard state.waiting.isEmpty, amount <= state.free else {
          state.waiting.append((amount, task))
          return false
        }
        state.free -= amount
        return true
      }
      if isFree { task.resume() }
    }
  }

  private func give(_ amount: Int) {
    let served = state.withLock { state in
      state.free += amount
      var served: [CheckedContinuation<Void, Never>] = []
      while let first = state.waiting.first, first.amount <= state.free {
        state.free -= first.amount
        served.append(first.task)
        state.waiting.removeFirst()
      }
      return served
    }
    for task in served { task.resume() }
  }
}
