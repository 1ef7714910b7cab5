import Platform
import SessionLog
import TestSupport

/// A machine: its clocks, its identity and its processes.
final class SimulatedMachine: Sendable {
  private struct State {
    /// How far the wall clock is ahead of real time.
    var offset: Int64 = 0
    /// Whether the wall clock was ever wrong.
    var hasErred = false
    var bootedAt: Int64
    var boots = 1
    /// The times of its restarts, in real time.
    var restarts: [Int64] = []
    var machineId: String?
    var processes: Set<Int32> = []
    var nextProcess: Int32 = 100
    var random: SeededGenerator
  }

  private let time: SimulatedTime
  private let name: String
  private let state: Guarded<State>

  init(_ number: Int, _ time: SimulatedTime, seed: UInt64) {
    (self.time, name) = (time, "m\(number)")
    state = Guarded(
      State(
        bootedAt: time.milliseconds - 3_600_000, machineId: "machine-\(name)",
        random: SeededGenerator(case: 100 + number, seed: seed)))
  }

  /// The wall clock's time.
  var now: Timestamp { Timestamp(milliseconds: time.milliseconds + state.withLock { $0.offset }) }

  /// Sets the wall clock, at the earliest to 1970.
  func stepClock(_ milliseconds: Int64) {
    state.withLock { state in
      state.offset = max(state.offset + milliseconds, -time.milliseconds)
      state.hasErred = true
    }
  }

  /// Corrects the wall clock.
  func setClockRight() { state.withLock { $0.offset = 0 } }

  /// Ends all processes and begins a new boot.
  ///
  /// - Parameter losesTime: whether the clock has no battery, and starts in 1970.
  func reboot(losesTime: Bool) {
    state.withLock { state in
      state.processes = []
      state.boots += 1
      state.restarts.append(time.milliseconds)
      state.bootedAt = time.milliseconds
      if losesTime { (state.offset, state.hasErred) = (-time.milliseconds, true) }
    }
  }

  /// Whether the wall clock was ever wrong.
  var hasErred: Bool { state.withLock(\.hasErred) }

  /// Number of restarts since a time, in milliseconds of real time.
  func restarts(since time: Int64) -> Int {
    state.withLock { $0.restarts.count { $0 >= time } }
  }

  /// Gives the machine another id, or none.
  func identify(as id: String?) { state.withLock { $0.machineId = id } }

  /// 64 random bits.
  func random() -> UInt64 { state.withLock { $0.random.next() } }

  /// The machine as seen by a new process.
  func startProcess() -> Machine {
    let (pid, boots, id) = state.withLock { state in
      state.nextProcess += 1
      state.processes.insert(state.nextProcess)
      return (state.nextProcess, state.boots, state.machineId)
    }
    return Machine(
      now: { self.now },
      uptime: { .milliseconds(self.time.milliseconds - self.state.withLock { $0.bootedAt }) },
      bootId: "\(name)-boot-\(boots)", machineId: id, pidNamespace: "namespace-\(name)",
      processId: pid,
      processStart: { pid in self.state.withLock { $0.processes.contains(pid) } ? UInt64(pid) : nil
      },
      memoryEvents: nil,
      host: { Host(name: self.name, model: nil, system: "simulated") },
      random: { self.random() })
  }

  /// Ends a process.
  func endProcess(_ pid: Int32) { state.withLock { _ = $0.processes.remove(pid) } }
}
