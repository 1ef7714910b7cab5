import Platform
import TestSupport

/// Schedules the actors of a step: each runs until it calls the store, and the seed decides whose
/// call is answered next.
///
/// One actor runs at a time, so that a history depends only on its seed.
final class Scheduler: Sendable {
  private struct State {
    var random: SeededGenerator
    var waiting: [(actor: Int, turn: CheckedContinuation<Void, Never>)] = []
    /// Wakes the driver once the running actor waits or has ended.
    var driver: CheckedContinuation<Void, Never>?
    /// Whether there are several actors.
    var isShared = false
  }

  private let state: Guarded<State>

  init(seed: UInt64) { state = Guarded(State(random: SeededGenerator(case: 0, seed: seed))) }

  /// Runs actors to their end.
  func run(_ actors: [@Sendable () async -> Void]) async {
    guard actors.count > 1 else {
      for actor in actors { await actor() }
      return
    }
    state.withLock { $0.isShared = true }
    defer { state.withLock { $0.isShared = false } }
    await withTaskGroup(of: Void.self) { group in
      for actor in actors {
        await handOver {
          group.addTask {
            await actor()
            self.pause()
          }
        }
      }
      while let turn = state.withLock({ next(&$0) }) { await handOver { turn.resume() } }
      await group.waitForAll()
    }
  }

  /// Waits for this actor's turn; a single actor never waits.
  func turn(of actor: Int) async {
    guard state.withLock({ $0.isShared }) else { return }
    await withCheckedContinuation { turn in
      state.withLock { $0.waiting.append((actor, turn)) }
      pause()
    }
  }

  private func next(_ state: inout State) -> CheckedContinuation<Void, Never>? {
    guard !state.waiting.isEmpty else { return nil }
    state.waiting.sort { $0.actor < $1.actor }
    return state.waiting.remove(at: Int.random(in: state.waiting.indices, using: &state.random))
      .turn
  }

  /// Runs an actor until it waits or ends.
  private func handOver(_ start: () -> Void) async {
    await withCheckedContinuation { driver in
      state.withLock { $0.driver = driver }
      start()
    }
  }

  private func pause() {
    let driver = state.withLock { state in
      defer { state.driver = nil }
      return state.driver
    }
    driver?.resume()
  }
}
