import ArgumentParser
import LogRecords
import Logging
import ObjectStore
import Platform
import Replica
import Sync

/// The options of `tidemark reap` for lifecycle rules of S3.
struct LifecycleOptions: ParsableArguments {
  @Flag(help: "Print the rule by which S3 deletes sessions of retired devices.")
  var printLifecycle = false
  @Flag(help: "Put that rule into the bucket's configuration, beside the rules of others.")
  var installLifecycle = false
  @Option(
    help: ArgumentHelp(
      """
      The longest that a session may run; otherwise 30d. The rule counts from each object by itself, \
      and takes the beginning of a session that runs for longer.
      """, valueName: "time"),
    transform: ArgumentValue.span)
  var longestSession: Duration?
  var isAsked: Bool { printLifecycle || installLifecycle }

  func validate() throws {
    if printLifecycle && installLifecycle {
      throw ValidationError("Use one of --print-lifecycle and --install-lifecycle.")
    }
  }

  /// Prints or installs the rule for the configured store.
  func run(_ age: Duration?, dryRun: Bool, yes: Bool, _ logger: Logger) async throws {
    let setup = try CommandContext(logger: logger)
    let url = try setup.storeURL()
    var retention = setup.settings.retention
    retention.remote = age ?? retention.remote
    let days = retention.lifecycleDays(longestSession: longestSession ?? .days(30))
    let rule = try LifecycleRule(url, below: SessionFolder.devicesKey, days: days)
    if printLifecycle { return Console.write(Array(rule.document.utf8)) }
    let bucket = try BucketLifecycle(
      url, settings: setup.settings.storeSettings, environment: setup.environment)
    let plan = try await bucket.plan(rule)
    show(plan, dryRun: dryRun)
    guard !plan.isInstalled, !dryRun,
      try yes || Console.mayProceed("change", "the bucket's lifecycle configuration")
    else { return }
    try await bucket.install(plan)
    Console.say("installed \(rule.id)")
  }

  private func show(_ plan: BucketLifecycle.Plan, dryRun: Bool) {
    let rule = plan.rule
    if plan.isInstalled {
      Console.say("\(rule.id) is installed: \(rule.prefix) goes after \(rule.days) days")
      return
    }
    let verb = plan.former == nil ? "install" : "replace"
    Console.say(
      "\(dryRun ? "would " : "")\(verb) \(rule.id): what is below \(rule.prefix) goes \(rule.days) "
        + "days after it was stored, also of a session that is still running")
    if let former = plan.former { Console.say("it was \(String(printable: former.utf8))") }
    for id in plan.kept {
      Console.say("keep the rule \(id.isEmpty ? "without an id" : String(printable: id.utf8))")
    }
  }
}
