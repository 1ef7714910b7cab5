import ArgumentParser
import ObjectStore
import Platform
import SessionLog
import Sync

/// `tidemark reap`.
struct Reap: AsyncParsableCommand {
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
      Both sides by default. An operator removes sessions of retired devices with \
      --remote --all-devices, or an S3 lifecycle rule does.

      With --json one object a line for each session that goes, and with --explain for each that \
      stays: session, copy (local, remote, part), deleted, bytes, reason.

      Examples:
        tidemark reap --dry-run --explain
        tidemark reap --local --older-than 2d --yes
      """)

  @Flag(help: "Local copies.")
  var local = false
  @Flag(help: "Remote copies.")
  var remote = false
  @Flag(help: "With --remote: the copies of all devices; for operators.")
  var allDevices = false
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
  @OptionGroup(title: "S3 lifecycle")
  var lifecycle: LifecycleOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if allDevices && (local || !remote) {
      throw ValidationError("--all-devices goes with --remote, and without --local.")
    }
    if trustServerClock && (local || !remote) {
      throw ValidationError("--trust-server-clock goes with --remote, and without --local.")
    }
    if lifecycle.isAsked && (local || remote || explain || force || json) {
      throw ValidationError("A lifecycle rule is printed or installed by itself.")
    }
  }

  func run() async throws {
    let logger = try diagnostics.logger()
    if lifecycle.isAsked {
      return try await lifecycle.run(olderThan, dryRun: dryRun, yes: yes, logger)
    }
    let places = try Workplace.all(logger: logger)
    guard let own = places.last else { return }
    var retention = own.settings.retention
    if let age = olderThan { retention = retention.asking(age) }
    retention.trustsServerClock = trustServerClock
    retention.isForced = force
    var failed = 0
    if local || !remote {
      for place in places {
        do {
          failed += try await place.home.withOwnersRights { try await reapLocal(place, retention) }
        } catch  where places.count > 1 && !(error is StoreError) {
          // An error in one user's home must not affect the others.
          Console.complain("\(place.home.path): \(error)")
          failed += 1
        }
      }
    }
    if remote || !local {
      var elsewhere = try Workplace.openInRefusedHomes(besides: places)
      for place in places.dropLast() {
        do {
          try await place.home.withOwnersRights { elsewhere.add(place.home) }
        } catch {
          elsewhere.addUnknown(place.home)
        }
      }
      let lock = try own.requireLock()
      guard let context = try own.contextIfSending() ?? (remote ? own.context() : nil) else {
        return
      }
      try await context.checkFolder()
      let configured = own.settings.retention.remote
      failed +=
        try await allDevices
        ? reapAllDevices(context, retention, below: configured, elsewhere, holding: lock)
        : reapRemote(context, retention, below: configured, elsewhere, holding: lock)
    }
    if failed > 0 { throw ExitStatus.partial }
  }

  private func reapLocal(_ place: Workplace, _ retention: Retention) async throws -> Int {
    let lock = try place.requireLock()
    let context = try place.contextIfSending()
    try await context?.checkFolder()
    let lived = try place.lived(context)
    let reaper =
      context.map(LocalReaper.init)
      ?? LocalReaper(
        home: place.home, lived: lived, now: .now(), unproven: place.reasonToKeepUnsent)
    let plan = try await reaper.plan(retention)
    try show(plan.local, plan.kept, side: "local")
    try report(plan.postponement)
    guard try mayDelete(plan.local, below: place.settings.retention.local) else { return 0 }
    let errors =
      dryRun
      ? []
      : reaper.execute(plan, retention, holding: lock).compactMap { outcome in
        outcome.error.map { "cannot remove \(outcome.what): \($0)" }
      }
    for error in errors { Console.complain(error) }
    if !dryRun { try lived.save(holding: lock) }
    return try await errors.count + prune(context, retention, holding: lock)
  }

  /// Reports that a plan waits; if it waits for a person's confirmation, ends the command.
  private func report(_ postponement: ReapPlan.Postponement?) throws {
    guard let postponement else { return }
    let isRefused = olderThan != nil || trustServerClock
    let text = Self.text(postponement, isRefused: isRefused)
    guard isRefused && !dryRun else { return Console.complain(text) }
    throw Failure(.partial, text)
  }

  /// Why a plan waits, and what to do.
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
    _ context: SyncContext?, _ retention: Retention, holding lock: HomeLock
  ) async throws -> Int {
    guard let context else { return 0 }
    let pruner = PartPruner(context)
    let plan = try await pruner.plan(retention)
    try show(plan)
    guard !dryRun else { return 0 }
    let failed = pruner.execute(plan, holding: lock).compactMap { outcome in
      outcome.error.map { "cannot remove \(outcome.what): \($0)" }
    }
    for error in failed { Console.complain(error) }
    return failed.count
  }

  private struct Line: Encodable {
    let session: SessionID
    let copy: String
    let deleted: Bool
    let bytes: ByteCount?
    let reason: String
  }

  private func say(_ line: Line) throws { Console.say(try Console.json(line)) }

  private func show(_ plan: PrunePlan) throws {
    if json {
      for removal in plan.pruned {
        try say(
          Line(
            session: removal.part.session, copy: "part", deleted: !dryRun,
            bytes: removal.part.bytes, reason: "\(removal.part.age); \(removal.evidence.finding)"))
      }
      return
    }
    let verb = dryRun ? "would delete" : "delete"
    if showsRemovals {
      for removal in plan.pruned {
        let part = removal.part
        let reason = explain ? ": \(part.age); \(removal.evidence.finding)" : ""
        Console.say(
          "\(verb) local \(part.session) part \(part.start) (\(part.bytes.text))\(reason)")
      }
    }
    guard explain else { return }
    for kept in plan.kept {
      Console.say(
        "keep local \(kept.part.session) part \(kept.part.start): \(kept.part.age), but \(kept.reason)"
      )
    }
  }

  /// Reaps one device after the other, each separately, so that a guard or a damaged folder of one
  /// does not affect the others.
  private func reapAllDevices(
    _ context: SyncContext, _ retention: Retention, below configured: Duration,
    _ elsewhere: OpenSessions, holding lock: HomeLock
  ) async throws -> Int {
    var failed = 0
    for device in try await RemoteReaper.devices(in: context.store) {
      do {
        failed += try await reapRemote(
          context, retention, below: configured, elsewhere, holding: lock, device: device,
          isReported: true)
      } catch let error where (error as? StoreError)?.code != .cancelled {
        Console.complain("device \(device): \(error)")
        failed += 1
      }
    }
    return failed
  }

  private func reapRemote(
    _ context: SyncContext, _ retention: Retention, below configured: Duration,
    _ elsewhere: OpenSessions, holding lock: HomeLock, device: String? = nil,
    isReported: Bool = false
  ) async throws -> Int {
    let reaper = RemoteReaper(
      context, devices: [device ?? context.device.deviceId], openElsewhere: elsewhere)
    let plan = try await reaper.plan(retention)
    try show(plan.remote + plan.superseded, plan.kept, side: "remote")
    try report(plan.postponement)
    guard try mayDelete(plan.remote, below: configured) else { return 0 }
    let outcomes = dryRun ? [] : try await reaper.execute(plan, holding: lock)
    if !dryRun { try context.saveLivedTime(holding: lock) }
    let errors = outcomes.compactMap(\.error)
    for error in errors { Console.complain("\(error)") }
    if isReported, !json, let device {
      let bytes = plan.remote.compactMap(\.bytes).total.text
      Console.say(
        "device \(device): \(dryRun ? "would delete" : "deleted") "
          + "\(Plural.text(plan.remote.count, "session")) (\(bytes)), "
          + "\(Plural.text(errors.count, "object")) failed, "
          + "\(Plural.text(plan.kept.count, "session")) kept")
    }
    return errors.count
  }

  private var showsRemovals: Bool { dryRun || explain || Console.outputIsTerminal }

  private func show(_ gone: [ReapPlan.Removal], _ kept: [ReapPlan.Kept], side: String) throws {
    if json {
      for removal in gone {
        try say(
          Line(
            session: removal.session, copy: side, deleted: !dryRun, bytes: removal.bytes,
            reason: removal.explanation))
      }
      guard explain else { return }
      for kept in kept {
        try say(
          Line(session: kept.session, copy: side, deleted: false, bytes: nil, reason: kept.reason))
      }
      return
    }
    let verb = dryRun ? "would delete" : "delete"
    if showsRemovals {
      for removal in gone {
        let reason = explain ? ": \(removal.explanation)" : ""
        let size = removal.bytes.map { " (\($0.text))" } ?? ""
        Console.say("\(verb) \(side) \(removal.session)\(size)\(reason)")
      }
    }
    guard explain else { return }
    for kept in kept { Console.say("keep \(side) \(kept.session): \(kept.reason)") }
  }
}
