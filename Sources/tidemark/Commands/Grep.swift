import ArgumentParser
import LogRecords
import ObjectStore
import Platform
import SessionLog
import SessionReading

/// `tidemark grep PATTERN [ID…]`.
struct Grep: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grep",
    abstract: "Look for lines in local and remote sessions.",
    discussion: """
      PATTERN is a POSIX extended expression over bytes, and \\d a digit. Without IDs all sessions of this device are \
      looked at that grew in the last 7 days, or since --since, oldest first. The local log is read \
      where it is complete, else the store's, and of that only the frames whose index says that \
      records of the requested levels and times are in them. Context lines are those of the \
      records that pass the filters.

      With more than one session each line is prefixed with SESSION: (context: SESSION-). With --json \
      one object a matching line: session, device, app, time, level, category, stream, scenario, \
      offset in bytes, message, and messageBase64 where it is not UTF-8. Of a file that was rewritten after \
      it was sent, lines that it no longer holds are found in the store, unless --local; their prefix is \
      SESSION@GENERATION:, in JSON generation.

      Exit codes are grep's where it has them: 0 when a line matched, 1 when none did. What could \
      not be read makes it 64, 65, 75, 77 or 78, even where lines matched, and never 1; with -q a line \
      that matched makes it 0.

      Examples:
        tidemark grep -i -C2 'time-?out' --since today
        tidemark grep -c -e ERROR -e FATAL --app billing --all-devices
      """)

  @Argument(help: "What to look for; with -e a session.")
  var pattern: String?
  @OptionGroup var sessions: SelectionOptions
  @OptionGroup var filter: FilterOptions
  @OptionGroup var side: SideOptions

  @Option(
    name: [.customShort("e"), .long], parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "What to look for, also if it begins with '-'; may be repeated: lines that match any.",
      valueName: "pattern"))
  var regexp: [String] = []
  @Flag(
    name: [.customShort("E"), .long], help: "PATTERN is an extended expression, as it is anyway.")
  var extendedRegexp = false
  @Flag(name: [.customShort("F"), .long], help: "PATTERN is a text, not an expression.")
  var fixedStrings = false
  @Flag(name: .shortAndLong, help: "Ignore case (ASCII letters).")
  var ignoreCase = false
  @Flag(name: [.customShort("v"), .long], help: "Lines that do not match.")
  var invertMatch = false
  @Flag(name: .shortAndLong, help: "Only how many lines match, for each session.")
  var count = false
  @Flag(name: [.customShort("n"), .long], help: "Each line's number in its session's log.")
  var lineNumber = false
  @Flag(name: [.customShort("o"), .long], help: "Only what matches of each line.")
  var onlyMatching = false
  @Flag(name: [.customShort("q"), .long], help: "Print nothing; report matches by exit code.")
  var quiet = false
  @Option(
    help: ArgumentHelp("When to colour.", valueName: "when"),
    completion: .list(["auto", "always", "never"]))
  var color = ColourChoice.auto
  @Flag(name: [.customShort("l"), .long], help: "Only the sessions in which a line matches.")
  var sessionsWithMatches = false
  @Option(
    name: [.customShort("A"), .long],
    help: ArgumentHelp("Print N lines after each match.", valueName: "n"),
    transform: ArgumentValue.count(0...100_000))
  var afterContext: Int?
  @Option(
    name: [.customShort("B"), .long],
    help: ArgumentHelp("Print N lines before each match.", valueName: "n"),
    transform: ArgumentValue.count(0...100_000))
  var beforeContext: Int?
  @Option(
    name: [.customShort("C"), .long],
    help: ArgumentHelp("Print N lines before and after each match.", valueName: "n"),
    transform: ArgumentValue.count(0...100_000))
  var context: Int?
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Stop after N matches per session.", valueName: "n"),
    transform: ArgumentValue.count(0...100_000))
  var maxCount: Int?
  @Flag(help: "One JSON object a matching line.")
  var json = false
  @OptionGroup var owner: UserOptions
  // Not -v, which is grep's own.
  @Flag(help: DiagnosticOptions.help)
  var verbose: Int

  enum ColourChoice: String, CaseIterable, ExpressibleByArgument { case auto, always, never }

  func validate() throws {
    _ = try linePattern()
    if [json, count, sessionsWithMatches, quiet, onlyMatching].count(where: \.self) > 1 {
      throw ValidationError(
        "--json, --count, --sessions-with-matches, --only-matching and --quiet exclude each other.")
    }
    if onlyMatching, invertMatch {
      throw ValidationError("--only-matching and --invert-match exclude each other.")
    }
    if !named.ids.isEmpty, sessions.isChoosing {
      throw ValidationError("Use either session ids or selection options, not both.")
    }
  }

  /// The sessions; with `-e`, the first word is one of them.
  private var named: SelectionOptions {
    var named = sessions
    if !regexp.isEmpty, let pattern { named.ids.insert(pattern, at: 0) }
    return named
  }

  /// How recently sessions must have grown to be searched by default.
  private static let usual = Duration.days(7)

  func run() async throws {
    let setup = try owner.setup(
      DiagnosticOptions.logger(verbosity: verbose), isNeeded: false)
    let records = try filter.filter()
    let usual = Timestamp.now() - Self.usual
    let selected = try await named.entries(
      setup, side, owner, since: records.since ?? usual, until: records.until)
    let (entries, catalog) = (selected.entries, selected.catalog)
    let choice = RecordChoice(records)
    let search = try search()
    switch color {
    case .auto: break
    case .always: Console.forcedColour.withLock { $0 = true }
    case .never: Console.forcedColour.withLock { $0 = false }
    }
    let printer = GrepPrinter(
      labels: SessionLabels(entries), form: form, isAlone: entries.count == 1,
      numbersLines: lineNumber)
    var failures: [ExitStatus] = []
    var isFound = false
    for entry in entries {
      let former = side.local ? [] : entry.sidecar.former ?? []
      var known = former.isEmpty ? nil : SessionSearch.KnownLines()
      var rest = search
      do {
        for generation in [nil] + former.reversed().map({ Optional($0.generation) }) {
          var side = side
          if generation != nil {
            guard entry.remote != nil else {
              Console.complain(
                "\(entry.session): what the file held before it was rewritten is only in the store, and "
                  + "was not searched")
              break
            }
            side.remote = true
          }
          let reader = try side.reader(of: entry, generation: generation, in: catalog)
          printer.begin(entry, generation)
          let (found, isWhole) = try await rest.run(in: reader, choice, besides: &known) {
            finding in
            switch finding {
            case .piece(let piece, let number):
              printer.show(piece, invertMatch ? nil : search.pattern, number: number)
            case .record(let line, let isMatch): printer.pass(line, isMatch: isMatch)
            }
          }
          printer.end(found)
          if !isWhole { failures.append(.integrity) }
          isFound = isFound || found > 0
          rest.limit -= found
          if quiet, isFound { return }
        }
      } catch let error as CancellationError {
        throw error
      } catch {
        printer.flush()
        Console.complain("\(entry.session): \(error)")
        failures.append(ExitStatus(error))
      }
    }
    printer.flush()
    if let error = selected.storeError { failures.append(ExitStatus(error)) }
    guard failures.isEmpty else {
      let status = ExitStatus(of: failures)
      throw status == .partial ? ExitStatus.tryLater : status
    }
    if !isFound { throw ExitCode(1) }
  }

  private func linePattern() throws -> LinePattern {
    let patterns = regexp.isEmpty ? [pattern].compactMap(\.self) : regexp
    guard let first = patterns.first else {
      throw ValidationError("Say what to look for: tidemark grep PATTERN")
    }
    if patterns.count > 1, fixedStrings {
      throw ValidationError("-F takes one pattern.")
    }
    let all = patterns.count == 1 ? first : patterns.map { "(\($0))" }.joined(separator: "|")
    do {
      return try LinePattern(all, isFixed: fixedStrings, ignoresCase: ignoreCase)
    } catch {
      throw ValidationError("\(error); -F looks for it literally")
    }
  }

  private var form: GrepPrinter.Form {
    if quiet { return .nothing }
    if onlyMatching { return .matches }
    return json ? .json : count ? .counts : sessionsWithMatches ? .sessions : .lines
  }

  private func search() throws -> SessionSearch {
    var search = SessionSearch(try linePattern())
    search.isInverted = invertMatch
    search.limit = maxCount ?? .max
    if form == .lines {
      search.before = beforeContext ?? context ?? 0
      search.after = afterContext ?? context ?? 0
    }
    search.numbersLines = lineNumber && (form == .lines || form == .matches)
    search.extent =
      switch form {
      case .lines, .matches: .lines
      case .sessions, .nothing: .sessions
      case .counts, .json: .records
      }
    return search
  }
}
