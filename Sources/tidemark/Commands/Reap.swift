import ArgumentParser
import ObjectStore
import SessionLog
import Sync

/// `tidemark reap`.
struct Reap: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Delete sessions that are old enough: 7 days here, 30 days in the store.",
    discussion: """
      A local session goes only when a listing of this very run shows its sealed copy whole, and \
      so does a rotated part older than 'prune-after' of a session that stays. \
      Both sides by default.
      """)

  @Flag(help: "This machine's copies.")
  var local = false
  @Flag(help: "The store's copies.")
  var remote = false
  @Option(help: "Another age than the configured ones: 1s, 12h, 30d.")
  var olderThan: String?
  @Flag(help: "Delete nothing.")
  var dryRun = false
  @Flag(help: "Say why each session goes or stays.")
  var explain = false
  @Flag(help: "Carry out also a plan that is refused for its size.")
  var force = false

  func validate() throws {
    if let olderThan, (Age.seconds(olderThan) ?? 0) < 1 {
      throw ValidationError("--older-than takes an age such as 1s, 12h or 30d.")
    }
  }

  func run() async throws {
    let places = try Workplace.all()
    guard let own = places.last else { return }
    var retention = own.settings.retention
    if let age = olderThan.flatMap(Age.seconds) { (retention.local, retention.remote) = (age, age) }
    var failed = 0
    if local || !remote {
      for place in places {
        failed += try await place.asOwner { try await reapLocal(place, retention) }
      }
    }
    if remote || !local {
      let lock = try own.requireLock()
      defer { withExtendedLifetime(lock) {} }
      guard let context = try own.contextIfSending() ?? (remote ? own.context() : nil) else {
        return
      }
      failed += try await reapRemote(context, retention)
    }
    if failed > 0 { throw ExitStatus.partial }
  }

  private func reapLocal(_ place: Workplace, _ retention: Retention) async throws -> Int {
    let lock = try place.requireLock()
    defer { withExtendedLifetime(lock) {} }
    let context = try place.contextIfSending()
    let reaper = LocalReaper(
      home: place.home, device: place.device, context: context, now: .now())
    let plan = try await reaper.plan(retention)
    show(plan.local, plan.kept, side: "local")
    let errors =
      dryRun
      ? []
      : reaper.execute(plan).compactMap { decision, error in
        error.map { "cannot remove \(decision.session): \($0)" }
      }
    for error in errors { Console.complain(error) }
    return try await errors.count + prune(context, retention)
  }

  /// Rotated parts of the sessions that stay.
  private func prune(_ context: SyncContext?, _ retention: Retention) async throws -> Int {
    guard let context else { return 0 }
    let pruner = PartPruner(context)
    let plan = try await pruner.plan(retention)
    show(plan)
    guard !dryRun else { return 0 }
    let failed = pruner.execute(plan).compactMap { decision, error in
      error.map { "cannot remove a part of \(decision.session): \($0)" }
    }
    for error in failed { Console.complain(error) }
    return failed.count
  }

  private func show(_ plan: PrunePlan) {
    let verb = dryRun ? "would delete" : "delete"
    if dryRun || explain || Console.outputIsTerminal {
      for decision in plan.pruned {
        let reason = explain ? ": \(decision.reason)" : ""
        let size = Console.size(decision.bytes)
        Console.say(
          "\(verb) local \(decision.session) part \(decision.start) (\(size))\(reason)")
      }
    }
    guard explain else { return }
    for decision in plan.kept {
      Console.say("keep local \(decision.session) part \(decision.start): \(decision.reason)")
    }
  }

  private func reapRemote(_ context: SyncContext, _ retention: Retention) async throws -> Int {
    let reaper = RemoteReaper(context, devices: [context.device.deviceId])
    let plan = try await reaper.plan(retention)
    show(plan.remote + plan.superseded, plan.kept, side: "remote")
    if let refusal = plan.refusal, !force {
      if !dryRun { throw Failure(.usage, refusal) }
      Console.remark(refusal)
    }
    guard !dryRun else { return 0 }
    let errors = try await reaper.execute(plan).compactMap(\.error)
    for error in errors { Console.complain("\(error)") }
    return errors.count
  }

  private func show(_ gone: [ReapPlan.Decision], _ kept: [ReapPlan.Decision], side: String) {
    let verb = dryRun ? "would delete" : "delete"
    if dryRun || explain || Console.outputIsTerminal {
      for decision in gone {
        let reason = explain ? ": \(decision.reason)" : ""
        let size = Console.size(decision.bytes)
        Console.say("\(verb) \(side) \(decision.session) (\(size))\(reason)")
      }
    }
    guard explain else { return }
    for decision in kept { Console.say("keep \(side) \(decision.session): \(decision.reason)") }
  }
}
