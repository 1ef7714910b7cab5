import ArgumentParser
import Platform
import SessionReading

/// `tidemark tail [ID…]`.
struct Tail: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tail",
    abstract: "Print the last lines of sessions; with -f, follow them until they end.",
    discussion: """
      Without IDs the newest session of this device, or of --device, or of --app. Several are \
      merged by time, each line prefixed with SESSION: and nothing is passed over where the reading \
      falls behind. A session on this machine is followed across rotations; one of the store by a \
      listing each --every, of which only what has grown is fetched. How a followed session ended \
      is reported on standard error. Times in log lines are in UTC, as they were recorded.

      With --json one object a record, as 'tidemark export --format jsonl' writes it.

      Examples:
        tidemark tail -f
        tidemark tail -20 --app billing --level WARNING
      """)

  @OptionGroup var sessions: SelectionOptions
  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("How many lines of each session; otherwise 10.", valueName: "n"),
    transform: ArgumentValue.count(0...Int.max))
  var lines: Int?
  @Flag(name: .shortAndLong, help: "Follow until the sessions end.")
  var follow = false
  @Option(
    help: ArgumentHelp("How often the store is asked; otherwise every 10s.", valueName: "time"),
    transform: ArgumentValue.span)
  var every: Duration?
  @OptionGroup var filter: FilterOptions
  @OptionGroup var side: SideOptions
  @Flag(help: "One JSON object a record.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger(), isNeeded: false)
    let selected = try await selected(setup)
    let (entries, catalog) = (selected.entries, selected.catalog)
    guard !entries.isEmpty else {
      throw Failure(.usage, "no matching sessions; see 'tidemark list'")
    }
    let choice = RecordChoice(try filter.filter(), lastLines: lines ?? 10)
    var followed: [FollowedSession] = []
    for entry in entries {
      let reader = try side.reader(of: entry, in: catalog)
      followed.append(
        try await FollowedSession(reader, choice, follows: follow, report: Console.complain))
    }
    let printer = TailPrinter(entries, asJSON: json)
    try await printer.print(followed)
    guard follow else { return }
    let following = SessionFollowing(followed, askingEvery: every ?? .seconds(10), on: .current)
    let isComplete = try await following.run {
      try await printer.print($0)
    } reportEnd: {
      printer.reportEnd(of: $0)
    }
    if !isComplete { throw ExitStatus.partial }
  }

  /// The sessions to print.
  ///
  /// The newest session of this device is on this machine, so the store is queried only if its
  /// local log is gone.
  private func selected(_ setup: CommandContext) async throws -> SelectedSessions {
    if sessions.ids.isEmpty, !sessions.choice.devices.isElsewhere, !side.remote {
      var local = side
      local.local = true
      let found = try await sessions.entries(setup, local, owner, limit: 1)
      if side.local || found.entries.first?.hasLocalLog == true { return found }
    }
    return try await sessions.entries(setup, side, owner, limit: 1)
  }
}
