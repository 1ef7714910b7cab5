import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading

/// Runs a history, and judges the product by it.
package struct Simulation: Sendable {
  /// The result of a history.
  package struct Outcome: Sendable {
    /// A hash of all events.
    package let trace: UInt64
    /// The events, one line each, if requested.
    package let lines: [String]
    /// Violations, each with the index of its step.
    package let violations: [(step: Int, violation: Violation)]
    /// Number of steps carried out, including the final passes.
    package let steps: Int
  }

  /// A folder in a memory file system, emptied before and after each history.
  package let folder: String
  /// Whether to record the events as lines.
  package var keepsLines = false

  /// Prepares to run histories.
  package init(in folder: String) { self.folder = folder }

  /// Runs a history up to the first step with a violation.
  package func run(_ history: History) async throws -> Outcome {
    try? FileManager.default.removeItem(atPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let world = try World(history, in: folder, keepsLines: keepsLines)
    let surveyor = Surveyor(world.oracle)
    var violations: [(step: Int, violation: Violation)] = []
    var last: Holdings?
    var number = 0

    func carryOut(_ step: Step) async throws {
      let isJudged = step.action.isCommand || step.beside?.isCommand == true
      var before = last
      if isJudged, before == nil { before = try await surveyor.survey(world.homes) }
      // A program that dies while it writes loses nothing of what it wrote.
      let isMortal = !isJudged && step.death != nil
      if isMortal, before == nil { before = try await surveyor.survey(world.homes) }
      world.trace.record(step, number: number)
      try await world.carryOut(step)
      last = nil
      if isMortal, let before {
        let after = try await surveyor.survey(world.homes)
        Judge(
          oracle: world.oracle, before: before, after: after, homes: [], ledgers: [],
          isHasty: false
        ).judgeWritten()
        last = after
      }
      if isJudged, let before {
        let after = try await surveyor.survey(world.homes)
        let actions = [step.action] + (step.beside.map { [$0] } ?? [])
        Judge(
          oracle: world.oracle, before: before, after: after,
          homes: actions.filter { !$0.isReading }.flatMap(world.homes(of:)), ledgers: world.homes,
          isHasty: actions.contains(where: \.namesAge)
        ).judge()
        try await readOne(world, number)
        last = after
      }
      violations += world.oracle.takeViolations().map { (number, $0) }
      number += 1
    }

    for step in history.steps {
      try await carryOut(step)
      if !violations.isEmpty { return outcome(world, violations, number) }
    }
    func uploadAll(_ seed: UInt64) async throws {
      for home in world.homes where world.neighbours(of: home)[0] === home {
        let isAlone = world.neighbours(of: home).count == 1
        let action = isAlone ? Action.upload(home: home.number) : .round(home: home.number)
        try await carryOut(Step(action, seed: seed))
      }
    }

    // New lines, written after the repair, are sent by the next passes.
    func appendOnce() async throws {
      for home in world.homes {
        try await carryOut(Step(.append(home: home.number, file: 0, lines: 1)))
      }
      try await carryOut(Step(.pass(seconds: 60)))
      for pass in 0..<12 where pass == 0 || world.oracle.isUnfinished {
        try await uploadAll(UInt64(2000 + pass))
      }
      let holdings = try await surveyor.survey(world.homes)
      for home in world.homes where !home.isObstructed {
        guard let unsent = surveyor.unsentLines(of: home, holdings, world) else { continue }
        world.oracle.report(unsent)
      }
    }

    // Delayed changes arrive before the repair: one may be a requested deletion.
    world.store.mount()
    if world.store.hasDelayed {
      let before = try await surveyor.survey(world.homes)
      world.store.settle()
      let after = try await surveyor.survey(world.homes)
      Judge(
        oracle: world.oracle, before: before, after: after, homes: [], ledgers: [], isHasty: false
      ).judgeLines()
    }
    try world.heal()
    last = nil
    // Once nothing is left to send, more passes only delete; few histories suffice for that.
    let passesOn = history.seed % 4 == 0
    var unsent: [Violation] = []
    // Three passes suffice, and more only while each leaves the rest of a session to the next one.
    for pass in 0..<12 where pass < 3 || world.oracle.isUnfinished {
      try await uploadAll(UInt64(1000 + pass))
      if !violations.isEmpty { return outcome(world, violations, number) }
      try await carryOut(Step(.pass(seconds: 90_000)))
      unsent = surveyor.unsent(try await surveyor.survey(world.homes), world)
      if unsent.isEmpty, !passesOn { break }
    }
    for violation in unsent { world.oracle.report(violation) }
    // The first line may begin a session, or continue one; the second one continues it. Few histories
    // suffice for that.
    for _ in 0..<(history.seed % 8 == 0 ? 2 : 1) { try await appendOnce() }
    violations += world.oracle.takeViolations().map { (number, $0) }
    return outcome(world, violations, number)
  }

  private func outcome(
    _ world: World, _ violations: [(step: Int, violation: Violation)], _ steps: Int
  ) -> Outcome {
    Outcome(
      trace: world.trace.hash, lines: world.trace.lines, violations: violations, steps: steps)
  }

  /// Reads a session, as a new reader without a home.
  private func readOne(_ world: World, _ number: Int) async throws {
    let truth = TrueStore(world.store)
    let keys = truth.objects.keys.filter { RevisionName($0.lastPart) != nil }.sorted()
    guard !keys.isEmpty else { return }
    let key = keys[number % keys.count]
    guard let session = RevisionName(key.lastPart)?.session,
      let folder = SessionFolder(key: String(key.dropLast(key.lastPart.count)))
    else { return }
    let remote = try await FolderListing(folder, in: truth)[session, in: folder]
    var bytes: [UInt8] = []
    do {
      try await RemoteReader(truth, knowing: nil).read(remote, upTo: remote.end) { bytes += $0 }
    } catch {
      // Missing or damaged parts are refused, after everything before them.
    }
    world.oracle.judge(bytes, readFrom: session)
    await ForgedRevision.judge(remote, in: truth, world)
    // Delayed requests may have written to the folder below an unmounted share.
    guard world.store.isMounted else { return }
    world.oracle.judgeGrowth(
      bytes.count, ofGeneration: remote.generation, readFrom: session)
  }
}

extension World {
  /// Ends all faults, as an administrator would.
  func heal() throws {
    store.relent()
    setServerRight()
    for home in homes {
      home.machine.setClockRight()
      home.disk.recover()
      try withhold(home)
      home.consent = .logs
    }
    oracle.allowLogs()
    restoreMarker()
    time.advance(90_000_000)
  }
}

extension String {
  /// The text after the last slash.
  var lastPart: String { lastIndex(of: "/").map { String(self[index(after: $0)...]) } ?? self }
}

extension Surveyor {
  /// What is not remote, and has no reason for it.
  func unsent(_ holdings: Holdings, _ world: World) -> [Violation] {
    world.homes.filter { !$0.isObstructed }.flatMap { home in
      let sessions = (holdings.local[home.number] ?? [:]).sorted { $0.key < $1.key }
        .filter { session, _ in
          !world.oracle.isAsked(session) && !world.oracle.hasExpired(session)
            && !world.store.refuses(session)
            && world.oracle.reason(session, in: home.home) == nil
        }
      return sessions.flatMap { session, positions in
        [
          missingSeal(of: session, in: home, holdings),
          unsentBytes(positions, of: session, in: home, holdings),
        ].compactMap(\.self)
      } + [unsentLines(of: home, holdings, world)].compactMap(\.self)
    }
  }

  private func unsentBytes(
    _ positions: RangeSet<Int>, of session: SessionID, in home: SimulatedHome,
    _ holdings: Holdings
  ) -> Violation? {
    var unsent = positions.subtracting(holdings.remote(session))
    // What was damaged on its way is found by the seal at the latest.
    if holdings.running.contains(session) {
      unsent.subtract(holdings.damaged[session] ?? RangeSet())
    }
    guard !unsent.isEmpty, !Self.isSettled(session, home) else { return nil }
    return .init(
      .liveness,
      "bytes \(unsent.text) of \(session) in home \(home.number) are not remote, "
        + "and no reason is given")
  }

  /// Ended sessions are sealed.
  private func missingSeal(
    of session: SessionID, in home: SimulatedHome, _ holdings: Holdings
  ) -> Violation? {
    guard !holdings.running.contains(session),
      let sidecar = try? Sidecar.load(home.home.files(for: session).sidecar), sidecar.seal == nil
    else { return nil }
    return .init(
      .liveness,
      "\(session) in home \(home.number) has ended and is not sealed, and no reason is given")
  }

  /// Lines of logs that are where their programs write them.
  func unsentLines(
    of home: SimulatedHome, _ holdings: Holdings, _ world: World
  ) -> Violation? {
    let unsent = (holdings.localLines[home.number] ?? []).subtracting(holdings.remoteLines)
      .filter { !world.oracle.isRetired($0) }
    guard let first = unsent.min(), !world.oracle.isTroubled(home.home), !world.lacksObjects else {
      return nil
    }
    return .init(
      .liveness,
      "\(unsent.count) lines of other programs in home \(home.number) are not remote, from line "
        + "\(first) on, and no reason is given")
  }

  /// Whether a session is settled: its log must not be sent, or it was sealed.
  ///
  /// If a store loses a log after confirming it, only the local copy remains, which must stay.
  private static func isSettled(_ session: SessionID, _ home: SimulatedHome) -> Bool {
    let sidecar = try? Sidecar.load(home.home.files(for: session).sidecar)
    return sidecar?.withholdsLog == true || sidecar?.seal != nil
  }
}
