import ArgumentParser
import Foundation
import LogRecords
import Platform
import Redaction
import SessionLog
import SessionReading

/// `tidemark export [ID…]`.
struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write sessions as text, JSON lines, tar or asciicast.",
    discussion: """
      Sessions are named by ID, or chosen as 'tidemark list' does it: by --failed, --app, --device, \
      --all-devices, or by --since and --until, which choose records as well. The local log is \
      taken where it is complete, else the store's. A file appears under its name only when it is \
      whole, or when --salvage passed over what is missing: exit code 65. Of several sessions, one \
      that is damaged is named and left out: exit code 65. A session that is in the \
      store without its log (consent: metadata) is reported: exit code 77.

      text: a header that says where a session comes from, then its log; a file each in the folder \
      that -o names. jsonl: one object a record: session, device, app, time, level, category, \
      stream, scenario, offset (of its first byte in the log), message; of other programs' logs the \
      whole line is the message. A message that is not UTF-8 stands in messageBase64 too, exactly. \
      "newline": false says that the message does not end a line of the program, "continues": true \
      that an object continues the one before. tar: each session's .log and .json in the one \
      file that -o names. asciicast: for players of terminal recordings, such as asciinema's; made of \
      sessions that were recorded with 'run --pty'.

      With --json one object a line for each file of a session: path, written.

      Secrets are masked by the rules under 'redact:' in the configuration, as they are when logs are \
      sent; --show-secrets leaves local logs as they are. The files can be read by their owner only \
      (mode 0600).

      --merge writes all sessions on one time line into the one file that -o names; timestamps are \
      corrected for the device clock offset that uploads have measured (clockOffset, in \
      milliseconds, server less device), and each record is labelled with its session.

      Examples:
        tidemark export k3f9a7c2 -o logs
        tidemark export --failed --since 3d --format tar -o failed.tar
        tidemark export --merge --format jsonl -o - ID1 ID2
      """)

  @OptionGroup var sessions: SelectionOptions
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "A folder, or a file for tar and --merge; - for standard output.", valueName: "path"),
    completion: .file())
  var output: String
  @Option(help: ArgumentHelp("The format.", valueName: "format"))
  var format = SessionExport.Format.text
  @Flag(help: "All sessions on one time line.")
  var merge = false
  @Flag(help: "Write nothing; print the files that would be written.")
  var dryRun = false
  @Flag(help: "Print each file that was written as a JSON object on a line.")
  var json = false
  @Flag(help: "With --merge, leave the times as the devices wrote them.")
  var noClockOffset = false
  @Flag(help: "Do not mask secrets in local logs.")
  var showSecrets = false
  @OptionGroup var side: SideOptions
  @OptionGroup var records: RecordOptions
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    let filter = try records.filter.filter()
    if sessions.ids.isEmpty, !sessions.isChoosing, filter.since == nil, filter.until == nil {
      throw ValidationError(
        "Name at least one session, or choose by --since, --app or --failed; "
          + "'tidemark list' shows them.")
    }
    if noClockOffset, !merge { throw ValidationError("--no-clock-offset goes with --merge.") }
    if merge, [.tar, .asciicast].contains(format) || records.salvage || records.lines != nil {
      throw ValidationError("--merge goes with text and jsonl, without --lines and --salvage.")
    }
  }

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger(), isNeeded: false)
    let choice = try records.choice()
    let redactor = showSecrets ? nil : try Redactor(setup.settings.redaction)
    let selected = try await sessions.entries(
      setup, side, owner, since: choice.filter.since, until: choice.filter.until,
      redactor: redactor,
      // The answer shows the offset of this machine's clock.
      asksStore: merge && !noClockOffset)
    let (entries, catalog) = (selected.entries, selected.catalog)
    if entries.isEmpty { Console.remark("no such session; 'tidemark list' shows what there is") }
    let mode = records.mode(for: choice)
    var readers: [SessionReader] = []
    for entry in entries {
      do {
        readers.append(try side.reader(of: entry, in: catalog))
      } catch let error as ReadingError where error.code == .withheld && sessions.ids.isEmpty {
        // Sessions that were selected rather than named are exported as far as possible.
        Console.complain(error.description)
      }
    }
    let lacksLogs = readers.count < entries.count
    if readers.isEmpty, lacksLogs { throw ExitStatus.authentication }
    if dryRun {
      let exports = exports(readers, choice, mode)
      let isOne = merge || format == .tar
      for path in isOne ? [output] : exports.map({ "\(output)/\($0.fileName)" }) { try say(path) }
      return
    }
    let isWhole: Bool
    if merge {
      let merged = MergedExport(
        readers, choice, as: format, correctsClocks: !noClockOffset, omitting: Self.omit)
      isWhole = try await ExportFile.with(file(promising: choice.promised(by: readers, mode))) {
        try await merged.write(to: $0)
      }
    } else if format == .tar {
      let tar = TarExport(readers, choice, mode, omitting: Self.omit)
      isWhole = try await ExportFile.with(file(promising: choice.promised(by: readers, mode))) {
        try await tar.write(to: $0)
      }
    } else {
      let exports = exports(readers, choice, mode)
      isWhole =
        output == "-"
        ? try await print(exports) : try await write(exports)
    }
    if !isWhole { throw ExitStatus.integrity }
    if lacksLogs { throw ExitStatus.authentication }
    try selected.throwStoreError()
  }

  private func exports(
    _ readers: [SessionReader], _ choice: RecordChoice, _ mode: SessionReader.Mode
  ) -> [SessionExport] {
    let labels = SessionLabels(readers.map(\.entry))
    return readers.map { reader in
      var export = SessionExport(reader, choice, mode, as: format)
      export.namesDevice = labels.sharesID(reader.entry)
      return export
    }
  }

  private struct Line: Encodable {
    let path: String
    let written: Bool
  }

  /// Names the file that is, or would be, written; silent if the export itself goes to standard
  /// output.
  private func say(_ path: String) throws {
    guard output != "-" else { return }
    if json { return Console.say(try Console.json(Line(path: path, written: !dryRun))) }
    if dryRun { Console.say("would write \(String(oneLine: path))") }
  }

  private func file(promising bytes: ByteCount) throws -> ExportFile {
    if output == "-" {
      guard format != .tar || !Console.outputIsTerminal else {
        throw Failure(.usage, "refusing to write an archive to the terminal; use -o FILE")
      }
      return ExportFile(to: Console.show)
    }
    Console.remark("writing \(output)")
    return try Self.open(output, promising: bytes)
  }

  /// Opens the file to export to; errors name the option.
  private static func open(_ path: String, promising bytes: ByteCount) throws -> ExportFile {
    do {
      return try ExportFile(path, promising: bytes)
    } catch let error as ReadingError where error.code == .unfit {
      throw Failure(.usage, "\(error); name a file with -o")
    } catch let error as ReadingError where error.code == .output {
      throw Failure(.configuration, "\(error); choose another place with -o")
    }
  }

  /// Whether an export continues without a session that cannot be read, which it names.
  private static func omit(_ session: SessionID, _ error: any Error) -> Bool {
    guard ExitStatus(error) == .integrity else { return false }
    Console.complain("\(session) is left out: \(error)")
    return true
  }

  /// Number of files written at once; the data read for them from a store is held in memory.
  private static let atOnce = 4

  private func print(_ exports: [SessionExport]) async throws -> Bool {
    try await ExportFile.with(ExportFile(to: Console.show)) { file in
      var isWhole = true
      for export in exports {
        let start = try file.mark()
        do {
          isWhole = try await export.write(to: file) && isWhole
        } catch {
          guard exports.count > 1, try file.takeBack(to: start), Self.omit(export.session, error)
          else { throw error }
          isWhole = false
        }
      }
      return isWhole
    }
  }

  /// Writes one file per export.
  private func write(_ exports: [SessionExport]) async throws -> Bool {
    let folder = output
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), !isFolder.boolValue {
      throw Failure(
        .usage,
        "\(String(oneLine: folder)) is a file, and \(format.rawValue) makes a file for each session; name a "
          + "folder with -o, or - for standard output")
    }
    do {
      _ = try OpenFolder(foreign: folder, creating: 0o777)
    } catch {
      throw Failure(.configuration, "\(error); choose another place with -o")
    }
    let isAlone = exports.count == 1
    // Without a path the session is left out.
    return try await withThrowingTaskGroup(of: (String?, Bool).self) { group in
      var isWhole = true
      func add(_ path: String?, _ isThisWhole: Bool) throws {
        isWhole = isWhole && isThisWhole
        guard let path else { return }
        Console.remark("wrote \(path)")
        try say(path)
      }
      for (index, export) in exports.enumerated() {
        if index >= Self.atOnce, let (path, isThisWhole) = try await group.next() {
          try add(path, isThisWhole)
        }
        group.addTask {
          let path = "\(folder)/\(export.fileName)"
          let file = try Self.open(path, promising: export.promisedBytes)
          do {
            return (path, try await ExportFile.with(file) { try await export.write(to: $0) })
          } catch {
            guard !isAlone, Self.omit(export.session, error) else { throw error }
            return (nil, false)
          }
        }
      }
      for try await (path, isThisWhole) in group { try add(path, isThisWhole) }
      return isWhole
    }
  }
}

extension SessionExport.Format: ExpressibleByArgument {}
