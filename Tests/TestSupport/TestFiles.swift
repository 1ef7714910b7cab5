import Foundation
package import Platform
import Synchronization

/// Intercepts a test's changes to files: records them, gives files the times of a test's clock, and
/// refuses everything once the process has died.
package final class TestFiles: FileEffects {
  private struct State {
    var effects: [FileEffect] = []
    var left: Int
    var random: SeededGenerator
  }

  private let state: Mutex<State>
  private let clock: TestClock?
  private let refusal: @Sendable (FileEffect) -> Int32?

  /// - Parameters:
  ///   - clock: gives files their times when they are created or written; nil for the system's.
  ///   - lifetime: number of effects that take place: all later ones fail and do nothing.
  ///   - refusal: the error number with which a change fails; nil to let it take place.
  package init(
    clock: TestClock? = nil, lifetime: Int = .max, seed: Int = 0,
    refusing refusal: @escaping @Sendable (FileEffect) -> Int32? = { _ in nil }
  ) {
    (self.clock, self.refusal) = (clock, refusal)
    state = Mutex(State(left: lifetime, random: SeededGenerator(case: seed)))
  }

  /// The changes so far, in order.
  package var effects: [FileEffect] { state.withLock(\.effects) }

  /// Whether a change was refused.
  package var isDead: Bool { state.withLock { $0.left < 0 } }

  package func perform(_ effect: FileEffect, _ body: () -> Int) -> Int {
    if let number = refusal(effect) { return -Int(number) }
    let isAlive = state.withLock { state in
      guard state.left > 0 else {
        state.left = -1
        return false
      }
      state.left -= 1
      state.effects.append(effect)
      return true
    }
    guard isAlive else { return -Int(EIO) }
    let wasThere = (try? FileStatus(effect.path)) != .some(nil)
    let result = body()
    guard result >= 0, let clock else { return result }
    switch effect.kind {
    case .open where !wasThere: set(clock, Int32(result))
    case .write, .truncate, .allocate: effect.number.map { set(clock, $0) }
    default: break
    }
    return result
  }

  package func status(_ status: FileStatus) -> FileStatus { ShiftedTime.shown(status) }

  package func random() -> UInt64 { state.withLock { $0.random.next() } }

  private func set(_ clock: TestClock, _ number: Int32) {
    let time = clock.now().milliseconds
    let spec = timespec(tv_sec: time_t(time / 1000), tv_nsec: Int(time % 1000) * 1_000_000)
    futimens(number, [spec, spec])
  }
}
