import Foundation
import LogRecords
import Logging
import Platform
import SessionLog
import Synchronization
import TestSupport
import Testing

@testable import TidemarkLogging

/// The program's own session, in normal operation and with failures.
@Suite(.tags(.medium)) struct LogSessionTests {
  private let home: LoggingHome

  init() throws { home = try LoggingHome() }

  @Test func `session fields can be set while the session runs`() throws {
    let session = try home.session()
    try session.describe {
      $0.userId = "anna"
      $0.buildNumber = "77"
      $0.principal = "p"
    }
    let files = try #require(session.writer?.files)
    #expect(try Sidecar.load(files.sidecar).userId == "anna")
    session.enterBackground()
    session.enterForeground()
    session.end()
    let sidecar = try Sidecar.load(files.sidecar)
    #expect(sidecar.userId == "anna" && sidecar.buildNumber == "77" && sidecar.principal == "p")
    #expect(sidecar.status == .terminated && sidecar.cause == .exit(0))
    let text = try home.text(session)
    #expect(text.contains("BACKGROUND application\n") && text.contains("FOREGROUND application\n"))
    #expect(text.hasSuffix("[INFO] [Session] SESSION END exit 0\n"))
    session.info("too late")
    session.end(.exit(1))
    #expect(try home.text(session) == text)
  }

  @Test func `messages of a disabled scenario are counted but not evaluated`() throws {
    let session = try home.session()
    let scenario = Scenario("Sync")
    var count = 0
    func message() -> String {
      count += 1
      return "m"
    }
    #expect(session.registerScenarios([scenario]) == [scenario: false])
    for _ in 0..<5 { session.info(message(), scenario: scenario) }
    session.info(message(), scenario: Scenario("no{name"))
    #expect(count == 0)
    try home.home.enable("Sync")
    home.home.clock.advance(seconds: 1)
    session.writer?.tick()
    session.info(message(), scenario: scenario)
    // Another session of the process: the same scenario has its own gate there.
    let other = try home.session()
    other.info(message(), scenario: scenario)
    #expect(count == 2)
    session.end()
    let text = try home.text(session)
    #expect(text.contains("[INFO] [App] {Sync} m\n"))
    #expect(text.contains("SCENARIO Sync off: 5 records not written\n"))
    #expect(try home.text(other).contains("{Sync} m\n"))
  }

  // MARK: Bad days

  @Test func `without a usable home, logging does nothing`() {
    for path in ["/proc/nowhere/home", "/dev/null/home"] {
      var configuration = LoggingConfiguration(app: "test")
      configuration.console = .off
      let session = LogSession.begin(
        configuration, in: Home(path: path), on: home.home.clock.machine, [:])
      #expect(session.id == nil && session.problem is SystemError)
      session.info("goes nowhere")
      session.end()
    }
  }

  @Test func `a full disk during logging leaves a GAP record and no torn line`() throws {
    let room = Mutex(Int.max)
    let session = try home.session { descriptor, bytes in
      let allowed = room.withLock { min($0, bytes.count) }
      guard allowed > 0 else { return -Int(ENOSPC) }
      room.withLock { if $0 != .max { $0 -= allowed } }
      return write(descriptor, bytes.baseAddress, allowed)
    }
    session.info("before")
    room.withLock { $0 = 30 }
    session.info("torn in the middle of the record")
    session.info("lost")
    room.withLock { $0 = .max }
    session.info("after")
    session.end()
    let text = try home.text(session)
    #expect(text.contains("before\n") && text.contains("after\n") && !text.contains("lost"))
    #expect(text.matches(of: /\[GAP [0-9]+ bytes: disk full\]\n/).count == 1)
    let lines = text.split(separator: "\n")
    #expect(lines.allSatisfy { Array($0.utf8).withUnsafeBytes(RecordPrefix.parse) != nil })
  }

  @Test func `a message of 50 MB is one record`() throws {
    let session = try home.session(rotateAt: 10_000_000)
    session.info(String(repeating: "0123456789", count: 5_000_000))
    session.info("after")
    session.writer?.tick()
    session.info("in the next part")
    let id = try #require(session.id)
    let log = try RecordedLog(home.home.home.files(for: id))
    #expect(try log.end() > 50_000_000 && log.parts.count == 1)
    #expect(try home.text(session).hasSuffix("[INFO] [App] in the next part\n"))
  }

  /// Two sessions of two processes in one home, each from eight threads, rotated all the time: each
  /// record is in the log once and whole, and each thread's records are in order.
  @Test func `threads of two sessions in one home keep every record once`() async throws {
    let (one, two) = (try home.session(rotateAt: 4_000), try home.session(rotateAt: 4_000))
    await withTaskGroup(of: Void.self) { tasks in
      for session in [one, two] {
        for thread in 0..<8 {
          tasks.addTask {
            for number in 0..<100 {
              session.info("\(thread) \(number)", category: "T")
              if number % 10 == thread { session.writer?.tick() }
            }
          }
        }
      }
    }
    for session in [one, two] {
      session.end()
      let records = try home.text(session).split(separator: "\n").compactMap {
        $0.firstMatch(of: /\[T\] ([0-9]) ([0-9]+)$/).map { (Int($0.1) ?? -1, Int($0.2) ?? -1) }
      }
      #expect(records.count == 800)
      for thread in 0..<8 {
        #expect(records.filter { $0.0 == thread }.map(\.1) == Array(0..<100))
      }
      let id = try #require(session.id)
      #expect(try RecordedLog(home.home.home.files(for: id)).parts.count > 3)
      let sidecar = try Sidecar.load(home.home.home.files(for: id).sidecar)
      #expect(sidecar.levels["INFO"] == 802)
    }
  }

  /// Other processes' records make the log grow as well, and only the session's own writer can
  /// rotate it.
  @Test func `records added by other processes are rotated`() throws {
    let session = try home.session(rotateAt: 2_000)
    let id = try #require(session.id)
    session.info("mine")
    var running = try RunningSession(
      joining: id, in: home.home.home, rotateAt: 2_000,
      machine: home.home.clock.machine)
    for number in 0..<50 { try running.record(.info, category: "Other", "record \(number)") }
    session.writer?.tick()
    session.info("mine again")
    let log = try RecordedLog(home.home.home.files(for: id))
    #expect(log.parts.count == 1)
    #expect(try home.text(session).matches(of: /record [0-9]+\n/).count == 50)
  }

  @Test func `records from the console level up are shown on the console`() throws {
    let pipe = Pipe()
    let console = ConsoleOutput(from: .warning, environment: ["NO_COLOR": "1"])
    console.use(pipe.fileHandleForWriting.fileDescriptor)
    let session = try home.session(console: console)
    session.info("not shown")
    session.warning("shown")
    session.end()
    session.error("shown alone")
    try pipe.fileHandleForWriting.close()
    let shown = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let text = try home.text(session)
    let line = try #require(text.split(separator: "\n").first { $0.hasSuffix("[App] shown") })
    #expect(shown.hasPrefix(line + "\n") && shown.hasSuffix("[ERROR] [App] shown alone\n"))
    #expect(text.contains("not shown") && !text.contains("alone"))
  }
}
