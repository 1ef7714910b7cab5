import ArgumentParser
import LogRecords
import Platform
import SessionReading

/// `tidemark grep PATTERN [ID…]`.
struct Grep: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grep",
    abstract: "Look for lines in sessions, here and in the store.",
    discussion: """
      PATTERN is a POSIX extended expression over bytes. Without IDs all sessions of this device are \
      looked at that grew in the last 7 days, or since --since, oldest first. The local log is read \
      where it is complete, else the store's, and of that only the frames whose index says that \
      records of the asked levels and times are in them. Context lines are those of the records \
      that the filters admit.

      With more than one session each line stands behind SESSION: (context: SESSION-). With --json \
      one object a matching line: session, device, app, time, level, category, stream, scenario, \
      offset in bytes, message, and messageBase64 where it is not UTF-8.

      Exit codes are grep's where it has them: 0 when a line matched, 1 when none did. What could \
      not be read is told by 64, 65, 75, 77 or 78, even where lines matched, and never by 1.
      """)

  @Argument(help: "What to look for.")
  var pattern: String
  @OptionGroup var sessions: SelectionOptions
  @OptionGroup var filter: FilterOptions
  @OptionGroup var side: SideOptions

  @Flag(name: [.customShort("F"), .long], help: "PATTERN is a text, not an expression.")
  var fixedStrings = false
  @Flag(name: .shortAndLong, help: "ASCII letters of either case are alike.")
  var ignoreCase = false
  @Flag(name: [.customShort("v"), .long], help: "Lines that do not match.")
  var invertMatch = false
  @Flag(name: .shortAndLong, help: "Only how many lines match, for each session.")
  var count = false
  @Flag(name: [.customShort("l"), .long], help: "Only the sessions in which a line matches.")
  var sessionsWithMatches = false
  @Option(
    name: [.customShort("A"), .long],
    help: ArgumentHelp("Lines after each match too.", valueName: "n"))
  var afterContext: Int?
  @Option(
    name: [.customShort("B"), .long],
    help: ArgumentHelp("Lines before each match too.", valueName: "n"))
  var beforeContext: Int?
  @Option(
    name: [.customShort("C"), .long],
    help: ArgumentHelp("Lines before and after each match too.", valueName: "n"))
  var context: Int?
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("At most so many matches of a session.", valueName: "n"))
  var maxCount: Int?
  @Flag(help: "One JSON object a matching line.")
  var json = false
  @OptionGroup var owner: UserOptions
  // Not -v, which is grep's own.
  @Flag(help: DiagnosticOptions.help)
  var verbose: Int

  func validate() throws {
    _ = try linePattern()
    for number in [afterContext, beforeContext, context, maxCount].compactMap(\.self)
    where !(0...100_000).contains(number) {
      throw ValidationError("-A, -B, -C and -m take a number from 0 to 100000.")
    }
    if [json, count, sessionsWithMatches].count(where: \.self) > 1 {
      throw ValidationError("--json, --count and --sessions-with-matches exclude each other.")
    }
  }

  /// Sessions that have been silent for longer are looked at when asked for.
  private static let usual = Duration.days(7)

  func run() async throws {
    let place = try owner.workplace(DiagnosticOptions.logger(verbosity: verbose))
    let records = try filter.filter()
    let usual = Timestamp.now() - Self.usual
    let (entries, catalog) = try await sessions.entries(
      place, side, owner, since: records.since ?? usual, until: records.until)
    let choice = RecordChoice(records)
    let search = try search()
    let printer = GrepPrinter(
      labels: SessionLabels(entries), form: form, isAlone: entries.count == 1)
    var failures: Set<ExitStatus> = []
    var isFound = false
    for entry in entries {
      do {
        let reader = try side.reader(of: entry, in: catalog)
        printer.begin(entry)
        let found = try await search.run(in: reader, choice) { finding in
          switch finding {
          case .piece(let piece): printer.show(piece, invertMatch ? nil : search.pattern)
          case .record(let line, let isMatch): printer.pass(line, isMatch: isMatch)
          }
        }
        printer.end(found)
        isFound = isFound || found > 0
      } catch let error as CancellationError {
        throw error
      } catch {
        printer.flush()
        Console.complain("\(entry.session): \(error)")
        failures.insert(ExitStatus(error))
      }
    }
    printer.flush()
    guard failures.isEmpty else {
      let status = ExitStatus(of: failures)
      throw status == .partial ? ExitStatus.tryLater : status
    }
    if !isFound { throw ExitCode(1) }
  }

  private func linePattern() throws -> LinePattern {
    do {
      return try LinePattern(pattern, isFixed: fixedStrings, ignoresCase: ignoreCase)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  private var form: GrepPrinter.Form {
    json ? .json : count ? .counts : sessionsWithMatches ? .sessions : .lines
  }

  private func search() throws -> SessionSearch {
    var search = SessionSearch(try linePattern())
    search.isInverted = invertMatch
    search.limit = maxCount ?? .max
    search.before = beforeContext ?? context ?? 0
    search.after = afterContext ?? context ?? 0
    search.extent =
      switch form {
      case .lines: .lines
      case .sessions: .sessions
      case .counts, .json: .records
      }
    return search
  }
}
