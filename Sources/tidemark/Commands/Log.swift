import ArgumentParser
import Foundation
import LogRecords
import Logging
import Platform
import SessionLog
import SessionReading
import SessionRecorder

/// `PROGRAM | tidemark log`, and `tidemark log error "…"` in a script that is recorded.
struct Log: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Record standard input as a session, or add a record to a running one.",
    discussion: """
      Without a level and a message, standard input becomes a session and passes on to standard \
      output. With them, one record is added to the session that 'tidemark run' has started the \
      script in (TIDEMARK_SESSION), or to the one that --session names; where that has ended, to a \
      new session that continues it.

      A record of a scenario is written only while that is on ('tidemark scenario enable NAME'); a \
      record without one always is. With standard input, --scenario declares the scenarios that the \
      program may use.

      Examples:
        make 2>&1 | tidemark log --app build
        tidemark log warning "disk at 91 %"
      """)

  @Option(help: ArgumentHelp("The program's name in lists.", valueName: "name"))
  var app = "pipe"
  @Option(
    help: ArgumentHelp("The running session to add to.", valueName: "id"),
    completion: .custom(SessionCompletion.ids))
  var session: String?
  @Option(help: ArgumentHelp("The record's category.", valueName: "name"))
  var category = "Script"
  @Option(
    help: ArgumentHelp(
      "The scenario that the record belongs to; with standard input, one to declare.",
      valueName: "name"))
  var scenario: [String] = []
  @Flag(help: "Record the bytes and nothing else: no times, no levels.")
  var asIs = false
  @Flag(help: "Leave all uploads to cron.")
  var noUpload = false
  @OptionGroup var diagnostics: DiagnosticOptions
  @Argument(
    help: "TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT, in any case.",
    completion: .list(ArgumentValue.levelNames))
  var level: String?
  @Argument(help: "What to record.")
  var message: [String] = []

  func validate() throws {
    if let level {
      guard Level(name: level) != nil else {
        throw ValidationError(
          "invalid level '\(level)'; use TRACE, DEBUG, INFO, SUCCESS, WARNING, ERROR or FAULT.")
      }
      if message.isEmpty { throw ValidationError("Say what to record after the level.") }
      if scenario.count > 1 { throw ValidationError("A record belongs to one scenario.") }
    } else if session != nil {
      throw ValidationError("--session is for a record: name its level and message.")
    }
    _ = try scenario.map(ScenarioName.init(argument:))
  }

  func run() async throws {
    if let level = level.flatMap(Level.init(name:)) {
      return try add(level, message.joined(separator: " "))
    }
    let recording = RecordingSession(
      app: app, isAsIs: asIs, scenarios: try scenario.map(ScenarioName.init(argument:)),
      uploads: !noUpload, diagnostics)
    try Capture(
      into: recording.writer, environment: [:], on: .current, onSecond: recording.pass
    ).copyStandardInput()
    await recording.end(.exit(0))
  }

  /// The open session that the shortened form of an id means; nil if it means none, or several.
  private static func openSession(_ name: String, in home: Home) -> SessionID? {
    guard let wanted = try? ShortenedID(name), wanted.device == nil,
      let found = try? home.openSessions().filter(wanted.matches)
    else { return nil }
    return found.count == 1 ? found.first : nil
  }

  private func add(_ level: Level, _ message: String) throws {
    let setup = try CommandContext(acceptsBadSettings: true, logger: .off)
    guard let name = session ?? setup.environment["TIDEMARK_SESSION"], !name.isEmpty else {
      throw Failure(
        .usage,
        "no session to add to: start the script with 'tidemark run', or name one with --session"
      )
    }
    guard let session = SessionID(name) ?? Self.openSession(name, in: setup.home) else {
      throw Failure(
        .usage,
        "invalid session id '\(String(oneLine: name, limit: 80))'; 'tidemark list' shows them")
    }
    let scenario = try scenario.first.map(ScenarioName.init(argument:))
    do {
      do {
        try add(level, message, scenario, to: session, setup)
      } catch let problem as RunningSession.Problem {
        // Its files may have been deleted or replaced while it was recorded.
        guard let next = try RunningSession.successor(of: session, in: setup.home) else {
          throw problem
        }
        try add(level, message, scenario, to: next, setup)
      }
    } catch RunningSession.Problem.ended(let session) {
      // Not lost: the new session states which one it continues.
      var options = setup.settings.recording
      options.continues = session
      let writer = try SessionWriter(
        home: setup.home, device: setup.device, appName: app, options: options,
        machine: .current)
      writer.record(level, category: category, message, scenario: scenario)
      try writer.end(.exit(0))
    } catch let problem as RunningSession.Problem {
      throw Failure(.usage, "\(problem)")
    }
  }

  private func add(
    _ level: Level, _ message: String, _ scenario: ScenarioName?, to session: SessionID,
    _ setup: CommandContext
  ) throws {
    var running = try RunningSession(
      joining: session, in: setup.home, rotateAt: setup.settings.recording.rotateAt,
      machine: .current)
    let outcome = try running.record(level, category: category, message, scenario: scenario)
    if case .leftOutFirst(let name) = outcome {
      Console.complain(
        "scenario \(name) is off, so its records are not written; "
          + "'tidemark scenario enable \(name)' switches it on")
    }
  }
}
