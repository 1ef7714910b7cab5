import ArgumentParser
import Fleet
import LogRecords
import Platform
import SessionLog

/// `tidemark alert status`.
struct AlertStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Print which alerts fire, wait or are silenced, and what was not delivered.",
    discussion: """
      Nothing is asked of the store. With --json one object: firing and pending (rule, key, since, last, \
      count, toldAt, sample), silences, undelivered (target, message), failing (attempts, error, next, \
      by target).

      Examples:
        tidemark alert status
      """)

  @OptionGroup var zone: ZoneOptions
  @Flag(help: "One JSON object.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  struct Report: Encodable {
    let firing: [Fleet.Alert]
    let pending: [Fleet.Alert]
    let silences: [AlertSilence]
    let undelivered: [OutgoingAlert]
    let failing: [String: FailingTarget]

    var isEmpty: Bool {
      firing.isEmpty && pending.isEmpty && silences.isEmpty && undelivered.isEmpty
    }
  }

  func run() async throws {
    let setup = try CommandContext(isNeeded: false, logger: diagnostics.logger())
    let state = try AlertState.load(setup.home.alertStatePath, report: Console.complain)
    let alerts = state.ledger.alerts.values.sorted { ($0.rule, $0.since) < ($1.rule, $1.since) }
    let report = Report(
      firing: alerts.filter { $0.phase == .firing },
      pending: alerts.filter { $0.phase == .pending },
      silences: state.ledger.silences.filter { $0.until > .now() }, undelivered: state.outbox,
      failing: state.failing)
    if json { return Console.say(try Console.json(report)) }
    if report.isEmpty && report.failing.isEmpty {
      return Console.remark("nothing fires, and everything was delivered")
    }
    Console.show(Self.table(report, zone.zone))
  }

  /// The table of firing and pending alerts, silences, and undelivered messages.
  static func table(_ report: Report, _ zone: LocalZone) -> Table {
    var table = Table([
      .init(name: "state"), .init(name: "alert", least: 8), .init(name: "subject", least: 8),
      .init(name: "count", isRight: true, rank: 1), .init(name: "since", rank: 2),
      .init(name: "until", rank: 3), .init(name: "reason", least: 12),
    ])
    func time(_ time: Timestamp) -> Table.Cell {
      .init(zone.text(time), short: String(zone.text(time).dropLast(3)))
    }
    // For display: a difference between the clocks shows as a slightly different time.
    for (state, colour, alerts) in [
      ("firing", Console.Colour.red, report.firing), ("pending", .yellow, report.pending),
    ] {
      for alert in alerts {
        let subject = alert.sample.subject
        let app = subject.app.map { "\($0) on " } ?? ""
        table.add([
          .init(state, colour: colour), .init(alert.rule), .init("\(app)\(subject.deviceName)"),
          .init(String(alert.count)), time(alert.since.assumingSynchronizedClocks), "", "",
        ])
      }
    }
    for silence in report.silences {
      table.add([
        "silenced", .init(silence.alert),
        .init(silence.device.map { String(printable: $0.utf8) } ?? ""), "", "",
        time(silence.until), .init(String(oneLine: silence.reason)),
      ])
    }
    for (name, failing) in report.failing.sorted(by: { $0.key < $1.key }) {
      let waiting = report.undelivered.count { $0.target == name }
      table.add([
        .init("undelivered", colour: .yellow), "", .init(String(oneLine: name)),
        .init(String(waiting)), "", "",
        .init("failed \(failing.timesText): \(String(oneLine: failing.error))"),
      ])
    }
    return table
  }
}
