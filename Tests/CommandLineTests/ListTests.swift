import Foundation
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import SessionReading
@testable import tidemark

/// The table of sessions and their JSON, for sessions that ended in every way.
@Suite(.tags(.small)) struct ListTests {
  private static let now = "2026-11-22T17:02:03.500Z"

  private struct Session {
    let id: String
    let app: String
    let status: SessionStatus
    var cause: ExitCause?
    var user = "anna"
    var device = "build-server"
    var started = "2026-11-22T14:30:05.123Z"
    var ended: String? = "2026-11-22T16:44:01.000Z"
    var length: Int64 = 1_234_567
    var uploaded: Int64 = 1_234_567
    var isRunning = false
    var reaped: String?
    var location = SessionCatalog.Location.both
    var active = "2026-11-22T16:44:01.000Z"
    var consent: Consent?
    var sealedIn: String?
    var basis: [String]?

    func entry(_ remote: RemoteSession? = nil) throws -> SessionCatalog.Entry {
      var json: [String: Any] = [
        "sessionId": id, "fileName": "\(id).log", "format": "lines", "userId": user,
        "deviceId": "d-\(device)", "deviceName": device, "osVersion": "Linux", "appName": app,
        "startedAt": started, "lastUpdatedAt": active, "status": status.rawValue,
        "fileSizeBytes": length, "categories": [String](), "levels": [String: Int](),
        "scenarios": [String](),
      ]
      json["cause"] = cause?.description
      json["endedAt"] = ended
      json["remoteReapedAt"] = reaped
      json["consent"] = consent?.rawValue
      json["basis"] = basis
      json["seal"] = sealedIn.map { store in
        [
          "store": store, "revision": "\(id).s0002.json", "sealedAt": active, "length": length,
        ] as [String: Any]
      }
      let sidecar = try JSONDecoder().decode(
        Sidecar.self, from: JSONSerialization.data(withJSONObject: json))
      return SessionCatalog.Entry(
        session: sidecar.sessionId, sidecar: sidecar, location: location,
        length: StreamOffset(length), uploaded: StreamOffset(uploaded), isRunning: isRunning,
        lastActivity: try #require(Timestamp(iso: active)), remote: remote, hasLocalLog: true)
    }
  }

  private static let sessions = [
    Session(
      id: "20261122t165501z-r0000000", app: "service", status: .active,
      started: "2026-11-22T16:55:01.000Z", ended: nil, uploaded: 1_000_000, isRunning: true,
      active: "2026-11-22T17:02:00.000Z"),
    Session(
      id: "20261119t080000z-s0000000", app: "silent-one", status: .active,
      started: "2026-11-19T08:00:00.000Z", ended: nil, isRunning: true,
      active: "2026-11-19T12:00:00.000Z"),
    Session(
      id: "20261122t143005z-k3f9a7c2", app: "nightly-job", status: .terminated, cause: .exit(0)),
    Session(
      id: "20261122t143004z-a0000000", app: "backup", status: .terminated, cause: .exit(3),
      length: 0, uploaded: 0),
    Session(
      id: "20261122t143003z-b0000000", app: "web", status: .terminated, cause: .signal(15),
      uploaded: 0, location: .local),
    Session(
      id: "20261122t143002z-c0000000", app: "日本語の長い名前のプログラム", status: .crashed,
      cause: .signal(11), user: "ärzte", device: "laptop-of-somebody-with-a-long-name",
      location: .remote),
    Session(
      id: "20261022t143001z-d0000000", app: "importer", status: .crashed, cause: .outOfMemory,
      started: "2026-10-22T14:30:01.000Z", ended: "2026-10-25T01:30:00.000Z",
      reaped: "2026-11-22T00:00:00.000Z", location: .local),
    Session(
      id: "20261122t143000z-e0000000", app: "secret", status: .terminated, cause: .exit(0),
      uploaded: 0, consent: .metadata),
  ]

  /// A session sealed in a store whose listing does not show it.
  static func sealedEntry(
    in store: String, remote: RemoteSession? = nil
  ) throws -> SessionCatalog.Entry {
    try Session(
      id: "20261122t143005z-k3f9a7c2", app: "nightly-job", status: .terminated, cause: .exit(0),
      location: remote == nil ? .local : .both, sealedIn: store
    ).entry(remote)
  }

  @Test func `a copy without its seal is no proven one`() throws {
    let remote = RemoteSession(
      folder: SessionFolder(device: "d", day: "2026-11-22"),
      session: try #require(SessionID("20261122t143005z-k3f9a7c2")))
    let entry = try Self.sealedEntry(in: "file:///store", remote: remote)
    var view = try view()
    view.store = "file:///store"
    #expect(entry.remoteCopy(in: view.store) == .unsealed)
    #expect(ListColumn.uploaded.cell(entry, view).text == "no seal")
    #expect(List.Line(entry, view).sealMissing == true)
    #expect(entry.remoteCopy(in: "file:///other") == .asUploaded)
    #expect(entry.remoteCopy(in: nil) == .asUploaded)
  }

  @Test func `a copy without what its stream copies from is not whole`() throws {
    let id = "20261122t143005z-k3f9a7c2"
    let session = try #require(SessionID(id))
    let seal = RevisionName(
      session: session, number: 3, status: .terminated, generation: 2, length: 10, json: [])
    let basis = "\(id).g1.000000000000-000000000010.0123456789abcdef.40.log.zst"
    func copy(_ segments: [SegmentName]) throws -> RemoteCopy {
      let remote = RemoteSession(
        folder: SessionFolder(device: "d", day: "2026-11-22"), session: session,
        segments: segments, revisions: [seal])
      return try Session(
        id: id, app: "job", status: .terminated, location: .remote, basis: [basis]
      ).entry(remote).remoteCopy(in: "file:///store")
    }
    #expect(try copy([]) == .incomplete)
    #expect(try copy([#require(SegmentName(basis))]) == .asUploaded)
    var view = try view()
    view.store = "file:///store"
    let remote = RemoteSession(
      folder: SessionFolder(device: "d", day: "2026-11-22"), session: session, revisions: [seal])
    let entry = try Session(
      id: id, app: "job", status: .terminated, location: .remote, basis: [basis]
    ).entry(remote)
    #expect(ListColumn.uploaded.cell(entry, view).text == "incomplete")
    #expect(List.Line(entry, view).incomplete == true)
  }

  private func view() throws -> ListColumn.View {
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    return .init(now: try #require(Timestamp(iso: Self.now)), zone: LocalZone(berlin))
  }

  @Test(arguments: [60, 80, 200, nil])
  func `the table fits the terminal, and a pipe gets every column`(width: Int?) throws {
    let entries = try Self.sessions.map { try $0.entry() }
    let rendering = List.table(entries, nil, try view()).render(width: width)
    if let width {
      #expect(rendering.lines.allSatisfy { $0.displayWidth <= width })
    } else {
      #expect(rendering.omitted.isEmpty)
    }
    let omitted = rendering.omitted.joined(separator: ", ")
    Snapshot.expect(
      rendering.lines.joined(separator: "\n") + "\nomitted: \(omitted)\n",
      is: "list-\(width.map(String.init) ?? "pipe").txt")
  }

  /// With the last lines of each session, which are cut at a terminal.
  @Test(arguments: [60, 80, 200, nil])
  func `the tree fits the width and matches its snapshot`(width: Int?) async throws {
    let entries = try Self.sessions.map { try $0.entry() }
    var lines: [String] = []
    let omitted = try await SessionTree(entries).print(
      List.table(entries, List.treeColumns, try view()), width: width, { lines.append($0) }
    ) { entry in
      guard entry.sidecar.status == .crashed else { return [] }
      return [
        "2026-11-22T16:44:01.000Z [ERROR] [stderr] ERROR: \u{1b}[31mworker 7 failed: the disk is full",
        "2026-11-22T16:44:01.000Z [FAULT] [Session] SESSION END",
      ]
    }
    if let width { #expect(lines.allSatisfy { $0.displayWidth <= width }) }
    Snapshot.expect(
      lines.joined(separator: "\n") + "\nomitted: \(omitted.joined(separator: ", "))\n",
      is: "tree-\(width.map(String.init) ?? "pipe").txt")
  }

  @Test func `the table shows the requested columns in the requested order`() throws {
    let entries = try Self.sessions.prefix(2).map { try $0.entry() }
    let rendering = List.table(entries, [.app, .size, .session], try view()).render(width: nil)
    #expect(
      rendering.lines == [
        "APP           SIZE  SESSION", "service     1.2 MB  20261122t165501z-r0000000",
        "silent-one  1.2 MB  20261119t080000z-s0000000",
      ])
  }

  @Test func `JSON output matches its snapshot`() throws {
    let lines = try Self.sessions.map { session in
      try Console.json(List.Line(session.entry(), view()))
    }
    Snapshot.expect(lines.joined(separator: "\n") + "\n", is: "list.jsonl")
  }

  @Test func `ways to end are distinguishable without colour`() throws {
    let view = try view()
    let shown = try Self.sessions.map { ListColumn.status.cell(try $0.entry(), view) }
    #expect(Set(shown.map { $0.short ?? "" }).count >= 6)
    #expect(
      shown.map { $0.short ?? "" } == [
        "● active", "  silent 3d5h", "  exit 0", "! exit 3", "  SIGTERM", "✖ SIGSEGV",
        "✖ out of memory", "  exit 0",
      ])
  }
}
