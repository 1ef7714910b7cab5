import ArgumentParser
import Foundation
import ObjectStore
import Platform
import SessionLog
import SessionReading
import Sync

/// `tidemark reap`.
struct Reap: AsyncParsableCommand, HomeCommand {
  static let configuration = CommandConfiguration(
    commandName: "reap",
    abstract: "Delete old sessions: local copies after 7 days, remote copies after 30.",
    discussion: """
      A local session is deleted only if this run has read its seal and listed all that it names. A \
      rotated part older than 'prune-after' of a session that stays is deleted when its bytes are \
      proven in the store. \
      Ages count the time that this home has run, so that a wrong clock deletes nothing; \
      --older-than with less than a day trusts the clocks, and with less than the configured \
      retention asks first, or needs --yes. A deletion of most sessions at once \
      waits for a day, or for --force; with --older-than it is refused without (exit code 1). \
      Deleted local copies stay in the trash for a week; 'tidemark keep' exempts a session. \
      Both sides by default. --app, --failed, --since and --until choose among the sessions that are \
      old enough. An operator removes sessions of retired devices with \
      --remote --all-devices, or an S3 lifecycle rule does.

      With --json one object a line for each session that goes, and with --explain for each that \
      stays: session, copy (local, remote, part), deleted, bytes, reason.

      Examples:
        tidemark reap --dry-run --explain
        tidemark reap --local --older-than 2d --yes
        tidemark reap --remote --device build-server --app nightly --older-than 3d --dry-run
      """)

