/// An amount of something that tasks share and return, as bytes of memory for objects on their way.
///
/// Whoever asks first is served first: who needs much is not overtaken for ever by those who need
/// little. A task that holds some must not ask for more.
package final class WeightedSemaphore: Sendable {
  private struct State {
    var free: Int
    var waiting: [(amount: Int, task: CheckedContinuation<Void, Never>)] = []
  }

  private let capacity: Int
  private let state: Guarded<State>

  /// Makes a semaphore of which nothing is taken.
  package init(_ capacity: Int) {
    self.capacity = capacity
    state = Guarded(State(free: capacity))
  }

  /// How many tasks wait.
  package var waiting: Int { state.withLock(\.waiting.count) }

  /// What a task holds of a semaphore while it works.
  package final class Share {
    private(set) var amount: Int
    private let semaphore: WeightedSemaphore

    fileprivate init(_ amount: Int, of semaphore: WeightedSemaphore) {
      self.amount = amount
      self.semaphore = semaphore
    }

    /// Returns what is not needed.
    package func shrink(to amount: Int) {
      guard amount < self.amount else { return }
      semaphore.give(self.amount - amount)
      self.amount = amount
    }
  }

  /// Works as soon as enough is free.
  ///
  /// - Parameters:
  ///   - amount: how much it takes; one that is larger than the capacity takes all of it.
  ///   - work: gets what it holds, and may return some of it early.
  package func hold<Result>(
    _ amount: Int, _ work: (Share) async throws -> Result
  ) async rethrows -> Result {
    let share = Share(min(max(0, amount), capacity), of: self)
    await take(share.amount)
    defer { share.shrink(to: 0) }
    return try await work(share)
  }

  private func take(_ amount: Int) async {
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
