import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import SessionReading
import Sync
import TestSupport
import TidemarkUpload

/// Everything that a history happens to: homes, machines, clocks and the store.
final class World {
  let folder: String
  let time = SimulatedTime()
  let trace: Trace
  let store: ModelStore
  let oracle: Oracle
  var homes: [SimulatedHome] = []
  private var processes = 0
  private var lines = 0
  let seed: UInt64

  /// Makes a world in an empty folder.
  init(_ history: History, in folder: String, keepsLines: Bool = false) throws {
    self.folder = folder
    seed = history.seed
    trace = Trace(keepsLines: keepsLines)
    let kind = ModelStore.Kind(rawValue: history.store) ?? .bucket
    store = ModelStore(kind, time)
    oracle = Oracle(store, time)
    for number in 0..<max(1, history.homes) { try addHome(number) }
    store.write(FormatMarker.key, FormatMarker.content)
  }

  /// Puts the store's marker back, as `init --restore-marker` does.
  func restoreMarker() { store.write(FormatMarker.key, FormatMarker.content) }

  /// Sets the server's clock right.
  func setServerRight() { store.clockOffset.withLock { $0 = 0 } }

  func addHome(_ number: Int) throws {
    let machine = SimulatedMachine(number, time, seed: seed)
    homes.append(try SimulatedHome(number, in: "\(folder)/\(number)", machine: machine))
  }

  // MARK: Steps

  /// Carries out a step.
  func carryOut(_ step: Step) async throws {
    var random = SeededGenerator(case: 4, seed: step.seed)
    let scheduler = Scheduler(seed: step.seed)
    var actors: [@Sendable () async -> Void] = []
    for (index, action) in ([step.action] + (step.beside.map { [$0] } ?? [])).enumerated() {
      if let command = command(action, index, step, scheduler) {
        actors.append(command)
      } else {
        try happen(action, &random)
      }
    }
    await scheduler.run(actors)
  }

  private func home(_ number: Int) -> SimulatedHome { homes[number % homes.count] }

  /// The command that an action is; nil for what is none.
  private func command(
    _ action: Action, _ index: Int, _ step: Step, _ scheduler: Scheduler
  ) -> (@Sendable () async -> Void)? {
    guard let number = action.home, action.isCommand else { return nil }
    let home = home(number)
    processes += 1
    let process = SimulatedProcess(
      "p\(processes)", home.machine.startProcess(), home.disk, trace,
      seed: step.seed &+ UInt64(processes), lifetime: index == 0 ? step.death : nil)
    let client = StoreClient(
      store, process, actor: index, scheduler, time, trace,
      faults: index == 0 ? step.faults : [], seed: step.seed &+ UInt64(index))
    let command = Command(
      home: home.home, consent: home.consent, rules: home.rules, logs: home.logs,
      mirror: home.mirror, process: process, client: client, time: time, oracle: oracle)
    return { [trace, machine = home.machine] in
      do {
        let result = try await process.run { try await command.run(action) }
        trace.note("\(process.name) \(result)")
      } catch {
        trace.note("\(process.name) fails: \(error)")
      }
      process.die()
      machine.endProcess(process.machine.processId)
    }
  }

  /// What happens to programs, machines and the store.
  private func happen(_ action: Action, _ random: inout SeededGenerator) throws {
    switch action {
    case .start(let number): try start(home(number), &random)
    case .write(let number, let session, let bytes):
      guard let recorder = recorder(number, session) else { return }
      let text = text(bytes, &random)
      recorder.process.run {
        text.withUnsafeBytes { recorder.writer.capture($0, from: .standardOutput) }
        recorder.writer.tick()
      }
    case .end(let number, let session):
      guard let recorder = take(number, session) else { return }
      try? recorder.process.run { try recorder.writer.end(.exit(0)) }
      home(number).end(recorder)
    case .kill(let number, let session):
      if let recorder = take(number, session) { home(number).end(recorder) }
    case .append(let number, let file, let count):
      let home = home(number)
      let now = home.machine.now
      let lines = (0..<count).map { _ in line(now, &random) }
      try home.files[file % home.files.count].append(lines, at: now)
    case .rotate(let number, let file, let rotation):
      let home = home(number)
      try home.files[file % home.files.count].rotate(rotation, at: home.machine.now)
    case .rewrite(let number, let file):
      let home = home(number)
      try home.files[file % home.files.count].rewrite(at: home.machine.now, &random)
    case .unlink(let number, let file):
      let home = home(number)
      try File.remove(home.files[file % home.files.count].path)
    case .pass(let seconds): time.advance(seconds * 1000)
    case .step(let number, let seconds): home(number).machine.stepClock(seconds * 1000)
    case .setRight(let number): home(number).machine.setClockRight()
    case .stepServer(let seconds): store.clockOffset.withLock { $0 += seconds * 1000 }
    case .reboot(let number, let losesTime):
      home(number).endProcesses()
      time.advance(60_000)
      home(number).machine.reboot(losesTime: losesTime)
    case .cutPower(let number):
      home(number).endProcesses()
      home(number).disk.cutPower(&random)
      time.advance(60_000)
      home(number).machine.reboot(losesTime: false)
    case .snapshot(let number): try home(number).backUp()
    case .rollBack(let number, let reboots):
      guard home(number).hasBackup else { return }
      home(number).endProcesses()
      try home(number).rollBack()
      if reboots { home(number).machine.reboot(losesTime: false) }
    case .clone(let number, let keepsMachineId): try clone(home(number), keepsMachineId)
    case .lose(let number, let part): try home(number).lose(part, &random)
    case .identify(let number, let id):
      home(number).machine.identify(as: id.map { "machine-\(number)-\($0)" })
    case .consent(let number, let allowsLogs):
      try withhold(home(number))
      home(number).consent = allowsLogs ? .logs : .metadata
    case .rules(let number, let rules): home(number).rules = Self.rules(rules)
    case .unmount: if store.kind == .folder { store.unmount() }
    case .mount: store.mount()
    case .empty: store.empty()
    case .remove(let object):
      let keys = store.stored.keys.filter { $0 != FormatMarker.key }.sorted()
      if !keys.isEmpty { store.remove(keys[object % keys.count]) }
    case .forge(let object, let forgery): forge(object, forgery, &random)
    case .upload, .reap, .reapWithoutStore, .pull, .repair, .redact, .delete, .read: break
    }
  }

