import ArgumentParser
import Foundation
import SessionLog
import Sync

/// `tidemark run -- PROGRAM ARGUMENTS`.
struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a program, its console as before, and record the session.",
    discussion: """
      The exit status is the program's: 128 + signal where one killed it, 127 when there is no \
      such program, 126 when it cannot be run. One upload follows at the end, 10 seconds at most; \
      what remains is cron's.
      """)

  @Option(help: "The program's name in lists; its file name by default.")
  var app: String?
  @Flag(help: "Leave the upload at the end to cron.")
  var noUpload = false
  @Argument(parsing: .captureForPassthrough, help: "The program and its arguments, after --.")
  var command: [String] = []

  func validate() throws {
    if program.isEmpty { throw ValidationError("Name the program to run: tidemark run -- PROGRAM") }
  }

  private var program: [String] { command.first == "--" ? Array(command.dropFirst()) : command }

  func run() async throws {
    let recording = Recording(
      app: app ?? program[0].split(separator: "/").last.map(String.init) ?? program[0])
    let capture = Capture(
      into: recording.writer, environment: ProcessInfo.processInfo.environment)
    let ending = try capture.run(program)
    if let problem = ending.problem { Console.complain(problem) }
    await recording.end(ending.cause, uploads: !noUpload)
    throw ExitCode(ending.status)
  }
}

/// `PROGRAM | tidemark log`.
struct Log: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Record standard input as a session and pass it on to standard output.")

  @Option(help: "The program's name in lists.")
  var app = "pipe"
  @Flag(help: "Leave the upload at the end to cron.")
  var noUpload = false

  func run() async throws {
    let recording = Recording(app: app)
    try Capture(into: recording.writer, environment: [:]).copyStandardInput()
    await recording.end(.exit(0), uploads: !noUpload)
  }
}

/// A session being recorded, where that is possible: whatever is wrong costs one line, never the
/// program.
struct Recording {
  let writer: SessionWriter?
  private let place: Workplace?

  /// How long the upload at the end may take.
  private static let uploadTime: Duration = .seconds(10)

  init(app: String) {
    do {
      (place, writer) = try Self.start(app)
    } catch {
      Console.complain("this session is not recorded: \(error)")
      (place, writer) = (nil, nil)
    }
  }

  private static func start(_ app: String) throws -> (Workplace, SessionWriter) {
    let place = try Workplace(acceptsBadSettings: true)
    let writer = try SessionWriter(
      home: place.home, device: place.device, appName: app, policy: place.settings.fsync,
      rotateAt: place.settings.rotateAt)
    return (place, writer)
  }

  func end(_ cause: ExitCause, uploads: Bool) async {
    guard let writer, let place else { return }
    do {
      try writer.end(cause)
    } catch {
      Console.complain("\(error)")
    }
    guard uploads, place.sends else { return }
    do {
      try await Self.upload(place)
    } catch {
      // Cron finishes what remains and tells what is wrong; a person at a terminal wants to know.
      Console.remark("tidemark: not uploaded yet: \(error)")
    }
  }

  private static func upload(_ place: Workplace) async throws {
    guard let lock = try place.lock() else { return }
    defer { withExtendedLifetime(lock) {} }
    let uploader = Uploader(try place.context())
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let report = try await uploader.execute(uploader.plan())
        if let error = report.stoppedBy ?? report.failures.first?.error { throw error }
      }
      group.addTask {
        try await Task.sleep(for: uploadTime)
        throw Failure(.tryLater, "it took more than 10 s; cron goes on with it")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}
