import Foundation
import Platform
import TestSupport

/// A process of a simulated machine: sees its effects on files and on the store, and prevents all
/// of them once it has died, in `defer` and `catch` too.
final class SimulatedProcess: FileEffects {
  private struct State {
    /// Number of effects until it dies.
    var left: Int
    var calls = 0
    var random: SeededGenerator
  }

  let name: String
  let machine: Machine
  private let disk: Disk
  private let trace: Trace
  private let state: Guarded<State>

  /// - Parameter lifetime: number of effects on files and the store until it dies; nil for no
  ///   limit.
  init(
    _ name: String, _ machine: Machine, _ disk: Disk, _ trace: Trace, seed: UInt64, lifetime: Int?
  ) {
    (self.name, self.machine, self.disk, self.trace) = (name, machine, disk, trace)
    state = Guarded(State(left: lifetime ?? .max, random: SeededGenerator(case: 2, seed: seed)))
  }

  /// Whether it has died.
  var isDead: Bool { state.withLock { $0.left < 0 } }

  /// Makes it die now.
  func die() { state.withLock { $0.left = -1 } }

  /// Lets it live for this number of further effects; nil for no limit.
  func live(for effects: Int?) { state.withLock { $0.left = effects ?? .max } }

  /// The fate of a process at a call to the store.
  enum Turn {
    /// It lives; the call has this index in its life.
    case lives(Int)
    /// It dies in this call.
    case dies
    /// It died before.
    case isDead
  }

  /// Counts one effect.
  func beginCall() -> Turn {
    state.withLock { state in
      let wasDead = state.left < 0
      guard Self.spend(&state) else { return wasDead ? .isDead : .dies }
      defer { state.calls += 1 }
      return .lives(state.calls)
    }
  }

  private static func spend(_ state: inout State) -> Bool {
    guard state.left > 0 else {
      state.left = -1
      return false
    }
    state.left -= 1
    return true
  }

  func random() -> UInt64 { state.withLock { $0.random.next() } }

  func perform(_ effect: FileEffect, _ body: () -> Int) -> Int {
    guard state.withLock({ Self.spend(&$0) }) else { return -Int(EIO) }
    let result = disk.perform(effect, at: machine.now(), body)
    trace.record(effect, by: name, below: disk.root, result: min(0, result))
    return result
  }

  func status(_ status: FileStatus) -> FileStatus { disk.status(status) }
}

extension SimulatedProcess {
  /// Runs a process's asynchronous work.
  func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(self) { try await body() }
    }
  }

  /// Runs a process's synchronous work.
  func run<Value>(_ body: () throws -> Value) rethrows -> Value {
    try Parallelism.$isSequential.withValue(true) {
      try FileEffect.$hook.withValue(self) { try body() }
    }
  }
}
