import Foundation
import Platform
import TestSupport

/// A process of a simulated machine: sees what it does to files and to the store, and stops all of it
/// from the moment on at which it dies, in `defer` and `catch` too.
final class SimulatedProcess: FileEffects {
  private struct State {
    /// How many effects are left to it.
    var left: Int
    var calls = 0
    var random: SeededGenerator
  }

  let name: String
  let machine: Machine
  private let disk: Disk
  private let trace: Trace
  private let state: Guarded<State>

  /// - Parameter lifetime: how many effects on files and the store it lives for; nil for any number.
  init(
    _ name: String, _ machine: Machine, _ disk: Disk, _ trace: Trace, seed: UInt64, lifetime: Int?
  ) {
    (self.name, self.machine, self.disk, self.trace) = (name, machine, disk, trace)
    state = Guarded(State(left: lifetime ?? .max, random: SeededGenerator(case: 2, seed: seed)))
  }

  /// Whether it has died.
  var isDead: Bool { state.withLock { $0.left < 0 } }

  /// Lets it die now.
  func die() { state.withLock { $0.left = -1 } }

  /// Lets it live for so many more effects; nil for any number.
  func live(for effects: Int?) { state.withLock { $0.left = effects ?? .max } }

  /// What becomes of a process at a call to the store.
  enum Turn {
    /// It lives, and the call has this number in its life.
    case lives(Int)
    /// It dies in this call.
    case dies
    /// It died before.
    case isDead
  }

  /// Takes one effect off its life.
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
    trace.note(effect, by: name, below: disk.root, result: min(0, result))
    return result
  }

  func status(_ status: FileStatus) -> FileStatus { disk.status(status) }
}

extension SimulatedProcess {
  /// Runs what a process does, one thing after the other.
  func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(self) { try await body() }
    }
  }

  /// The same for what does not wait.
  func run<Value>(_ body: () throws -> Value) rethrows -> Value {
    try Parallelism.$isSequential.withValue(true) {
      try FileEffect.$hook.withValue(self) { try body() }
    }
  }
}
