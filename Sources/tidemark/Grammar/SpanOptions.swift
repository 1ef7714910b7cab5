import ArgumentParser
import Platform
import SessionLog
import SessionReading

/// Options that select sessions by the time they were running.
struct SpanOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only sessions that grew since then: today, 2h, '2026-11-22 10:00'.", valueName: "time"),
    transform: ArgumentValue.since)
  var since: Timestamp?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only sessions that began until then.", valueName: "time"),
    transform: ArgumentValue.until)
  var until: Timestamp?

  func validate() throws { try ArgumentValue.expectOrder(since: since, until: until) }

  /// Whether a session that grew since then began until then.
  func includes(_ entry: SessionCatalog.Entry) -> Bool {
    until.map { entry.sidecar.startedAt <= $0 } ?? true
  }

  var isChoosing: Bool { since != nil || until != nil }
}
