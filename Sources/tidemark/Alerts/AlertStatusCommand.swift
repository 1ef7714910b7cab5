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

  private struct Report: Encodable {
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
    let place = try Workplace(logger: diagnostics.logger())
    let state = try AlertState.load(place.home.alertStatePath, report: Console.complain)
    let alerts = state.ledger.alerts.values.sorted { ($0.rule, $0.since) < ($1.rule, $1.since) }
    let report = Report(
      firing: alerts.filter { $0.phase == .firing },
      pending: alerts.filter { $0.phase == .pending },
      silences: state.ledger.silences.filter { $0.until > .now() }, undelivered: state.outbox,
      failing: state.failing)
    if json { return Console.say(try Console.json(report)) }
    for alert in report.firing { Console.say(line("firing  ", alert)) }
    for alert in report.pending { Console.say(line("pending ", alert)) }
    for silence in report.silences {
      Console.say("silenced \(silence.text(zone.zone))")
    }
    for (name, failing) in report.failing.sorted(by: { $0.key < $1.key }) {
      let waiting = report.undelivered.count { $0.target == name }
      Console.say(
        "waiting  \(waiting) for \(name), which failed \(failing.timesText): \(failing.error)")
    }
    if report.isEmpty { Console.remark("nothing fires, and everything was delivered") }
  }

  private func line(_ phase: String, _ alert: Fleet.Alert) -> String {
    let subject = alert.sample.subject
    let app = subject.app.map { "\($0) on " } ?? ""
    return
      "\(phase) \(alert.rule): \(app)\(subject.deviceName), \(alert.count) since "
      + zone.zone.textWithOffset(alert.since)
  }
}
