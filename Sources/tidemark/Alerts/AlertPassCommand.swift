import ArgumentParser
import Fleet
import Foundation
import LogRecords
import ObjectStore
import Platform
import SessionLog
import SessionReading

/// `tidemark alert`, one pass.
struct AlertPassCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pass",
    abstract: "Look once; what 'tidemark alert' does.",
    discussion: """
      Exit code 0; 75 when the store cannot be reached, a message was not delivered yet, or another \
      pass has run for more than ten minutes; 65 when a session's sidecar or log is damaged, missing or \
      not its device's, named once; with --check 1 while an alert fires. Without a terminal a store or a \
      target that fails is reported once an hour.

      Examples:
        tidemark alert --dry-run
        tidemark alert --test crashed
      """)

  @OptionGroup var rules: AlertRuleOptions
  @Flag(help: "Exit code 1 while an alert fires.")
  var check = false
  @Option(
    help: ArgumentHelp(
      "How old what the first pass reports may be; otherwise 1h.", valueName: "time"),
    transform: ArgumentValue.span)
  var since: Duration?
  @Flag(help: "Print what would be reported, and report and remember nothing.")
  var dryRun = false
  @Option(
    help: ArgumentHelp("Send a made-up message of this alert to its targets.", valueName: "name"))
  var test: String?
  @Flag(help: "One JSON object a message.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    let setup = try CommandContext(logger: diagnostics.logger())
    let settings = try rules.settings(setup)
    let sender = try TargetSender(settings, in: setup, asJSON: json)
    if let test {
      return try await send(AlertNotification.example(of: settings.rule(test), at: .now()), sender)
    }
    var pass = AlertPass(settings.rules, state: setup.home.alertStatePath) { .now() }
    pass.most = settings.most
    pass.newsAge = since ?? pass.newsAge
    try Directory.make(setup.home.operatorPath)
    let context = try setup.reading(.remote)
    guard let store = context.store else { return }
    pass.keys = context.keys
    guard !dryRun else {
      let report = try await pass.preview(store, report: Console.complain)
      for message in report.decided { print(message.notification) }
      for problem in report.problems { Console.complain(problem) }
      if let error = report.storeError { throw error }
      if !report.problems.isEmpty { throw ExitStatus.integrity }
      return
    }
    guard let lock = try pass.lock() else {
      return try reportBusy(pass, setup)
    }
    let report = try await pass.run(store, sender, holding: lock, report: Console.complain)
    for problem in report.problems { Console.complain(problem) }
    for lost in report.lost {
      Console.complain(
        "given up after a day: the message '\(lost.notification.text)' to \(lost.target)")
    }
    let isHeard = await beat(settings, setup, after: report)
    try complain(report, setup)
    if let error = report.storeError { throw ExitStatus(error) }
    if report.undelivered > 0 || !isHeard { throw ExitStatus.tryLater }
    if !report.problems.isEmpty { throw ExitStatus.integrity }
    if check, report.firing > 0 { throw ExitStatus.partial }
  }

  /// Reports that another pass is running, which does the work of this one, unless it has run for too
  /// long, as with a store that does not answer.
  private func reportBusy(_ pass: AlertPass, _ setup: CommandContext) throws {
    guard let since = try pass.busySince(up: Machine.current.uptime()) else {
      return Console.remark("another pass is running")
    }
    if Console.errorIsTerminal || HourlyReport(setup.home, .longAlerts).isDue("", at: .now()) {
      Console.complain(Self.busyText(pass.path, since: since, at: .now()))
    }
    throw ExitStatus.tryLater
  }

  /// A line about a pass that has run for too long.
  static func busyText(_ path: String, since: Timestamp, at now: Timestamp) -> String {
    "another 'tidemark alert' has run for \(Age.text(now - since)), and nothing is reported meanwhile; "
      + "'fuser -v \(path).lock' names it; end it if it hangs"
  }

  private func print(_ message: AlertNotification) {
    Console.say(AlertOutput.text(message, asJSON: json))
  }

  private func send(_ message: (AlertNotification, [String]), _ sender: TargetSender) async throws {
    var failures = 0
    for target in message.1.isEmpty ? [""] : message.1 {
      guard let error = await sender.send(message.0, to: target) else { continue }
      Console.complain(error)
      failures += 1
    }
    if failures > 0 { throw ExitStatus.partial }
  }

  /// Requests the heartbeat's URL if the pass went well; false if that failed.
  private func beat(
    _ settings: AlertSettings, _ setup: CommandContext, after report: AlertPass.Report
  ) async -> Bool {
    guard let heartbeat = settings.heartbeat, report.wentWell else { return true }
    guard let transport = try? setup.settings.storeSettings.alertTransport(),
      let error = await Heartbeat(transport).ping(heartbeat)
    else { return true }
    if Console.errorIsTerminal { Console.complain("heartbeat: \(error)") }
    return false
  }

  /// Reports failures: on a terminal at once, else once an hour.
  private func complain(_ report: AlertPass.Report, _ setup: CommandContext) throws {
    let store = report.storeError.map { ["\($0)"] } ?? []
    let targets = report.failing.sorted { $0.key < $1.key }.map { name, failing in
      "\(name) failed \(failing.timesText): \(failing.error)"
    }
    guard !(store + targets).isEmpty else { return }
    // Without the number of attempts, which grows with each pass.
    let kinds = store + report.failing.map { "\($0.key): \($0.value.error)" }.sorted()
    let hourly = HourlyReport(setup.home, .alerts)
    guard Console.errorIsTerminal || hourly.isDue(kinds.joined(separator: "; "), at: .now()) else {
      return
    }
    for line in store + targets { Console.complain(line) }
    if report.undelivered > 0 {
      Console.complain(
        "\(report.undelivered) \(report.undelivered == 1 ? "message" : "messages") not delivered yet"
      )
    }
  }
}
