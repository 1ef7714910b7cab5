import ArgumentParser
import LogRecords
import Platform
import SessionReading

/// Options that filter records by their fields.
struct FilterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.",
      discussion: "ERROR,FAULT for exactly these, =ERROR for exactly one."),
    completion: .list(ArgumentValue.levelNames), transform: ArgumentValue.levels)
  var level: LevelSet?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only records since then: today, 2h, 10:00, '2026-11-22 10:00', 2026-11-22T10:00:00Z.",
      valueName: "time"),
    transform: ArgumentValue.since)
  var since: Timestamp?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only records until then, in the same forms.", valueName: "time"),
    transform: ArgumentValue.until)
  var until: Timestamp?
  @Option(help: ArgumentHelp("Only records of this category; may be repeated.", valueName: "name"))
  var category: [String] = []
  @Option(help: ArgumentHelp("Only records of this scenario; may be repeated.", valueName: "name"))
  var scenario: [String] = []
  @Option(
    help: ArgumentHelp(
      "Only what a program printed there: stdout or stderr.", valueName: "stream"),
    completion: .list(["stdout", "stderr"]))
  var stream: String?

  func validate() throws {
    try ArgumentValue.expectOrder(since: since, until: until)
    _ = try filter()
  }

  func filter() throws -> RecordFilter {
    var filter = RecordFilter(since: since, until: until)
    if let level { filter.levels = level }
    filter.categories = category
    filter.scenarios = scenario
    if let stream {
      let streams = [CapturedStream.standardOutput, .standardError]
      guard let known = streams.first(where: { $0.name == stream }) else {
        throw ValidationError("invalid stream '\(stream)'; use stdout or stderr.")
      }
      filter.stream = known
    }
    return filter
  }
}

/// Options that choose records of a log.
struct RecordOptions: ParsableArguments {
  @OptionGroup var filter: FilterOptions
  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("Only the last of the lines.", valueName: "n"),
    transform: ArgumentValue.count(0...Int.max))
  var lines: Int?
  @Flag(
    help: ArgumentHelp(
      "Skip missing or damaged parts of the remote copy.",
      discussion: "A line [GAP n bytes: reason] marks each lost range."))
  var salvage = false

  func choice() throws -> RecordChoice {
    RecordChoice(try filter.filter(), lastLines: lines)
  }

  /// How to read the store's bytes for a choice.
  func mode(for choice: RecordChoice) -> SessionReader.Mode {
    salvage ? .salvaged : choice.mode
  }
}
