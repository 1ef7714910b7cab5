import ArgumentParser
import Fleet
import LogRecords
import Platform
import SessionLog

/// `tidemark alert silence`.
struct AlertSilenceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "silence",
    abstract: "Report nothing of an alert for a time.",
    discussion: """
      What happens meanwhile is counted, and not reported later either. With --list and --json one object \
      a silence: alert, device, until, reason.

      Examples:
        tidemark alert silence crashed --for 2h --reason 'known, fixed in 2.1'
      """)

  @Argument(help: "The alert's name in alerts.yaml.")
  var alert: String?
  @Option(help: ArgumentHelp("Only of this device, by name or id.", valueName: "device"))
  var device: String?
  @Option(
    name: .customLong("for"), help: ArgumentHelp("How long: 2h, 3d.", valueName: "time"),
    transform: ArgumentValue.span)
  var span: Duration?
  @Option(help: ArgumentHelp("The reason, shown with the silence.", valueName: "text"))
  var reason: String?
  @Flag(help: "End the silences of this alert.")
  var end = false
  @Flag(help: "Print the silences that hold.")
  var list = false
  @OptionGroup var zone: ZoneOptions
  @Flag(help: "Change nothing; print what would be silenced.")
  var dryRun = false
  @Flag(help: "With --list, one JSON object a silence.")
  var json = false
  @OptionGroup var rules: AlertRuleOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if list { return }
    guard alert != nil else { throw ValidationError("Name an alert, or use --list.") }
    if end { return }
    guard span != nil else { throw ValidationError("A silence needs an end: --for 2h.") }
    guard reason?.isEmpty == false else { throw ValidationError("Say why: --reason TEXT.") }
  }

  func run() async throws {
    let setup = try CommandContext(logger: diagnostics.logger())
    if list { return try show(setup) }
    guard let alert else { return }
    _ = try rules.settings(setup).rule(alert)
    guard !dryRun else {
      let whose = device.map { " of \(String(oneLine: $0, limit: 80))" } ?? ""
      let until = span.map { " until \(zone.zone.textWithOffset(.now() + $0))" } ?? ""
      return Console.say(
        end
          ? "would end the silences of \(alert)\(whose)" : "would silence \(alert)\(whose)\(until)")
    }
    try Directory.make(setup.home.operatorPath)
    let file = AlertStateFile(setup.home.alertStatePath)
    try await file.change { state in
      guard let span, !end else {
        state.ledger.silences.removeAll {
          $0.alert == alert && (device == nil || $0.device == device)
        }
        return
      }
      if let device, !state.knows(device: device) {
        Console.complain(
          "no pass has seen a device '\(String(oneLine: device, limit: 80))' by this name or id: the "
            + "silence holds for one that is seen later; 'tidemark list --all-devices --summary' names "
            + "those in the store")
      }
      state.ledger.silences.append(
        AlertSilence(
          alert: alert, device: device, until: Timestamp.now() + span,
          reason: String(oneLine: reason ?? "", limit: 256)))
    }
  }

  private func show(_ setup: CommandContext) throws {
    let now = Timestamp.now()
    let state = try AlertState.load(setup.home.alertStatePath, report: Console.complain)
    let silences = state.ledger.silences.filter { $0.until > now }
    if json { return try silences.forEach { Console.say(try Console.json($0)) } }
    guard !silences.isEmpty else { return Console.remark("nothing is silenced") }
    Console.show(Self.table(silences, zone.zone))
  }

  /// The table of silences.
  static func table(_ silences: [AlertSilence], _ zone: LocalZone) -> Table {
    var table = Table([
      .init(name: "alert", least: 8), .init(name: "device", least: 6, rank: 1),
      .init(name: "until"), .init(name: "reason", least: 12),
    ])
    for silence in silences {
      let until = zone.text(silence.until)
      table.add([
        .init(silence.alert), .init(silence.device.map { String(printable: $0.utf8) } ?? ""),
        .init(until, short: String(until.dropLast(3))), .init(String(oneLine: silence.reason)),
      ])
    }
    return table
  }
}
