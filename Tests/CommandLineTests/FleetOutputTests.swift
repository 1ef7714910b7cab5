import Foundation
import LogRecords
import ObjectStore
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Fleet
@testable import tidemark

/// The output of commands about many devices.
@Suite(.tags(.small)) struct FleetOutputTests {
  private static let now = Timestamp(iso: "2026-11-22T17:02:03.500Z") ?? Timestamp(milliseconds: 0)

  private static func crash(
    _ app: String, _ cause: String, on device: String, daysAgo: Int64, version: String? = nil,
    _ lines: [String]
  ) -> CrashReport {
    var subject = AlertSubject(device: "id-\(device)", deviceName: device)
    (subject.app, subject.version) = (app, version)
    let end = now - .days(daysAgo)
    subject.session = "\(end.compact)-k3f9a7c2"
    return CrashReport(
      subject, cause: cause, endedAt: end, isCrash: true,
      lines: lines.map { "\(end) [\($0.hasPrefix("ERROR") ? "ERROR" : "INFO")] [stderr] \($0)" })
  }

  private static let crashes =
    (0..<5).map { number in
      crash(
        "player", "signal 11 (SIGSEGV)", on: "kiosk-\(number % 3)", daysAgo: Int64(number),
        version: number < 2 ? "1.5" : "1.4",
        [
          "played \(number) films", "ERROR: worker \(number) failed at 0xab\(number)",
          "retrying in \(number) s",
        ])
    } + [
      crash(
        "日本語の長い名前のプログラム", "out of memory", on: "laptop-of-somebody", daysAgo: 2,
        ["a line without a level, which goes on and on, as lines of programs like to do at times"]),
      crash("silent", "recorder lost", on: "kiosk-1", daysAgo: 3, version: "2.0.1-beta", []),
    ]

  private func expect(
    _ table: Table, width: Int?, is name: String, location: SourceLocation = #_sourceLocation
  ) {
    let rendering = table.render(width: width)
    if let width {
      #expect(rendering.lines.allSatisfy { $0.displayWidth <= width }, sourceLocation: location)
    }
    Snapshot.expect(
      rendering.lines.joined(separator: "\n")
        + "\nomitted: \(rendering.omitted.joined(separator: ", "))\n",
      is: "\(name)-\(width.map(String.init) ?? "pipe").txt", location: location)
  }

  @Test(arguments: [60, 80, 200, nil])
  func `the table of crashes fits the width and matches its snapshot`(width: Int?) throws {
    let berlin = LocalZone(try #require(TimeZone(identifier: "Europe/Berlin")))
    let groups = CrashGroup.groups(of: Self.crashes)
    #expect(groups.map(\.count) == [5, 1, 1])
    expect(Crashes.table(groups, berlin), width: width, is: "crashes")
  }

  @Test(arguments: [60, 80, 200, nil])
  func `the table of devices fits the width and matches its snapshot`(width: Int?) throws {
    let devices = try JSONDecoder().decode(
      [DeviceSummary].self,
      from: Data(
        """
        [{"deviceId":"d1","device":"build-server","lastSeen":"2026-11-22T17:00:00.000Z",
          "openSessions":3,"waitingBytes":123456,"crashes":0,"errors":17,"app":"service",
          "version":"2.4.1","rejected":[]},
         {"deviceId":"d2","device":"laptop-of-somebody-with-a-long-name",
          "lastSeen":"2026-11-19T08:00:00.000Z","openSessions":0,"waitingBytes":0,"crashes":2,
          "errors":1,"app":"日本語の長い名前のプログラム","rejected":[]},
         {"deviceId":"d3","device":"new","openSessions":0,"waitingBytes":0,"crashes":0,
          "errors":0,"rejected":[]}]
        """.utf8))
    expect(List.table(devices, Self.now), width: width, is: "summary")
  }

  @Test func `devices of one name are shown with their ids`() throws {
    let devices = try JSONDecoder().decode(
      [DeviceSummary].self,
      from: Data(
        """
        [{"deviceId":"d1","device":"vm","openSessions":0,"waitingBytes":0,"crashes":0,
          "errors":0,"rejected":[]},
         {"deviceId":"d2","device":"vm","openSessions":0,"waitingBytes":0,"crashes":0,
          "errors":0,"rejected":[]}]
        """.utf8))
    let lines = List.table(devices, Self.now).render(width: nil).lines
    #expect(lines[1].hasPrefix("vm d1") && lines[2].hasPrefix("vm d2"))
  }

  /// A pass with each kind of rule, and the one after it; as lines and as JSON.
  @Test func `alerts are one harmless line each, as text and as JSON`() throws {
    var rules = [
      AlertRule(name: "crashed", .crash(includesFailures: false)),
      AlertRule(name: "errors", .records(RecordCondition(levels: .from(.error)))),
      AlertRule(name: "kiosk-silent", .silence(.seconds(1800))),
    ]
    for index in rules.indices { rules[index].keep = .seconds(60) }
    let now = Self.now.assumingSynchronizedClocks
    var reading = AlertReading()
    reading.crashes = Self.crashes
    for number in 0..<3 {
      var subject = AlertSubject(device: "id-\(number)", deviceName: "kiosk-\(number)")
      (subject.session, subject.app) = ("20261122t165501z-r000000\(number)", "service")
      var records = MatchedRecords(
        rule: "errors", subject, at: now, level: "ERROR", offset: 7)
      for _ in 0...number { records.add(at: now) }
      records.lines = ["\(Self.now) [ERROR] [stderr] card \u{202e}declined"].map(LineText.sanitized)
      reading.records.append(records)
    }
    let gone = AlertSubject(device: "id-9", deviceName: "kiosk-9")
    reading.heard = [.init(gone, newest: now - .seconds(3000))]
    let first = AlertPlan(rules, AlertLedger(), reading, now: now, offset: .zero)
    let second = AlertPlan(
      rules, first.ledger, AlertReading(), now: now + .seconds(61), offset: .zero)
    let messages = (first.outgoing + second.outgoing).map(\.notification)
    let lines = messages.map { AlertOutput.text($0, asJSON: false) }
    let objects = messages.map { AlertOutput.text($0, asJSON: true) }
    #expect(lines.allSatisfy { !$0.contains("\n") && !$0.contains("\u{202e}") })
    Snapshot.expect(lines.joined(separator: "\n") + "\n", is: "alert.txt")
    Snapshot.expect(objects.joined(separator: "\n") + "\n", is: "alert.jsonl")
  }

  /// Metrics of two homes in machine-wide mode: one without any values, and one with all.
  @Test func `metrics are printed in Prometheus's text format`() {
    var metrics = DeviceMetrics()
    metrics.user = "anna"
    metrics.lastSuccess = Self.now
    metrics.unsent = ["waiting": 12, "backoff": 345_678]
    metrics.unproven = 1000
    metrics.sessions = ["active": 1, "crashed": 2, "terminated": 40]
    (metrics.crashes, metrics.isStale) = (2, true)
    (metrics.requests.put, metrics.requests.get, metrics.requests.list) = (70, 8, 9)
    var other = DeviceMetrics()
    (other.user, other.isCacheUnreadable) = ("ärzte", true)
    Snapshot.expect(DeviceMetrics.text([metrics, other]), is: "metrics.prom")
  }
}
