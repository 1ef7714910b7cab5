import ArgumentParser
import Foundation
import Platform
import SessionLog
import SessionRecorder

/// `tidemark run -- PROGRAM ARGUMENTS`.
struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a program and record its output.",
    discussion: """
      The exit status is the program's: 128 + signal where one killed it, 127 when there is no \
      such program, 126 when it cannot be run. The session is uploaded every minute while it grows, \
      at once on the first error after a quiet time, and when it ends. 'run' waits up to 10 s for that \
      upload; the rest continues in the background or from cron.

      With --pty the program runs on a terminal of its own, as full-screen programs and password \
      prompts need it; 'tidemark play' shows such a session again. What is typed is recorded only \
      where the program shows it. Should the recorder be killed, the program gets SIGPIPE at its next \
      output, or SIGHUP with --pty. With --survive a separate recorder process, which no signal of the terminal \
      reaches, reads what the program prints: killing this command affects neither the program nor its \
      session.

      --scenario declares scenarios that the program or its script may use: 'tidemark log --scenario' \
      writes their records only while they are on. The program finds the names in \
      TIDEMARK_SCENARIOS, separated by commas.

      With -v, or TIDEMARK_LOG, the uploads report what they do on standard error, beside what the \
      program prints there. A crash of the program is reported there with the session's id.

      Examples:
        tidemark run -- ./nightly-job --all
        tidemark run --pty -- vim notes
      """)

  @Option(
    help: ArgumentHelp(
      "The program's name in lists; its file name by default.", valueName: "name"))
  var app: String?
  @Flag(help: "Give the program a terminal of its own.")
  var pty = false
  @Flag(help: "Record the program's bytes and nothing else: no times, no levels.")
  var asIs = false
  @Flag(help: "Record in a separate process: program and session survive the end of this one.")
  var survive = false
  @Option(help: ArgumentHelp("A scenario to declare; may be repeated.", valueName: "name"))
  var scenario: [String] = []
  @Flag(help: "Leave all uploads to cron.")
  var noUpload = false
  @Option(
    help: ArgumentHelp("The job of this recorder's supervisor.", visibility: .hidden))
  var inJob: Int32?
  @OptionGroup var diagnostics: DiagnosticOptions
  @Argument(
    parsing: .captureForPassthrough,
    help: "The program and its arguments, after --. All after the program's name is its own.",
    completion: .custom(ProgramCompletion.words))
  var command: [String] = []

  func validate() throws {
    try checkOptions()
    if survive && pty { throw ValidationError("--survive and --pty exclude each other.") }
    _ = try scenario.map(ScenarioName.init(argument:))
    if program.isEmpty { throw ValidationError("Name the program to run: tidemark run -- PROGRAM") }
  }

  /// Rejects an unknown option before the program's name, instead of running it as the program.
  ///
  /// The parser passes everything unknown on to the program, `--help` included.
  private func checkOptions() throws {
    guard let option = command.first, option != "--", option != "-", option.hasPrefix("-") else {
      return
    }
    switch option {
    case "-h", "--help": throw CleanExit.helpRequest(Run.self)
    case "--version": throw CleanExit.message(Tidemark.version)
    default:
      throw ValidationError(
        "unknown option '\(option)'; see 'tidemark run --help'. If it is the program: "
          + "tidemark run -- \(option) …")
    }
  }

  private var program: [String] { command.first == "--" ? Array(command.dropFirst()) : command }

  func run() async throws {
    if survive { throw ExitCode(try supervise()) }
    let recording = RecordingSession(
      app: app ?? program[0].split(separator: "/").last.map(String.init) ?? program[0],
      isAsIs: asIs, isOnTerminal: pty, scenarios: try scenario.map(ScenarioName.init(argument:)),
      uploads: !noUpload, diagnostics)
    var environment = ProcessInfo.processInfo.environment
    if !scenario.isEmpty {
      environment["TIDEMARK_SCENARIOS"] = scenario.joined(separator: ",")
    }
    let capture = Capture(
      into: recording.writer, environment: environment, on: .current, onSecond: recording.pass)
    let ending = try pty ? capture.runOnTerminal(program) : capture.run(program, inJob: inJob)
    if let problem = ending.problem, inJob == nil { Console.complain(problem) }
    if ending.leavesOutputOpen {
      Console.complain(
        "a process that \(String(oneLine: program[0])) started still has its output open, and can no "
          + "longer write to it; redirect its output, or let the program wait for it")
    }
    await recording.end(ending.cause, core: ending.core)
    if ending.cause.status == .crashed, let session = recording.writer?.session {
      Console.complain(Self.report(ending.cause, session, core: ending.core))
    }
    throw ExitCode(ending.status)
  }

  /// A message that the program crashed, and where to look.
  private static func report(_ cause: ExitCause, _ session: SessionID, core: String?) -> String {
    let memory = core.map { ", core \(String(oneLine: $0))" } ?? ""
    return "crashed: \(cause.shortText)\(memory); 'tidemark show \(session)' prints the log"
  }

  private func supervise() throws -> Int32 {
    var recorder = [Console.ownPath, "run", "--in-job", "\(getpgrp())"]
    if let app { recorder += ["--app", app] }
    if asIs { recorder.append("--as-is") }
    for name in scenario { recorder += ["--scenario", name] }
    if noUpload { recorder.append("--no-upload") }
    recorder += Array(repeating: "-v", count: diagnostics.verbose)
    let ending = try Capture(
      into: nil, environment: ProcessInfo.processInfo.environment, on: .current
    ).supervise(program[0], recorder: recorder + ["--"] + program)
    if let problem = ending.problem { Console.complain(problem) }
    return ending.status
  }
}
