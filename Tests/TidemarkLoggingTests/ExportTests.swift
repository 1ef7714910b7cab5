import Foundation
import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

@testable import TidemarkLogging

/// The file that a user attaches to a problem report.
@Suite(.tags(.medium)) struct ExportTests {
  private let home: LoggingHome

  init() throws { home = try LoggingHome() }

  private func export(
    _ session: LogSession, _ filter: RecordFilter = RecordFilter(), id: SessionID? = nil
  ) throws -> String {
    let path = home.home.folder + "/export.txt"
    try session.export(to: path, filter: filter, session: id)
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test func `an export has a header and the log without secrets`() throws {
    let session = try home.session(rotateAt: 300)
    try session.describe { $0.userId = "anna" }
    for number in 0..<20 {
      session.info("record \(number) \("hidden value", privacy: .private)")
      session.writer?.tick()
    }
    session.error("token ghp_0123456789abcdefghijABCDEFGHIJ012345")
    let whole = try export(session)
    #expect(whole.hasPrefix("=== Device Info ===\nDevice: "))
    #expect(whole.contains("\nUser: anna\n") && whole.contains("\n=== Log ===\n2026-"))
    #expect(!whole.contains("hidden") && !whole.contains("ghp_0123"))
    #expect(whole.matches(of: /record [0-9]+ <private:\**>\n/).count == 20)
    let log = try #require(whole.range(of: "=== Log ===\n").map { whole[$0.upperBound...] })
    #expect(try log.utf8.count == home.text(session).utf8.count)
    let errors = try export(session, RecordFilter(levels: .from(.error)))
    #expect(
      errors.hasSuffix("REDACTED:github-token*]\n") || errors.contains("[ERROR] [App] token "))
    #expect(!errors.contains("record 1"))
  }

  /// A secret that spans two of the pieces in which the log is read is masked completely.
  @Test(arguments: [0, 1, 17, 40])
  func `a secret across two read buffers is masked`(_ shift: Int) throws {
    let session = try home.session()
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    let start = try #require(home.text(session).utf8.count as Int?)
    // The secret begins a little before the first megabyte ends.
    let record = "2026-01-22T14:30:05.123Z [INFO] [App] ".utf8.count
    session.info(
      String(repeating: "x", count: (1 << 20) - start - record - 1 - shift) + " \(secret)")
    session.info("after \(secret)")
    let text = try export(session)
    #expect(!text.contains("ABCDEFGHIJ") && text.contains("[App] after [REDACTED:"))
  }

  @Test func `another session can be exported, and a missing one is an error`() throws {
    let earlier = try home.session()
    earlier.info("earlier")
    earlier.end()
    let session = try home.session()
    #expect(try export(session, id: earlier.id).contains("earlier\n"))
    let none = LogSession.begin(
      LoggingConfiguration(app: "x"), in: Home(path: "/proc/nowhere"), on: .current, [:])
    #expect(throws: LogSession.NotRecorded.self) { try none.export(to: "/dev/null/x") }
  }
}
