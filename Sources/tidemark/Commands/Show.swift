import ArgumentParser
import LogRecords
import SessionLog
import SessionReading

/// `tidemark show ID`.
struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print a session's log.",
    discussion: """
      ID may be shortened as long as it is unique; without it, the newest session that --app, --failed, \
      --device and the like choose. Times in log lines are in UTC, as they were recorded. On a terminal control bytes are made visible, \
      whatever the form asked for; through a pipe the bytes are exact. Of a session in the store \
      --lines, --since and --until fetch only the parts that they need. Exit code 65 when --salvage \
      had something to pass over, 77 when its log was not sent (consent: metadata). With --json one \
      object a record, as 'tidemark export --format jsonl' writes it. A file that was rewritten after \
      it was sent has another generation for each content, all in the store; --generation shows a \
      former one.

      Examples:
        tidemark show k3f9a7c2 -n50
        tidemark show k3f9a7c2 --level ERROR --since 10:00
        tidemark show --failed --app billing
      """)

  @Argument(
    help: "The session, as 'tidemark list' shows it; its id may be shortened.",
    completion: .custom(SessionCompletion.ids))
  var id: String?
  @OptionGroup var choice: ChoiceOptions
  @OptionGroup var side: SideOptions
  @OptionGroup var records: RecordOptions
  @Option(
    help: ArgumentHelp(
      "What the file held before it was rewritten; 'tidemark list --json' names the generations.",
      valueName: "n"),
    transform: ArgumentValue.count(1...999_999))
  var generation: Int?
  @Flag(help: "What the program printed, without our prefixes.")
  var plain = false
  @Flag(help: "The stream's exact bytes.")
  var raw = false
  @Flag(help: "One JSON object a record.")
  var json = false

  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if (id == nil) != choice.isChoosing {
      throw ValidationError(
        "Name a session, or choose the newest by --app, --failed, --device and the like; "
          + "'tidemark list' shows them.")
    }
    if [plain, raw, json].count(where: \.self) > 1 {
      throw ValidationError("--plain, --raw and --json exclude each other.")
    }
    if generation != nil, side.local {
      throw ValidationError("Former generations are only in the store: try without --local.")
    }
    if generation != nil, records.salvage {
      throw ValidationError("--salvage reads the newest generation only.")
    }
    if raw, try !records.filter.filter().admitsAll {
      throw ValidationError("--raw cannot be combined with filters.")
    }
  }

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger(), isNeeded: false)
    // Only the store has former generations.
    var side = side
    if generation != nil { side.remote = true }
    let (entry, catalog) = try await entry(setup, side)
    let reader = try side.reader(of: entry, generation: generation, in: catalog)
    if generation == nil, let former = entry.sidecar.former?.last {
      Console.complain(
        "\(entry.session): the file was rewritten after it was sent; 'tidemark show --generation "
          + "\(former.generation) \(entry.session)' shows what it held until \(former.until)")
    }
    let choice = try records.choice()
    let mode = records.mode(for: choice)
    let isWhole: Bool
    if raw || (plain && choice.filter.admitsAll && entry.sidecar.format == .asIs) {
      isWhole = try await reader.read(choice, mode) { Console.show($0) }
    } else if plain && entry.sidecar.format == .lines {
      var plain = PlainText()
      isWhole = try await reader.readLines(choice, mode) { line in
        plain.add(line.bytes).withUnsafeBytes { Console.show($0) }
      }
      plain.finish().withUnsafeBytes { Console.show($0) }
    } else if json {
      var records = RecordJSON(entry.sidecar, generation: reader.former?.generation)
      let output = LineOutput()
      isWhole = try await reader.readLines(choice, mode) { line in
        records.add(line) { output.write($0) }
      }
      records.finish { output.write($0) }
      output.flush()
    } else {
      isWhole = try await reader.readLines(choice, mode) { Console.show($0) }
    }
    if !isWhole { throw ExitStatus.integrity }
  }

  private func entry(
    _ setup: CommandContext, _ side: SideOptions
  ) async throws -> (SessionCatalog.Entry, SessionCatalog) {
    let catalog = try side.catalog(setup)
    if let id { return (try await side.entry(named: id, in: catalog), catalog) }
    let selected = try await choice.newest(
      in: catalog, setup, owner, since: records.filter.since, until: records.filter.until, limit: 1,
      includesLocal: !side.remote)
    guard let entry = selected.entries.first else {
      throw Failure(.usage, "no matching sessions; see 'tidemark list'")
    }
    return (entry, selected.catalog)
  }
}
