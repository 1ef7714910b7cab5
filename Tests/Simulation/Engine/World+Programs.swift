import Platform
import SessionLog
import TestSupport

/// Recorders.
extension World {
  func start(_ home: SimulatedHome, _ random: inout SeededGenerator) throws {
    guard home.recorders.count < 3 else { return }
    processes += 1
    let process = SimulatedProcess(
      "p\(processes)", home.machine.startProcess(), home.disk, trace,
      seed: seed &+ UInt64(processes), lifetime: nil)
    let written = oracle.newStream()
    let syncs = Bool.random(using: &random)
    let writer = try? process.run {
      try home.home.create()
      let device = try Device.load(home.home, on: process.machine)
      var options = RecordingOptions()
      options.fsync = syncs ? .always : .interval(.seconds(1))
      options.rotateAt = 4096
      return try SessionWriter(
        home: home.home, device: device, appName: "app", options: options, machine: process.machine
      ) { number, bytes in
        let count = systemWrite(number, bytes)
        if count > 0 { written.withLock { $0 += bytes.prefix(count) } }
        return count
      }
    }
    guard let writer else { return home.machine.endProcess(process.machine.processId) }
    oracle.begin(writer.session, written, isWithheld: home.consent == .metadata)
    home.recorders.append(.init(writer: writer, process: process))
  }

  func recorder(_ number: Int, _ session: Int) -> SimulatedHome.Recorder? {
    let recorders = home(number).recorders
    return recorders.isEmpty ? nil : recorders[session % recorders.count]
  }

  func take(_ number: Int, _ session: Int) -> SimulatedHome.Recorder? {
    let home = home(number)
    guard !home.recorders.isEmpty else { return nil }
    return home.recorders.remove(at: session % home.recorders.count)
  }
}
