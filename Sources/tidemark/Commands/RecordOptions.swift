import ArgumentParser
import LogRecords
import Platform
import SessionReading

/// What records say of themselves.
struct FilterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.",
      discussion: "ERROR,FAULT for exactly these, =ERROR for exactly one."))
  var level: String?
  @Option(help: "Only records since then: 2h, 3d, or 2026-01-22T14:30:05Z.")
  var since: String?
  @Option(help: "Only records until then, in the same forms.")
  var until: String?
  @Option(help: ArgumentHelp("Only records of this category; may be repeated.", valueName: "name"))
  var category: [String] = []
  @Option(help: ArgumentHelp("Only records of this scenario; may be repeated.", valueName: "name"))
  var scenario: [String] = []
  @Option(
    help: ArgumentHelp(
      "Only what a program printed there: stdout or stderr.", valueName: "stream"))
  var stream: String?

  func validate() throws { _ = try filter() }

  func filter() throws -> RecordFilter {
    var filter = RecordFilter(since: try Self.time(since), until: try Self.time(until))
    if let level {
      guard let known = LevelSet(level) else {
        throw ValidationError(
          "'\(level)' is no level; use TRACE, DEBUG, INFO, SUCCESS, WARNING, ERROR or FAULT.")
      }
      filter.levels = known
    }
    filter.categories = category
    filter.scenarios = scenario
    if let stream {
      let streams = [CapturedStream.standardOutput, .standardError]
      guard let known = streams.first(where: { $0.name == stream }) else {
        throw ValidationError("'\(stream)' is no stream; use stdout or stderr.")
      }
      filter.stream = known
    }
    return filter
  }

  private static func time(_ text: String?) throws -> Timestamp? {
    guard let text else { return nil }
    if let time = Timestamp(iso: text) ?? Timestamp(iso: text + "T00:00:00Z") { return time }
    if let age = Age.parse(text) { return .now() - age }
    throw ValidationError("'\(text)' is no time; use 2h, 3d or 2026-01-22T14:30:05Z.")
  }
}

/// Which records of a log.
struct RecordOptions: ParsableArguments {
  @OptionGroup var filter: FilterOptions
  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("Only the last of the lines.", valueName: "n"))
  var lines: Int?
  @Flag(
    help: ArgumentHelp(
      "Go on past what is missing or damaged in the store.",
      discussion: "A line [GAP n bytes: reason] stands for each stretch that is lost."))
  var salvage = false

  func validate() throws {
    if let lines, lines < 0 { throw ValidationError("--lines takes a number from 0.") }
  }

  func choice() throws -> RecordChoice {
    RecordChoice(try filter.filter(), lastLines: lines)
  }

  /// How bytes from the store are read for a choice.
  func mode(for choice: RecordChoice) -> SessionReader.Mode {
    salvage ? .salvaged : choice.mode
  }
}
