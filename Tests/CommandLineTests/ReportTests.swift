import Foundation
import Platform
import SessionLog
import TestSupport
import Testing
import TidemarkUpload

@testable import Fleet
@testable import ObjectStore
@testable import Sync
@testable import tidemark

/// Reports for people, at three widths, and their JSON.
@Suite(.tags(.small)) struct ReportTests {
  private static let now = Timestamp(iso: "2026-11-22T17:02:03.500Z") ?? Timestamp(milliseconds: 0)

  private static func id(_ text: String) throws -> SessionID {
    try #require(SessionID("20261122t1430\(text)"))
  }

  private func berlin() throws -> LocalZone {
    LocalZone(try #require(TimeZone(identifier: "Europe/Berlin")))
  }

  private func expect(
    _ lines: [ReportLine], is name: String, location: SourceLocation = #_sourceLocation
  ) {
    for width in [60, 80, 200] {
      let text = lines.flatMap { $0.lines(width: width) }
      #expect(text.allSatisfy { $0.displayWidth <= width }, sourceLocation: location)
      Snapshot.expect(
        text.joined(separator: "\n") + "\n", is: "\(name)-\(width).txt", location: location)
    }
    // A pipe gets each line whole.
    #expect(lines.allSatisfy { $0.lines(width: nil) == [$0.text] }, sourceLocation: location)
  }

  private func expect(
    _ table: Table, is name: String, location: SourceLocation = #_sourceLocation
  ) {
    for width in [60, 80, 200] {
      let rendering = table.render(width: width)
      #expect(rendering.lines.allSatisfy { $0.displayWidth <= width }, sourceLocation: location)
      Snapshot.expect(
        (rendering.lines + ["omitted: \(rendering.omitted.joined(separator: ", "))"])
          .joined(separator: "\n") + "\n",
        is: "\(name)-\(width).txt", location: location)
    }
  }

  @Test func `a line is broken at blanks, and keeps its columns`() {
    let line = ReportLine("label   one two three", indent: 8)
    #expect(line.lines(width: 14) == ["label   one", "        two", "        three"])
    #expect(line.lines(width: 21) == ["label   one two three"])
    #expect(ReportLine("  averylongword x").lines(width: 8) == ["  averylongword", "    x"])
    #expect(ReportLine("").lines(width: 8) == [""])
  }

  @Test func `status`() throws {
    let waiting = [
      WaitingBytes(session: try Self.id("05z-k3f9a7c2"), reason: .nextUpload, bytes: 1_234_567),
      WaitingBytes(session: try Self.id("04z-a0000000"), reason: .consent, bytes: 12),
      WaitingBytes(
        session: try Self.id("03z-b0000000"),
        reason: .refused("PUT s3://bucket/logs/devices/x: 403 AccessDenied"), bytes: 99_000),
    ]
    let report = Status.Report(
      user: "anna", home: "/home/anna/.local/state/tidemark",
      configuration: "/home/anna/.local/state/tidemark/tidemark.yaml",
      store: "s3://bucket/logs?endpoint=https://s3.example.com", sending: "yes", consent: .logs,
      deviceId: "aaaa1111bbbb2222", openSessions: 3,
      unsentBytes: waiting.reduce(0) { $0 + $1.bytes },
      waiting: WaitingSum.sums(of: waiting).map(Status.Waits.init), unprovenBytes: 4096,
      localBytes: 81_000_000, lastSuccess: Self.now - .seconds(3700),
      readBack: ReadBack(at: Self.now - .days(3), whole: 4, of: 5), stale: true,
      formerDevices: ["cccc3333dddd4444": 1],
      sealedElsewhere: ["file:///srv/logs": 2], endsLost: 1, livedSeconds: 86_400,
      reapingWaits: [
        "local: most sessions would go at once; put off for another 3 h of running time"
      ],
      problems: ["/var/log/app.log": "cannot be opened: Permission denied"],
      failed: [
        Status.Attempts(
          session: try Self.id("03z-b0000000"), attempts: 3,
          lastError: "PUT s3://bucket/logs/devices/x: 403 AccessDenied",
          nextAttempt: Self.now + .seconds(60))
      ])
    let lines = Status.lines(
      of: report, nil, device: "aaaa1111bbbb2222", at: Self.now, try berlin())
    expect(lines, is: "status")
    Snapshot.expect(try Console.json(report) + "\n", is: "status.json")
    var silent = Status.Report(
      user: nil, home: "/h", configuration: "/h/tidemark.yaml", store: nil, sending: "no-store",
      consent: nil, deviceId: nil, openSessions: 0, unsentBytes: 0, waiting: [], unprovenBytes: 0,
      localBytes: 0, lastSuccess: nil, readBack: nil, stale: false, formerDevices: [:],
      sealedElsewhere: [:], endsLost: 0, livedSeconds: 0, reapingWaits: [], problems: [:],
      failed: [])
    expect(
      Status.lines(of: silent, .noStore, device: "", at: Self.now, .utc), is: "status-empty")
    #expect(report.isPartial && !silent.isPartial)
    silent.cacheProblem = .unreadable("/h/cache/manifest.sqlite cannot be read: no space")
    let unknown = Status.lines(of: silent, nil, device: "", at: Self.now, .utc).map(\.text)
    #expect(silent.isPartial && unknown.contains { $0.hasSuffix("cannot be read: no space") })
    #expect(unknown.contains("last success   unknown"))
    silent.cacheProblem = nil
    let ids = try [Self.id("05z-k3f9a7c2"), Self.id("04z-a0000000"), Self.id("03z-b0000000")]
    silent.vanished = VanishedCopies([
      .init(ids[0], leaving: .whole), .init(ids[1], leaving: .whole),
      .init(ids[2], leaving: .nothing),
    ])
    let vanished = Status.lines(of: silent, nil, device: "", at: Self.now, .utc).map(\.text)
      .filter { $0.hasPrefix("vanished ") }
    #expect(silent.isPartial && vanished.count == 2)
    #expect(
      vanished.first?.contains("2 sessions were proven in the store and are not there") == true)
    #expect(vanished.first?.contains("'tidemark verify --repair' sends them again") == true)
    #expect(vanished.first?.hasSuffix(": \(ids[0]), \(ids[1])") == true)
    #expect(vanished.last?.contains("\(ids[2]) was proven in the store and is not there") == true)
    #expect(vanished.last?.contains("the only copy is LOST") == true)
  }

  /// A report without anything to say.
  private static func report(store: String) -> Status.Report {
    Status.Report(
      user: nil, home: "/h", configuration: "/h/tidemark.yaml", store: store, sending: "yes",
      consent: .logs, deviceId: nil, openSessions: 0, unsentBytes: 0, waiting: [],
      unprovenBytes: 0, localBytes: 0, lastSuccess: nil, readBack: nil, stale: false,
      formerDevices: [:], sealedElsewhere: [:], endsLost: 0, livedSeconds: 0, reapingWaits: [],
      problems: [:], failed: [])
  }

  @Test func `'status' names a command that has had the lock for too long`() throws {
    var report = Self.report(store: "file:///s")
    func lines() -> [String] {
      Status.lines(of: report, nil, device: "", at: Self.now, .utc).map(\.text)
    }
    #expect(!lines().contains { $0.hasPrefix("busy ") })
    report.lockedSince = Self.now - .hours(2)
    let found = lines().first { $0.hasPrefix("busy ") }
    #expect(found?.contains("has run for 2 h") == true && found?.contains("/h/lock") == true)
  }

  @Test func `'status' advises no repair from a log that was changed`() throws {
    let local = try TestHome()
    try local.home.create()
    let ids = try [Self.id("05z-k3f9a7c2"), Self.id("04z-a0000000")]
    var damaged = DamagedCopies(local.home, store: "file:///s", at: Self.now)
    try damaged.record(
      ids.map { .init($0, problem: "an object is missing") }, keptFor: .days(30), at: Self.now)
    var report = Self.report(store: "file:///s")
    report.damaged = damaged
    report.changedLogs = [ids[0]]
    let lines = Status.lines(of: report, nil, device: "", at: Self.now, .utc).map(\.text)
      .filter { $0.hasPrefix("damaged ") }
    #expect(lines.count == 2)
    for line in lines { #expect(line.contains("--repair") == line.contains("\(ids[1])")) }
  }

  @Test func `a lost log makes 'status' partial`() throws {
    let lost = try Self.id("05z-k3f9a7c2")
    var report = Self.report(store: "file:///s")
    #expect(!report.isPartial)
    report.lostLogs = [lost]
    let lines = Status.lines(of: report, nil, device: "", at: Self.now, .utc).map(\.text)
    #expect(report.isPartial && lines.contains { $0.hasPrefix("log lost       \(lost): ") })
  }

  @Test func `copies in the trash that another store has make 'status' partial`() throws {
    var report = Self.report(store: "file:///new")
    let ids = try [Self.id("05z-k3f9a7c2"), Self.id("04z-a0000000")]
    report.trashElsewhere = ["file:///old": ids]
    let lines = Status.lines(of: report, nil, device: "", at: Self.now, .utc).map(\.text)
    let line = try #require(lines.first { $0.hasPrefix("other store    file:///old: ") })
    #expect(report.isPartial && line.hasSuffix(": \(ids[0]), \(ids[1])"))
    #expect(line.contains("'tidemark retry --moved' sends them to file:///new as well"))
    #expect(try Console.json(report).contains("\"trashElsewhere\":{\"file"))
  }

  @Test func `verify`() throws {
    let whole = VerificationPass.Finding(
      session: try Self.id("05z-k3f9a7c2"), result: .ok, bytes: 1_234_567, comparedLocally: true)
    let lost = VerificationPass.Finding(
      session: try Self.id("04z-a0000000"), result: .ok, bytes: 5000, comparedLocally: false,
      lostLocally: 320)
    let failed = VerificationPass.Finding(
      session: try Self.id("03z-b0000000"), result: .failed,
      problem: "the seal names 1 object that is not in the store: …g1.00000000.log.zst")
    let lines = [
      whole, lost, failed,
      VerificationPass.Finding(session: try Self.id("02z-c0000000"), result: .reaped),
      VerificationPass.Finding(session: try Self.id("01z-d0000000"), result: .withheld, bytes: 0),
    ]
    expect(lines.map(Verify.text), is: "verify")
    let json = try lines.map { try Console.json($0) }
    Snapshot.expect(json.joined(separator: "\n") + "\n", is: "verify.jsonl")
  }

  @Test func `why`() throws {
    let session = try Self.id("05z-k3f9a7c2")
    var entries = [
      DeletionLedger.Entry(
        at: Self.now, session: session, copy: .local, what: "log", bytes: 1_234_567,
        isInTrash: true, ground: .proven,
        finding: "the seal names 2 objects, which this pass listed whole"),
      DeletionLedger.Entry(
        at: Self.now, session: session, copy: .remote, what: "3 objects", ground: .asked,
        finding: "tidemark delete"),
    ]
    entries[1].failure = "DELETE: 403 AccessDenied"
    let zone = try berlin()
    var forged = entries[1]
    forged.failure = "no\r\n2026-01-01  all is well\u{202e}"
    #expect(Why.text(forged, zone).hasSuffix("not deleted: no  2026-01-01  all is well\\u{202e}"))
    expect(entries.map { ReportLine("  \(Why.text($0, zone))") }, is: "why")
    let json = try entries.map { try Console.json($0) }
    Snapshot.expect(json.joined(separator: "\n") + "\n", is: "why.jsonl")
  }

  @Test func `reap`() throws {
    let session = try Self.id("05z-k3f9a7c2")
    let finding = "sealed 8 d ago; the seal names 2 objects, which this pass listed whole"
    expect(
      [
        Reap.line("would delete local", session, 1_234_567, finding),
        Reap.line("delete remote", session, nil, nil),
        Reap.line("keep remote", session, nil, "on hold until 2027-02-20"),
      ], is: "reap")
    let line = Reap.Line(
      session: session, copy: "local", deleted: true, bytes: 1_234_567, reason: finding)
    Snapshot.expect(try Console.json(line) + "\n", is: "reap.json")
  }

  @Test func `doctor`() throws {
    let rights = NeededRights(try StoreURL("s3://bucket/logs"))
    let refused = StoreError(
      .authentication, operation: "PUT", target: "s3://bucket/logs/probe/x",
      response: "403 AccessDenied: Access Denied", advice: "Check the policy of the access key.")
    let findings = [
      ProbeFinding(
        check: .create, outcome: .failed, sent: "a PUT", received: "\(refused)", error: refused),
      ProbeFinding(
        check: .read, outcome: .ok, sent: "a GET", received: "the same bytes", error: nil),
      ProbeFinding(
        check: .conditional, outcome: .note, sent: "a PUT with If-None-Match",
        received: "success, and the object was overwritten: the server does not know conditions",
        error: nil),
    ]
    expect(findings.flatMap { Doctor.lines(of: $0, rights) }, is: "doctor")
  }

  @Test func `upload summary`() throws {
    let summary = Upload.Summary(
      user: nil, logBytes: 1_234_567, storedBytes: 98_765, objects: 3, sealed: 1, reaped: 0,
      formerDevices: [:], failures: ["20261122t143005z-k3f9a7c2": "PUT: 403"], leftBehind: [:],
      error: nil, vanished: [], cacheProblem: nil, status: 1)
    Snapshot.expect(try Console.json(summary) + "\n", is: "upload.json")
    expect(
      [
        Upload.line(log: 1_234_567, stored: 98_765, objects: 3, sealed: 1, reaped: 0),
        Upload.line(log: 1, stored: 1, objects: 1, sealed: 0, reaped: 2),
      ], is: "upload")
  }

  @Test func `config show`() throws {
    let path = "/home/anna/.local/state/tidemark/tidemark.yaml"
    let settings = [
      EffectiveSetting(
        key: "store", value: "s3://bucket/logs", origin: .file(path: path, line: 12)),
      EffectiveSetting(
        key: "webdav.user", value: nil, origin: .environment("TIDEMARK_WEBDAV_USER")),
      EffectiveSetting(key: "retention.local", value: "7d", origin: .standard),
    ]
    expect(ConfigShow.table(settings), is: "config-show")
  }

  @Test func `alerts`() throws {
    let silences = [
      AlertSilence(
        alert: "crashed", device: "kiosk-1", until: Self.now + .hours(2),
        reason: "known, fixed in 2.1, which is rolled out on Monday"),
      AlertSilence(alert: "errors", device: nil, until: Self.now + .days(1), reason: "migration"),
    ]
    let zone = try berlin()
    expect(AlertSilenceCommand.table(silences, zone), is: "alert-silences")
    let report = AlertStatusCommand.Report(
      firing: [], pending: [], silences: silences, undelivered: [], failing: [:])
    expect(AlertStatusCommand.table(report, zone), is: "alert-status")
  }

  @Test func `a lost, a foreign and a kept copy are marked in a list`() throws {
    // The entry is the same; only what is known of the store differs.
    let entry = try ListTests.sealedEntry(in: "file:///old")
    var view = ListColumn.View(now: Self.now, zone: .utc)
    #expect(ListColumn.uploaded.cell(entry, view).text == "100 %")
    view.store = "file:///old"
    #expect(ListColumn.uploaded.cell(entry, view).text == "missing")
    view.store = "file:///new"
    #expect(ListColumn.uploaded.cell(entry, view).text == "other store")
    view.keptUntil = { _ in Self.now }
    #expect(ListColumn.note.cell(entry, view).text == "kept until 2026-11-22")
    Snapshot.expect(try Console.json(List.Line(entry, view)) + "\n", is: "list-kept.json")
  }
}
