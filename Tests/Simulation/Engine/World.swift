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

/// The world of a history: homes, machines, clocks and the store.
final class World {
  let folder: String
  let time = SimulatedTime()
  let trace: Trace
  let store: ModelStore
  let oracle: Oracle
  var homes: [SimulatedHome] = []
  var processes = 0
  /// Whether somebody has deleted objects: no upload sends a sealed session again by itself.
  private(set) var lacksObjects = false
  /// Number of lines that other programs have written.
  var lines = 0
  let seed: UInt64
  let habits: LogHabits

  /// Makes a world in an empty folder.
  init(_ history: History, in folder: String, keepsLines: Bool = false) throws {
    self.folder = folder
    (seed, habits) = (history.seed, history.habits)
    trace = Trace(keepsLines: keepsLines)
    let kind = ModelStore.Kind(rawValue: history.store) ?? .bucket
    store = ModelStore(kind, time)
    oracle = Oracle(store, time)
    for number in 0..<max(1, history.homes) {
      try addHome(number, besides: history.isShared ? homes.first : nil)
    }
    store.write(FormatMarker.key, FormatMarker.content)
  }

  /// Restores the store's marker, like `init --restore-marker`.
  func restoreMarker() { store.write(FormatMarker.key, FormatMarker.content) }

  /// Corrects the server's clock.
  func setServerRight() { store.clockOffset.withLock { $0 = 0 } }

  /// Makes a home, on a machine of its own or on another one's.
  func addHome(_ number: Int, besides other: SimulatedHome? = nil) throws {
    let root = "\(folder)/\(number)"
    homes.append(
      try SimulatedHome(
        number, habits, in: other.map { "\($0.disk.root)/\(number)" } ?? root,
        machine: other?.machine ?? SimulatedMachine(number, time, seed: seed),
        disk: other?.disk ?? Disk(root: root)))
  }

  /// The homes on a home's machine.
  func neighbours(of home: SimulatedHome) -> [SimulatedHome] {
    homes.filter { $0.machine === home.machine }
  }

  /// The homes that an action may change.
  func homes(of action: Action) -> [SimulatedHome] {
    guard let number = action.home else { return [] }
    if case .round = action { return neighbours(of: home(number)) }
    return [home(number)]
  }

