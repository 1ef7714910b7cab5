import ArgumentParser
import ObjectStore
import SessionLog
import Sync

/// `tidemark reap`.
struct Reap: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Delete sessions that are old enough: 7 days here, 30 days in the store.",
    discussion: """
      A local session goes only when a listing of this very run shows its sealed copy whole. \
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
    let place = try Workplace()
    let lock = try place.requireLock()
    defer { withExtendedLifetime(lock) {} }
    var retention = place.settings.retention
    if let age = olderThan.flatMap(Age.seconds) { (retention.local, retention.remote) = (age, age) }
    let context = try place.contextIfSending()
    var failed = 0
    if local || !remote {
      let reaper = LocalReaper(
        home: place.home, device: place.device, context: context, now: .now())
      let plan = try await reaper.plan(retention)
      show(plan.local, plan.kept, side: "local")
      if !dryRun {
        for (decision, error) in reaper.execute(plan) {
          if let error { Console.complain("cannot remove \(decision.session): \(error)") }
          failed += error == nil ? 0 : 1
        }
      }
    }
    if remote || !local {
      guard let context = try context ?? (remote ? place.context() : nil) else { return }
      failed += try await reapRemote(context, retention)
    }
    if failed > 0 { throw ExitStatus.partial }
  }

  private func reapRemote(_ context: SyncContext, _ retention: Retention) async throws -> Int {
    let reaper = RemoteReaper(context, devices: [context.device.deviceId])
    let plan = try await reaper.plan(retention)
    show(plan.remote, plan.kept, side: "remote")
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