  /// Lines that were there while logs were not allowed may stay where they are for good: of a session
  /// that has ended, what was said last counts.
  func withhold(_ home: SimulatedHome) throws {
    guard home.consent == .metadata else { return }
    for name in try Directory.names(in: home.logs) {
      oracle.retire(LineNumber.all(in: try AtomicFile.read("\(home.logs)/\(name)")))
    }
  }

  // MARK: Programs

  private func start(_ home: SimulatedHome, _ random: inout SeededGenerator) throws {
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
    oracle.begin(writer.session, written)
    home.recorders.append(.init(writer: writer, process: process))
  }

  private func recorder(_ number: Int, _ session: Int) -> SimulatedHome.Recorder? {
    let recorders = home(number).recorders
    return recorders.isEmpty ? nil : recorders[session % recorders.count]
  }

  private func take(_ number: Int, _ session: Int) -> SimulatedHome.Recorder? {
    let home = home(number)
    guard !home.recorders.isEmpty else { return nil }
    return home.recorders.remove(at: session % home.recorders.count)
  }

  private func text(_ bytes: Int, _ random: inout SeededGenerator) -> [UInt8] {
    var text: [UInt8] = []
    while text.count < bytes {
      text += Self.words(&random)
      if Int.random(in: 0..<8, using: &random) == 0 {
        text += Array(" https://me:".utf8) + Self.secret(&random) + Array("@host/".utf8)
      }
      text.append(0x0a)
    }
    // A program need not end its line.
    return Int.random(in: 0..<4, using: &random) == 0 ? text.dropLast(2) : text
  }

  private static func words(_ random: inout SeededGenerator) -> [UInt8] {
    let count = Int.random(in: 10...70, using: &random)
    return (0..<count).map { _ in UInt8.random(in: 0x61...0x7a, using: &random) }
  }

  private static func secret(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<12).map { _ in UInt8.random(in: 0x41...0x5a, using: &random) }
  }

  private func line(_ time: Timestamp, _ random: inout SeededGenerator) -> ForeignFile.Line {
    lines += 1
    return Array("\(time) INFO ".utf8) + LineNumber.text(lines) + [0x20] + Self.words(&random)
      + [0x78, 0x0a]
  }

  // MARK: The world

  private func clone(_ home: SimulatedHome, _ keepsMachineId: Bool) throws {
    guard homes.count < 4, File.exists(home.home.path) else { return }
    let number = homes.count
    try addHome(number)
    if keepsMachineId { homes[number].machine.identify(as: "machine-m\(home.number)") }
    try SimulatedHome.copy(home.home.path, to: homes[number].home.path)
  }

  static func rules(_ number: Int) -> RedactionRules {
    let letters = try? RedactionRule(kind: "letters", near: "xyz", pattern: "xyz")
    return switch number % 3 {
    case 0: RedactionRules()
    case 1: RedactionRules(groups: [])
    default: RedactionRules(own: [letters].compactMap(\.self))
    }
  }

  /// Writes what another vendor's client might.
  private func forge(_ object: Int, _ forgery: Action.Forgery, _ random: inout SeededGenerator) {
    let stored = store.stored.filter { $0.key.hasSuffix(".zst") }.sorted { $0.key < $1.key }
    guard !stored.isEmpty else { return }
    let (key, content) = stored[object % stored.count]
    switch forgery {
    case .foreign:
      let length = Int.random(in: 0...content.bytes.count, using: &random)
      store.write(key + ".tmp", Array(content.bytes.prefix(length)))
    case .otherSize:
      let size = content.bytes.count
      store.write(
        key.replacing(".\(size).", with: ".\(size + 1)."), content.bytes + [0])
    }
  }
}

extension Action {
  /// The home that it happens to; nil where it happens to none.
  var home: Int? {
    switch self {
    case .start(let home), .write(let home, _, _), .end(let home, _), .kill(let home, _),
      .append(let home, _, _), .rotate(let home, _, _), .rewrite(let home, _),
      .unlink(let home, _), .upload(let home), .reap(let home, _, _), .reapWithoutStore(let home),
      .pull(let home), .repair(let home), .redact(let home), .delete(let home, _, _, _),
      .read(let home, _), .step(let home, _), .setRight(let home), .reboot(let home, _),
      .cutPower(let home), .snapshot(let home), .rollBack(let home, _), .clone(let home, _),
      .lose(let home, _), .identify(let home, _), .consent(let home, _), .rules(let home, _):
      home
    case .pass, .stepServer, .unmount, .mount, .empty, .remove, .forge: nil
    }
  }

  /// Whether it is a command of the product, which the oracle judges.
  var isCommand: Bool {
    switch self {
    case .upload, .reap, .reapWithoutStore, .pull, .repair, .redact, .delete, .read: true
    default: false
    }
  }
}
