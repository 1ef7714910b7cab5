import Foundation
import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

/// The sessions left by programs that end in various ways.
@Suite(.tags(.medium)) struct ProcessEndTests {
  private let folder: TestHome
  private let home: Home

  init() throws {
    folder = try TestHome()
    home = folder.home
  }

  private func run(_ program: String, _ arguments: String...) async throws -> Command.Result {
    try await Command(
      ["\(BuiltPrograms.folder)/\(program)"] + arguments,
      environment: [
        "PATH": "/usr/bin:/bin", "TIDEMARK_HOME": home.path, "SWIFT_BACKTRACE": "enable=no",
        "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
      ]
    ).run()
  }

  private func sessions() throws -> [SessionID] { try home.sessions() }

  private func text(_ session: SessionID) throws -> String {
    let log = try RecordedLog(home.files(for: session))
    return String(decoding: try log.read(log.start..<log.end()), as: UTF8.self)
  }

  private func verdict(_ session: SessionID) throws -> Verdict? {
    let files = home.files(for: session)
    return try Verdict.reach(
      sidecar: .load(files.sidecar), files: files,
      lockGranted: FileLock.tryExclusive(files.lock) != nil, machine: .current,
      now: .now(), logModified: .now())
  }

  private struct Way: CustomTestStringConvertible {
    let name: String
    let status: Int32
    let cause: ExitCause
    let record: String
    var testDescription: String { name }

    init(_ name: String, _ status: Int32, _ cause: ExitCause, _ record: String) {
      (self.name, self.status, self.cause, self.record) = (name, status, cause, record)
    }
  }

  private static let ways: [Way] = [
    Way("", 0, .exit(0), "[INFO] [Probe] after\n"),
    Way("exit", 3, .exit(3), "[INFO] [Probe] before\n"),
    Way("end", 0, .exit(0), "[INFO] [Probe] before\n"),
    Way("segv", 128 + 11, .signal(11), "[FAULT] [Session] CRASH SIGSEGV at address 0x"),
    Way("trap", 128 + 4, .signal(4), "[FAULT] [Session] CRASH SIGILL in the code at 0x"),
    Way("abort", 128 + 6, .signal(6), "[FAULT] [Session] CRASH SIGABRT"),
    Way("term", 128 + 15, .signal(15), "[INFO] [Probe] before\n"),
    Way("chained", 7, .signal(11), "[FAULT] [Session] CRASH SIGSEGV at address 0x"),
    Way("ignored", 0, .exit(0), "[INFO] [Probe] after\n"),
    Way("handler", 4, .exit(4), "[INFO] [Probe] written again and again\n"),
    Way("fork", 0, .exit(0), "[INFO] [Probe] in the child\n"),
    Way("homeless", 128 + 6, .signal(6), "[FAULT] [Session] CRASH SIGABRT"),
    Way("kill", 128 + 9, .recorderLost, "[INFO] [Probe] before\n"),
  ]

  /// How a program ends, the status that its shell sees, and the log's last records.
  @Test(arguments: ways)
  private func `the last record says how the process ended`(_ expected: Way) async throws {
    let (way, status, cause) = (expected.name, expected.status, expected.cause)
    let result = try await run("LoggingProbe", way)
    #expect(result.status == status, "\(result.errors)")
    let session = try #require(sessions().first)
    #expect(try sessions().count == 1)
    let text = try text(session)
    #expect(try verdict(session)?.cause == cause, "\(text.suffix(400))")
    #expect(text.contains(expected.record), "\(text.suffix(400))")
    let level = cause.status == .crashed ? "FAULT" : cause.isFailure ? "ERROR" : "INFO"
    let end = "[\(level)] [Session] SESSION END \(cause)\n"
    #expect(text.hasSuffix(end) == (way != "kill"))
    #expect(text.matches(of: /SESSION END/).count == (way == "kill" ? 0 : 1))
    let lines = text.split(separator: "\n")
    #expect(
      lines.allSatisfy { Array($0.utf8).withUnsafeBytes(RecordPrefix.parse) != nil },
      "\(text.suffix(400))")
    if way == "fork" { #expect(text.matches(of: /in the child\n/).count == 20) }
  }

  /// The message may still be in the pipe when the process traps.
  @Test func `the message of a fatal error is recorded`() async throws {
    let result = try await run("LoggingProbe", "fatal", "--capture")
    #expect(result.errors.contains("no row 817"))
    let text = try text(#require(sessions().first))
    #expect(text.contains("[stderr] ") && text.contains("no row 817"))
    #expect(text.hasSuffix("SESSION END signal 4 (SIGILL)\n"))
  }

  /// A second start in a process does not end it, as a second bootstrap of swift-log would.
  @Test func `a second start in one process begins another session`() async throws {
    let result = try await run("LoggingProbe", "again")
    #expect(result.status == 0, "\(result.errors)")
    let texts = try sessions().map(text)
    #expect(texts.count == 2)
    #expect(texts.contains { $0.hasSuffix("[ERROR] [Session] SESSION END exit 9\n") })
    #expect(
      texts.contains {
        $0.contains("[Probe] in the second session\n") && $0.hasSuffix("SESSION END exit 0\n")
      })
  }

  @Test func `captured console output is recorded and shown`() async throws {
    let result = try await run("LoggingProbe", "exit", "--capture")
    #expect(result.status == 3 && result.text == "printed before the exit\n")
    let text = try text(#require(sessions().first))
    #expect(text.contains("[INFO] [stdout] printed before the exit\n"))
    #expect(text.hasSuffix("[ERROR] [Session] SESSION END exit 3\n"))
  }

  /// The documentation's program: eight tasks, its console, a kill, and the next start's report.
  @Test func `the documentation's example reports its last crash`() async throws {
    let shell =
      "\(BuiltPrograms.folder)/example --wait > out 2> err & until grep -q ready out; do sleep 0.1; done; "
      + "kill -9 $!; wait $! 2> /dev/null; exec \(BuiltPrograms.folder)/example"
    let second = try await Command(
      ["/bin/sh", "-c", "cd \(folder.folder); \(shell)"],
      environment: [
        "PATH": "/usr/bin:/bin", "TIDEMARK_HOME": home.path,
        "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
      ]
    ).run()
    #expect(second.status == 0, "\(second.errors)")
    #expect(second.text.contains("the last session crashed: recorder lost\n"), "\(second.text)")
    let crashed = try #require(
      sessions().first { try verdict($0)?.status == .crashed })
    let text = try text(crashed)
    #expect(text.matches(of: /\[Checkout\] order [0-9]+ paid task=[1-8]\n/).count == 200)
    #expect(text.contains("[stdout] ready\n"))
    #expect(text.contains("paid by <private:anna@example.com>\n"))
    #expect(text.hasSuffix("[GAP ? bytes: killed while its output was on its way]\n"))
    #expect(try Sidecar.load(home.files(for: crashed).sidecar).userId == "anna")
    let other = try #require(sessions().first { $0 != crashed })
    #expect(try self.text(other).contains("[stdout] the last session crashed: recorder lost\n"))
    #expect(try self.text(other).hasSuffix("SESSION END exit 0\n"))
    // A build under a sanitizer has no command line.
    guard ProcessInfo.processInfo.environment["TIDEMARK_SANITIZE"] == nil else { return }
    let listed = try await Command(
      ["\(BuiltPrograms.folder)/tidemark", "list", "--failed"],
      environment: ["PATH": "/usr/bin:/bin", "TIDEMARK_HOME": home.path]
    ).run()
    #expect(listed.text.contains("CRASHED") && listed.text.contains("example"))
  }
}