  private func endProcesses(besides home: SimulatedHome) {
    for home in neighbours(of: home) { home.endProcesses() }
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
        try happen(action, death: index == 0 ? step.death : nil, &random)
      }
    }
    await scheduler.run(actors)
  }

  func home(_ number: Int) -> SimulatedHome { homes[number % homes.count] }

  /// Whether age alone may decide about local copies: where no log leaves, and where none is to.
  private func mayAge(_ home: SimulatedHome, under action: Action) -> Bool {
    guard case .reapWithoutStore = action else { return home.consent == .metadata }
    return !oracle.users.contains(home.home.path)
  }

  /// The command that an action is; nil for what is none.
  private func command(
    _ action: Action, _ index: Int, _ step: Step, _ scheduler: Scheduler
  ) -> (@Sendable () async -> Void)? {
    guard let number = action.home, action.isCommand else { return nil }
    let home = home(number)
    for home in homes(of: action) where mayAge(home, under: action) {
      oracle.letAge((try? home.home.sessions()) ?? [])
      try? retireUnpacked(in: home)
    }
    for home in homes(of: action) {
      if home.consent == .metadata {
        oracle.recordWithholding(in: home.home)
      } else if oracle.mayWithhold(home.home) {
        try? retireEnded(home)
      }
    }
    processes += 1
    let process = SimulatedProcess(
      "p\(processes)", home.machine.startProcess(), home.disk, trace,
      seed: step.seed &+ UInt64(processes), lifetime: index == 0 ? step.death : nil)
    let client = StoreClient(
      store, process, actor: index, scheduler, time, trace, oracle,
      faults: index == 0 ? step.faults : [], seed: step.seed &+ UInt64(index))
    func command(of home: SimulatedHome) -> Command {
      Command(
        home: home.home, consent: home.consent, rules: home.rules, retention: home.retention,
        logs: home.logs, pattern: home.pattern, mirror: home.mirror, process: process,
        client: client, time: time, oracle: oracle)
    }
    let command = command(of: home)
    var others: [Command]?
    if case .round = action {
      others = neighbours(of: home).filter { $0 !== home }.map(command(of:))
    }
    return { [trace, others, machine = home.machine] in
      do {
        let result = try await process.run {
          if let others { return try await Command.upload(from: command, and: others) }
          return try await command.run(action)
        }
        trace.record("\(process.name) \(result)")
      } catch {
        trace.record("\(process.name) fails: \(error)")
      }
      process.die()
      machine.endProcess(process.machine.processId)
    }
  }

  /// Carries out events of programs, machines and the store.
  private func happen(
    _ action: Action, death: Int?, _ random: inout SeededGenerator
  ) throws {
    if action.isTampering { oracle.recordTampering() }
    switch action {
    case .start(let number): try start(home(number), &random)
    case .write(let number, let session, let bytes):
      guard let recorder = recorder(number, session) else { return }
      let room = Self.longestLog - (oracle.written(recorder.writer.session)?.count ?? 0)
      let text = text(min(bytes, room), &random)
      recorder.process.live(for: death)
      recorder.process.run {
        text.withUnsafeBytes { recorder.writer.capture($0, from: .standardOutput) }
        recorder.writer.tick()
      }
      guard recorder.process.isDead else { return recorder.process.live(for: nil) }
      if let recorder = take(number, session) { home(number).end(recorder) }
    case .end(let number, let session):
      guard let recorder = take(number, session) else { return }
      try? recorder.process.run { try recorder.writer.end(.exit(0)) }
      home(number).end(recorder)
    case .kill(let number, let session):
      if let recorder = take(number, session) { home(number).end(recorder) }
    case .append(let number, let file, let count):
      try append(count, to: file, of: home(number), &random)
    case .appendLate(let number, let file, let count):
      try appendLate(count, to: file, of: home(number), &random)
    case .rotate(let number, let file, let rotation): try rotate(file, of: home(number), rotation)
    case .nights(let number, let file, let count, let rotation):
      for _ in 0..<count {
        if Bool.random(using: &random) {
          try append(Int.random(in: 0...5, using: &random), to: file, of: home(number), &random)
        }
        try rotate(file, of: home(number), rotation)
      }
    case .rewrite(let number, let file):
      let home = home(number)
      try home.files[file % home.files.count].rewrite(at: home.machine.now, &random)
    case .unlink(let number, let file):
      let home = home(number)
      try File.remove(home.files[file % home.files.count].path)
    case .pass(let seconds): time.advance(seconds * 1000)
    case .step(let number, let seconds): home(number).machine.stepClock(seconds * 1000)
    case .setRight(let number): home(number).machine.setClockRight()
    case .stepServer(let seconds):
      store.clockOffset.withLock { $0 += seconds * 1000 }
      oracle.recordServerStep(seconds * 1000)
    case .reboot(let number, let losesTime):
      endProcesses(besides: home(number))
      time.advance(60_000)
      home(number).machine.reboot(losesTime: losesTime)
    case .cutPower(let number):
      endProcesses(besides: home(number))
      home(number).disk.cutPower(&random)
      for home in neighbours(of: home(number)) { try retireRotated(of: home) }
      time.advance(60_000)
      home(number).machine.reboot(losesTime: false)
    case .snapshot(let number): try home(number).backUp()
    case .rollBack(let number, let reboots):
      guard home(number).hasBackup else { return }
      endProcesses(besides: home(number))
      try home(number).rollBack()
      try retireRotated(of: home(number))
      if reboots { home(number).machine.reboot(losesTime: false) }
    case .fill(let number, let room): home(number).disk.limitRoom(to: room)
    case .fail(let number, let changes): home(number).disk.fail(every: changes)
    case .recover(let number): home(number).disk.recover()
    case .clone(let number, let keepsMachineId): try clone(home(number), keepsMachineId)
    case .lose(let number, let part):
      let path = try home(number).lose(part, &random)
      if [.cache, .sidecar].contains(part) { try retireRotated(of: home(number)) }
      guard part == .part, let session = path.flatMap({ SessionID(String($0.lastPart.prefix(25))) })
      else { return }
      oracle.recordChange(of: session)
    case .putBack(let number): try home(number).putBack()
    case .edit(let number, let session, let isCut):
      guard let edited = try home(number).edit(session, isCut: isCut, knownTo: oracle) else {
        return
      }
      oracle.recordChange(of: edited)
    case .identify(let number, let id):
      home(number).machine.identify(as: id.map { "machine-\(number)-\($0)" })
    case .consent(let number, let allowsLogs):
      try withhold(home(number))
      home(number).consent = allowsLogs ? .logs : .metadata
      if allowsLogs { oracle.allowLogs() }
    case .rules(let number, let rules):
      home(number).rules = Self.rules(rules)
      oracle.recordRules(maskSecrets: Self.masksSecrets(rules), of: home(number).home)
    case .retain(let number, let seconds): home(number).retention = .seconds(seconds)
    case .refuse(let number, let session, let isLasting):
      guard let session = recorder(number, session)?.writer.session else { return }
      store.refuse(session, isLasting: isLasting)
    case .unmount: if store.kind == .folder { store.unmount() }
    case .mount: store.mount()
    case .empty: store.empty()
    case .remove(let object):
      let keys = store.stored.keys.filter { $0 != FormatMarker.key }.sorted()
      guard !keys.isEmpty else { return }
      store.remove(keys[object % keys.count])
      lacksObjects = true
    case .forge(let object, let forgery): forge(object, forgery, &random)
    case .obstruct(let number, let isLocked): try home(number).obstruct(byLocking: isLocked)
    case .upload, .round, .reap, .reapWithoutStore, .pull, .repair, .redact, .delete, .read, .keep,
      .restore, .retry:
      break
    }
  }

  /// A log of another program that has ended meanwhile has the consent that the last upload knew.
  private func retireEnded(_ home: SimulatedHome) throws {
    let now = home.machine.now
    for path in try ForeignFile.paths(in: home.logs) {
      guard let status = try FileStatus(path) else { continue }
      let isIdle =
        status.modifiedAt > now || now - status.modifiedAt >= LogSource.defaultIdleEnd
      guard isIdle || !home.files.contains(where: { $0.path == path }) else { continue }
      oracle.retire(LineNumber.all(in: try AtomicFile.read(path)))
    }
  }

  /// Lines present while logs were not allowed may stay where they are permanently: for an ended
  /// session the last consent counts.
  func withhold(_ home: SimulatedHome) throws {
    guard home.consent == .metadata else { return }
    for path in try ForeignFile.paths(in: home.logs) {
      oracle.retire(LineNumber.all(in: try AtomicFile.read(path)))
    }
    try retireUnpacked(in: home)
  }

  /// Compressed logs are unpacked in the home, where they outlive their files; an upload that may not
  /// send logs lets them age.
  private func retireUnpacked(in home: SimulatedHome) throws {
    let sessions = try home.home.sessions()
    for session in sessions where oracle.written(session) == nil {
      let path = home.home.files(for: session).log
      if File.exists(path) { oracle.retire(LineNumber.all(in: try AtomicFile.read(path))) }
    }
  }
}