  @Flag(help: "Local copies.")
  var local = false
  @Flag(help: "Remote copies.")
  var remote = false
  @OptionGroup var choice: ChoiceOptions
  @OptionGroup var span: SpanOptions
  @Option(
    help: ArgumentHelp(
      "Another age than the configured ones, e.g. 12h or 30d.", valueName: "time"),
    transform: ArgumentValue.span)
  var olderThan: Duration?
  @Flag(help: "Delete nothing.")
  var dryRun = false
  @Flag(help: "Say why each session goes or stays.")
  var explain = false
  @Flag(
    help: ArgumentHelp(
      "With --remote: take ages from the server's clock alone, in an ephemeral home."))
  var trustServerClock = false
  @Flag(help: "Delete also when that is most of what is there.")
  var force = false
  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false
  @Flag(help: "One JSON object a line.")
  var json = false
  @Option(
    help: ArgumentHelp("Started by root's reap, for the home of one user.", visibility: .hidden))
  var homeOf: String?
  @Flag(help: ArgumentHelp("Somebody sees what is said.", visibility: .hidden))
  var watched = false
  @OptionGroup(title: "S3 lifecycle")
  var lifecycle: LifecycleOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if choice.devices.isElsewhere && (local || !remote) {
      throw ValidationError(
        "--device and --all-devices go with --remote, and without --local.")
    }
    if trustServerClock && (local || !remote) {
      throw ValidationError("--trust-server-clock goes with --remote, and without --local.")
    }
    if lifecycle.isAsked,
      local || remote || explain || force || json || choice.isChoosing || span.isChoosing
    {
      throw ValidationError("A lifecycle rule is printed or installed by itself.")
    }
  }

  func run() async throws {
    let logger = try diagnostics.logger()
    if lifecycle.isAsked {
      return try await lifecycle.run(olderThan, dryRun: dryRun, yes: yes, logger)
    }
    guard homeOf == nil else { return try await reapHome() }
    let setups = try CommandContext.all(logger: logger)
    guard let own = setups.last else { return }
    let retention = retention(of: own)
    var elsewhere = try CommandContext.openInRefusedHomes(besides: setups)
    var failed = try reap(setups.dropLast().map(\.home), of: own, &elsewhere)
    if local || !remote {
      do {
        failed += try await own.home.withOwnersRights { try await reapLocal(own, retention) }
      } catch  where setups.count > 1 && !(error is StoreError) {
        Console.complain("\(own.home.path): \(error)")
        failed += 1
      }
    }
    if remote || !local { failed += try await reapRemoteSide(of: own, retention, elsewhere) }
    if failed > 0 { throw ExitStatus.partial }
  }

  private func retention(of setup: CommandContext) -> Retention {
    var retention = setup.settings.retention
    if let age = olderThan { retention = retention.asking(age) }
    retention.trustsServerClock = trustServerClock
    retention.isForced = force
    return retention
  }

  // MARK: Other users' homes

  /// What a home's process reports.
  private struct Report: Codable {
    /// The unsealed sessions; nil if unknown.
    let open: [SessionID]?
  }

  static let budget = ProcessBudget(time: .seconds(600), memory: 2 << 30)

  func openHome(of user: String) throws -> CommandContext {
    try CommandContext(
      user: user, isNeeded: !dryRun, claimsOnlyOpen: true, logger: diagnostics.logger())
  }

  /// Reaps local copies in other users' homes, by a process for each; see ``HomeProcess``.
  ///
  /// - Parameter open: gets the sessions that may be open there.
  /// - Returns: how many homes were not reaped whole.
  private func reap(
    _ homes: [Home], of own: CommandContext, _ open: inout OpenSessions
  ) throws -> Int {
    let used = try UnusedHomes.removed(from: homes)
    guard !used.isEmpty else { return 0 }
    if local || !remote, !dryRun, !yes, let olderThan, olderThan < own.settings.retention.local {
      let what =
        "sessions older than \(Age.compact(olderThan)) of \(Plural.text(used.count, "other user")), "
        + "which the configuration keeps for \(Age.compact(own.settings.retention.local))"
      guard try mayProceed(what) else {
        for home in used { open.addUnknown(home) }
        return used.count
      }
    }
    var arguments = Array(CommandLine.arguments.dropFirst())
    if !yes { arguments.append("--yes") }
    if Console.outputIsTerminal { arguments.append("--watched") }
    var (waiting, failed) = (used[...], 0)
    try SupervisedProcess.run(atOnce: 2) {
      while let home = waiting.popFirst() {
        let process = try HomeProcess.start(arguments, for: home, within: Self.budget.time)
        if let process { return (home, process) }
        open.addUnknown(home)
      }
      return nil
    } ended: { home, process in
      HomeProcess.relayOutput(of: process, in: home)
      if let problem = HomeProcess.problem(of: process, within: Self.budget.time) {
        Console.complain("\(home.path): not reaped: \(problem); other homes are unaffected")
      }
      if process.end != .exited(ExitStatus.ok.rawValue) { failed += 1 }
      let report = try? JSONDecoder().decode(Report.self, from: Data(process.outputs[0].bytes))
      if let sessions = report?.open { open.add(sessions) } else { open.addUnknown(home) }
    }
    return failed
  }

  /// Asks; without a terminal, says what confirms it.
  private func mayProceed(_ what: String) throws -> Bool {
    do {
      return try Console.mayProceed("delete", what)
    } catch let failure as Failure {
      Console.complain("\(failure)")
      return false
    }
  }

  /// Reaps local copies in one user's home, in a process that root has started for it.
  private func reapHome() async throws {
    do {
      guard let setup = try HomeProcess.setup?.get() else { throw ExitStatus.usage }
      defer { HomeProcess.report(Report(open: try? setup.home.openSessions())) }
      guard local || !remote else { return }
      let failed = try await setup.home.withOwnersRights {
        try await reapLocal(setup, retention(of: setup))
      }
      if failed > 0 { throw ExitStatus.partial }
    } catch  where !(error is ExitStatus) {
      Console.complain("the home of \(homeOf ?? ""): \(error)")
      throw ExitStatus(error)
    }
  }

  // MARK: One's own

  /// Reaps remote copies; for a home that sends nothing, only if that side was requested.
  private func reapRemoteSide(
    of own: CommandContext, _ retention: Retention, _ elsewhere: OpenSessions
  ) async throws -> Int {
    let lock = try own.requireLock(unless: dryRun)
    guard let context = try own.contextIfSending() ?? (remote ? own.context() : nil) else {
      return 0
    }
    try await context.checkFolder()
    let configured = own.settings.retention.remote
    let reading = try own.reading(with: context)
    guard !choice.devices.allDevices else {
      return try await reapAllDevices(
        context, reading, retention, below: configured, elsewhere, holding: lock)
    }
    let device = try await choice.devices.ids(own: own.device, in: reading.store).first
    return try await reapRemote(
      context, reading, retention, below: configured, elsewhere, holding: lock,
      device: device ?? own.device.deviceId)
  }

  private func reapLocal(_ setup: CommandContext, _ retention: Retention) async throws -> Int {
    let lock = try setup.requireLock(unless: dryRun)
    let context = try setup.contextIfSending()
    try await context?.checkFolder()
    let lived = try setup.lived(context)
    let reaper =
      context.map(LocalReaper.init)
      ?? LocalReaper(
        home: setup.home, lived: lived, now: .now(), unproven: setup.reasonToKeepUnsent)
    var plan = try await reaper.plan(retention)
    let chosen = try await self.chosen(in: setup.reading(with: nil), devices: [])
    plan.restrict(to: chosen)
    show(plan.local, plan.kept, side: "local")
    try report(plan.postponement)
    guard try mayDelete(plan.local, below: setup.settings.retention.local) else { return 0 }
    let outcomes = lock.map { reaper.execute(plan, retention, holding: $0) } ?? []
    try sayLines(
      plan.local, plan.kept, side: "local",
      deleted: Set(outcomes.filter { $0.error == nil }.compactMap(\.session)))
    let errors = outcomes.compactMap { outcome in
      outcome.error.map { "cannot remove \(outcome.what): \($0)" }
    }
    for error in errors { Console.complain(error) }
    if let lock { try lived.save(holding: lock) }
    return try await errors.count + prune(context, retention, of: chosen, holding: lock)
  }

  /// The sessions that the options select; nil for all.
  private func chosen(
    in reading: ReadingContext, devices: [String]
  ) async throws -> Set<SessionID>? {
    guard choice.isNarrowing || span.isChoosing else { return nil }
    let found = try await SessionCatalog(reading).search(
      devices: devices, includesLocal: devices.isEmpty, activeSince: span.since)
    PassedOverSessions(sessions: found.passedOver).report()
    return Set(found.entries.filter { choice.includes($0) && span.includes($0) }.map(\.session))
  }

  /// Reports that a plan waits; if it waits for a person's confirmation, ends the command.
  private func report(_ postponement: ReapPlan.Postponement?) throws {
    guard let postponement else { return }
    let isRefused = olderThan != nil || trustServerClock
    let text = Self.text(postponement, isRefused: isRefused)
    guard isRefused && !dryRun else { return Console.complain(text) }
    throw Failure(.partial, text)
  }

  /// Why a plan waits, and the next step.
  static func text(_ postponement: ReapPlan.Postponement, isRefused: Bool = false) -> String {
    let next = isRefused ? "repeat with --force to delete them" : "--force does not wait"
    return "\(postponement.reason). 'tidemark reap --dry-run --explain' shows them; \(next)."
  }

  /// Whether a plan may be carried out: deleting sessions younger than the configured retention
  /// requires a confirmation.
  private func mayDelete(
    _ removals: [ReapPlan.Removal], below retention: Duration
  ) throws -> Bool {
    guard let olderThan, olderThan < retention, !dryRun, !yes, !removals.isEmpty else {
      return true
    }
    return try Console.mayProceed(
      "delete",
      "\(Plural.text(removals.count, "session")) older than \(Age.compact(olderThan)), which "
        + "the configuration keeps for \(Age.compact(retention))")
  }

  /// Prunes rotated parts of the sessions that stay.
  private func prune(
    _ context: SyncContext?, _ retention: Retention, of chosen: Set<SessionID>?,
    holding lock: HomeLock?
  ) async throws -> Int {
    guard let context else { return 0 }
    let pruner = PartPruner(context)
    var plan = try await pruner.plan(retention)
    plan.restrict(to: chosen)
    show(plan)
    let outcomes = lock.map { pruner.execute(plan, holding: $0) } ?? []
    try sayLines(plan, outcomes)
    let failed = outcomes.compactMap { outcome in
      outcome.error.map { "cannot remove \(outcome.what): \($0)" }
    }
    for error in failed { Console.complain(error) }
    return failed.count
  }

  struct Line: Encodable {
    let session: SessionID
    let copy: String
    let deleted: Bool
    let bytes: ByteCount?
    let reason: String
  }

  private func say(_ line: Line) throws { Console.say(try Console.json(line)) }

  /// With --json, prints the results of a plan for parts.
  ///
  /// - Parameter outcomes: one for each removal; none in a dry run.
  private func sayLines(_ plan: PrunePlan, _ outcomes: [DeletionOutcome]) throws {
    guard json else { return }
    for (number, removal) in plan.pruned.enumerated() {
      let isDeleted = outcomes.indices.contains(number) && outcomes[number].error == nil
      try say(
        Line(
          session: removal.part.session, copy: "part", deleted: isDeleted,
          bytes: removal.part.bytes, reason: "\(removal.part.age); \(removal.evidence.finding)"))
    }
  }

  private func show(_ plan: PrunePlan) {
    guard !json else { return }
    let verb = dryRun ? "would delete" : "delete"
    if showsRemovals {
      for removal in plan.pruned {
        let part = removal.part
        let reason = explain ? ": \(part.age); \(removal.evidence.finding)" : ""
        Console.say(
          ReportLine(
            "\(verb) local \(part.session) part \(part.start) (\(part.bytes.text))\(reason)"))
      }
    }
    guard explain else { return }
    for kept in plan.kept {
      Console.say(
        ReportLine(
          "keep local \(kept.part.session) part \(kept.part.start): \(kept.part.age), but "
            + kept.reason))
    }
  }

  /// Reaps one device after the other, each separately, so that a guard or a damaged folder of one
  /// does not affect the others.
  private func reapAllDevices(
    _ context: SyncContext, _ reading: ReadingContext, _ retention: Retention,
    below configured: Duration, _ elsewhere: OpenSessions, holding lock: HomeLock?
  ) async throws -> Int {
    var failed = 0
    for device in try await RemoteReaper.devices(in: context.store) {
      do {
        failed += try await reapRemote(
          context, reading, retention, below: configured, elsewhere, holding: lock,
          device: device, isReported: true)
      } catch let error where (error as? StoreError)?.code != .cancelled {
        Console.complain("device \(device): \(error)")
        failed += 1
      }
    }
    return failed
  }

  private func reapRemote(
    _ context: SyncContext, _ reading: ReadingContext, _ retention: Retention,
    below configured: Duration, _ elsewhere: OpenSessions, holding lock: HomeLock?, device: String,
    isReported: Bool = false
  ) async throws -> Int {
    let reaper = RemoteReaper(context, devices: [device], openElsewhere: elsewhere)
    var plan = try await reaper.plan(retention)
    plan.restrict(to: try await chosen(in: reading, devices: [device]))
    let removals = plan.remote + plan.superseded
    show(removals, plan.kept, side: "remote")
    try report(plan.postponement)
    guard try mayDelete(plan.remote, below: configured) else { return 0 }
    var outcomes: [DeleteOutcome] = []
    if let lock {
      var spared: [ReapPlan.Kept] = []
      outcomes = try await reaper.execute(plan, holding: lock) { spared.append($0) }
      try context.saveLivedTime(holding: lock)
      for kept in spared { Console.remark("\(kept.session): kept: \(kept.reason)") }
      plan.keep(spared)
    }
    let errors = outcomes.compactMap(\.error)
    for error in errors { Console.complain("\(error)") }
    let gone = Set(outcomes.filter { $0.error == nil }.map(\.key))
    try sayLines(
      removals, plan.kept, side: "remote",
      deleted: Set(removals.filter { $0.keys.allSatisfy(gone.contains) }.map(\.session)))
    if isReported, !json {
      let bytes = plan.remote.compactMap(\.bytes).total.text
      Console.say(
        "device \(device): \(dryRun ? "would delete" : "deleted") "
          + "\(Plural.text(plan.remote.count, "session")) (\(bytes)), "
          + "\(Plural.text(errors.count, "object")) failed, "
          + "\(Plural.text(plan.kept.count, "session")) kept")
    }
    return errors.count
  }

  private var showsRemovals: Bool { dryRun || explain || watched || Console.outputIsTerminal }

  /// With --json, prints the results of a plan.
  private func sayLines(
    _ removals: [ReapPlan.Removal], _ kept: [ReapPlan.Kept], side: String,
    deleted: Set<SessionID>
  ) throws {
    guard json else { return }
    for removal in removals {
      try say(
        Line(
          session: removal.session, copy: side, deleted: deleted.contains(removal.session),
          bytes: removal.bytes, reason: removal.explanation))
    }
    guard explain else { return }
    for kept in kept {
      try say(
        Line(session: kept.session, copy: side, deleted: false, bytes: nil, reason: kept.reason))
    }
  }

  private func show(_ gone: [ReapPlan.Removal], _ kept: [ReapPlan.Kept], side: String) {
    guard !json else { return }
    let verb = dryRun ? "would delete" : "delete"
    if showsRemovals {
      for removal in gone {
        Console.say(
          Self.line(
            "\(verb) \(side)", removal.session, removal.bytes,
            explain ? removal.explanation : nil))
      }
    }
    guard explain else { return }
    for kept in kept { Console.say(Self.line("keep \(side)", kept.session, nil, kept.reason)) }
  }

  /// Describes the deletion of a copy, and the reason.
  static func line(
    _ verb: String, _ session: SessionID, _ bytes: ByteCount?, _ reason: String?
  ) -> ReportLine {
    let size = bytes.map { " (\($0.text))" } ?? ""
    return ReportLine("\(verb) \(session)\(size)" + (reason.map { ": \($0)" } ?? ""))
  }
}

extension ReapPlan {
  /// Takes sessions out of the plan that changed before their deletion.
  fileprivate mutating func keep(_ spared: [Kept]) {
    let sessions = Set(spared.map(\.session))
    remote.removeAll { sessions.contains($0.session) }
    kept.removeAll { sessions.contains($0.session) }
    kept += spared
  }

  /// Removes sessions from the plan that a person did not select.
  fileprivate mutating func restrict(to chosen: Set<SessionID>?) {
    guard let chosen else { return }
    local.removeAll { !chosen.contains($0.session) }
    remote.removeAll { !chosen.contains($0.session) }
    superseded.removeAll { !chosen.contains($0.session) }
    kept.removeAll { !chosen.contains($0.session) }
  }
}

extension PrunePlan {
  /// Removes parts from the plan whose sessions a person did not select.
  fileprivate mutating func restrict(to chosen: Set<SessionID>?) {
    guard let chosen else { return }
    pruned.removeAll { !chosen.contains($0.part.session) }
    kept.removeAll { !chosen.contains($0.part.session) }
  }
}
