import ArgumentParser
import Platform
import SessionReading

/// `tidemark tail [ID…]`.
struct Tail: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tail",
    abstract: "Print the last lines of sessions, and with -f what comes, until they end.",
    discussion: """
      Without IDs the newest session of this device, or of --device, or of --app. Several are \
      merged by time, each line behind SESSION: and nothing is passed over where the reading \
      falls behind. A session on this machine is followed across rotations; one of the store by a \
      listing each --every, of which only what has grown is fetched. How a followed session ended \
      is told on standard error.

      With --json one object a record, as 'tidemark export --format jsonl' writes it.
      """)

  @OptionGroup var sessions: SelectionOptions
  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("So many lines of each session.", valueName: "n"))
  var lines = 10
  @Flag(name: .shortAndLong, help: "Go on with what comes until the sessions end.")
  var follow = false
  @Option(help: ArgumentHelp("How often the store is asked: 10s, 1m.", valueName: "time"))
  var every = "10s"
  @OptionGroup var filter: FilterOptions
  @OptionGroup var side: SideOptions
  @Flag(help: "One JSON object a record.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if lines < 0 { throw ValidationError("--lines takes a number from 0.") }
    guard let interval = Age.parse(every), interval > .zero else {
      throw ValidationError("'\(every)' is no time; use 10s or 1m.")
    }
  }

  func run() async throws {
    let place = try owner.workplace(diagnostics.logger())
    let (entries, catalog) = try await sessions.entries(place, side, owner, limit: 1)
    guard !entries.isEmpty else {
      throw Failure(.usage, "there is no such session; 'tidemark list' shows what there is")
    }
    let choice = RecordChoice(try filter.filter(), lastLines: lines)
    var followed: [FollowedSession] = []
    for entry in entries {
      let reader = try side.reader(of: entry, in: catalog)
      followed.append(
        try await FollowedSession(reader, choice, follows: follow, report: Console.complain))
    }
    let printer = TailPrinter(entries, asJSON: json)
    try await printer.print(followed)
    guard follow else { return }
    try await self.follow(followed, printer)
  }

  /// How often files on this machine are looked at.
  private static let localPause: Duration = .milliseconds(200)

  private func follow(_ sessions: [FollowedSession], _ printer: TailPrinter) async throws {
    let pause = Age.parse(every) ?? .seconds(10)
    var rest = sessions
    var next = ContinuousClock.now
    while true {
      let asksStore = ContinuousClock.now >= next
      if asksStore { next = .now + pause }
      for session in rest where session.isLocal || asksStore { try await session.look() }
      try await printer.print(sessions)
      for session in rest where session.isDone { printer.tellEnd(of: session) }
      rest.removeAll(where: \.isDone)
      guard !rest.isEmpty else {
        if sessions.contains(where: { $0.problem != nil }) { throw ExitStatus.partial }
        return
      }
      try await Task.sleep(for: rest.contains(where: \.isLocal) ? Self.localPause : pause)
    }
  }
}
