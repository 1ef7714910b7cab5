import Foundation
import LogRecords
import Platform
import TestSupport
import Testing

/// Records of other programs; every line here is made up from the format's own documentation.
@Suite(.tags(.small)) struct RecordFormTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let line: String
    let form: RecordForm?
    let level: Level
    let time: String?
    let category: String
    var testDescription: String { line }

    init(
      _ line: String, _ form: RecordForm?, _ level: Level, _ time: String? = Self.usual,
      _ category: String = ""
    ) {
      self.line = line
      self.form = form
      self.level = level
      self.time = time
      self.category = category
    }

    static let usual = "2026-01-22T14:30:05.000Z"
  }

  static let reference = Timestamp(iso: "2026-02-01T00:00:00Z")
  static let utc = TimeZone(secondsFromGMT: 0)

  static let bracketed: [Case] = [
    .init("[WARN]: disk is full", .level, .warning, nil),
    .init("[ERROR] [net] refused", .level, .error, nil, "net"),
    .init("[error] 2026-01-22 14:30:05 refused", .level, .error),
    .init("[2026-01-22 14:30:05] [ERROR] [net] refused", .timeAndLevel, .error, Case.usual, "net"),
    .init(
      "[2026-01-22T14:30:05Z WARN  net::tcp] slow", .timeAndLevel, .warning, Case.usual,
      "net::tcp"),
    .init(
      "[2026-01-22 14:30:05] app.CRITICAL: refused {}", .timeAndLevel, .fault, Case.usual, "app"),
    .init("[2026-01-22T14:30:05.000+00:00] net started", .time, .info),
    .init(
      "2026-01-22T14:30:05.000Z [DEBUG] [Net] {Sync} ours", .timeAndLevel, .debug, Case.usual, "Net"
    ),
  ]

  static let syslog: [Case] = [
    .init("Jan 22 14:30:05 box sshd[42]: accepted", .syslog, .info, Case.usual, "sshd"),
    .init("<11>Jan 22 14:30:05 box su: failed", .syslog, .error, Case.usual, "su"),
    .init(
      "Jan  2 04:03:02 box kernel: [ 1.5] up", .syslog, .info, "2026-01-02T04:03:02.000Z",
      "kernel"),
    .init("Jan 22 14:30:05 box sshd[42]: error: no key", .syslog, .error, Case.usual, "sshd"),
    .init("Jan 22 14:30:05 box last message repeated 2 times", .syslog, .info),
    .init("Jan 22 14:30:05 box daemon[7] <Warning>: low", .syslog, .warning, Case.usual, "daemon"),
    .init(
      "<165>1 2026-01-22T15:30:05.000+01:00 box app 42 ID7 [x@1 a=\"b]\\\"\"][y@1] hi", .syslog,
      .info, Case.usual, "app"),
    .init("<34>1 - - - - - -", .syslog, .fault, nil),
    .init("2026-01-22T14:30:05.000000+00:00 box cron[9]: job", .syslog, .info, Case.usual, "cron"),
  ]

  static let pairs: [Case] = [
    .init(
      "time=2026-01-22T14:30:05Z level=warn msg=\"a \\\"b\\\" c\" logger=net", .logfmt, .warning,
      Case.usual, "net"),
    .init("at=error method=GET path=\"/\"", .logfmt, .error, nil),
    .init("ts=1769092205 lvl=dbug level=debug msg=x", .logfmt, .debug),
    .init(
      "{\"level\":50,\"time\":1769092205000,\"name\":\"api\",\"msg\":\"x\"}", .json, .error,
      Case.usual, "api"),
    .init(
      "{\"ts\":1769092205.0,\"level\":\"warn\",\"logger\":\"db\",\"msg\":\"}\"}", .json, .warning,
      Case.usual, "db"),
    .init(
      #"{"ctx":{"level":"error"},"@timestamp":"2026-01-22T14:30:05Z","log.level":"INFO"}"#,
      .json, .info),
    .init(
      "{\"__REALTIME_TIMESTAMP\":\"1769092205000000\",\"PRIORITY\":\"3\",\"MESSAGE\":\"x\"}", .json,
      .error),
    .init(
      "{\"log\":\"ERROR: x\\n\",\"stream\":\"stderr\",\"time\":\"2026-01-22T14:30:05.0Z\"}", .json,
      .error),
    .init("{\"level\":\"error\",\"message\":\"cut of", .json, .error, nil),
    .init("<3>disk failed", .priority, .error, nil),
    .init("<7>details", .priority, .debug, nil),
  ]

  static let web: [Case] = [
    .init("10.0.0.1 - ann [22/Jan/2026:15:30:05 +0100] \"GET / HTTP/1.1\" 200 12", .access, .info),
    .init(
      "10.0.0.1 - - [22/Jan/2026:14:30:05 +0000] \"GET /\\\"x HTTP/1.1\" 404 0 \"-\" \"curl\"",
      .access, .warning),
    .init(
      "a.example:443 10.0.0.1 - - [22/Jan/2026:14:30:05 +0000] \"PUT / HTTP/2\" 503 0", .access,
      .error, Case.usual, "a.example"),
    .init(
      "[Thu Jan 22 14:30:05.000000 2026] [core:error] [pid 12:tid 34] [client 10.0.0.1:5] AH01: no",
      .timeAndLevel, .error, Case.usual, "core"),
    .init("[Thu Jan 22 14:30:05 2026] [notice] Apache configured", .timeAndLevel, .info),
    .init("[Thu Jan 22 14:30:05 2026] [error] [client 10.0.0.1] denied", .timeAndLevel, .error),
    .init("2026/01/22 14:30:05 [crit] 12#34: *5 open() failed", .timeAndLevel, .fault),
    .init("2026/01/22 14:30:05 [error] 12#34: refused: x", .timeAndLevel, .error),
  ]

  static let log4j: [Case] = [
    .init(
      "2026-01-22 14:30:05,000 ERROR [main] org.acme.Net: refused", .timeAndLevel, .error,
      Case.usual, "org.acme.Net"),
    .init(
      "2026-01-22 14:30:05,000 - WARN  [main:Quorum@12] - slow", .timeAndLevel, .warning,
      Case.usual, "Quorum"),
    .init(
      "2026-01-22 14:30:05.000  INFO 7 --- [main] o.a.Net : up", .timeAndLevel, .info, Case.usual,
      "o.a.Net"),
    .init(
      "2026-01-22 14:30:05,000 - net.http - ERROR - refused", .timeAndLevel, .error, Case.usual,
      "net.http"),
    .init(
      "2026-01-22 14:30:05.000 | DEBUG    | app:run:12 - x", .timeAndLevel, .debug, Case.usual,
      "app:run:12"),
    .init(
      "26/01/22 14:30:05 WARN executor.Task: slow", .timeAndLevel, .warning, Case.usual,
      "executor.Task"),
    .init("260122 143005 148 INFO dfs.Node: got it", .timeAndLevel, .info, Case.usual, "dfs.Node"),
    .init("2026-01-22 14:30:05.000 UTC [42] LOG:  ready", .timeAndLevel, .info),
    .init("2026-01-22 14:30:05.000 UTC [42] me@db FATAL:  denied", .timeAndLevel, .fault),
    .init(
      "INFO  [2026-01-22 14:30:05,000] org.acme.Net: up", .level, .info, Case.usual,
      "org.acme.Net"),
    .init(
      "22-Jan-2026 14:30:05.000 SEVERE [main] org.acme.Net.run refused", .timeAndLevel, .error,
      Case.usual, "main"),
    .init("[14:30:05] [Server thread/WARN]: behind", .timeAndLevel, .warning, nil, "Server thread"),
    .init(
      "2026-01-22 14:30:05,000 - config - ERROR - x", .timeAndLevel, .error, Case.usual, "config"),
    .init("2026-01-22 14:30:05 config: loaded", .time, .info),
    .init("2026/01/22 14:30:05 listening", .time, .info),
    .init("2026/01/22 14:30:05 http: error: broken pipe", .time, .error),
  ]

  static let phones: [Case] = [
    .init("01-22 14:30:05.000  1702  2395 E Wifi: refused", .android, .error, Case.usual, "Wifi"),
    .init("01-22 14:30:05.000  1000  1702  2395 I A: x", .android, .info, Case.usual, "A"),
    .init(
      "2026-01-22 15:30:05.000 +0100  1702  2395 V A b: x", .android, .trace, Case.usual, "A b"),
    .init("01-22 14:30:05.000 W/Wifi    ( 1702): slow", .android, .warning, Case.usual, "Wifi"),
    .init("F/libc    ( 1702): Fatal signal 11", .android, .fault, nil, "libc"),
    .init("[ 01-22 14:30:05.000  1702: 2395 D/Wifi     ]", .android, .debug, Case.usual, "Wifi"),
    .init(
      "2026-01-22 15:30:05.000000+0100 0x1f4 Error  0x0  123  0  app: (Lib) [com.a:net] x",
      .apple, .error, Case.usual, "com.a:net"),
    .init(
      "2026-01-22 14:30:05.000 E  app[123:456] [com.a:net] refused", .apple, .error, Case.usual,
      "com.a:net"),
    .init("2026-01-22 14:30:05.000 Df My App[123:1f4] hello", .apple, .info, Case.usual, "My App"),
    .init(
      "2026-01-22 14:30:05.000000+0000  localhost kernel[0]: (Lib) up", .apple, .info, Case.usual,
      "kernel"),
    .init("2026-01-22 14:30:05.000 App[123:456] hello", .apple, .info, Case.usual, "App"),
  ]

  static let unknown: [Case] = [
    .init("all is well", nil, .info, nil), .init("ERROR: disk", nil, .error, nil),
    .init("WARN  disk", nil, .warning, nil), .init("12345", nil, .info, nil),
    .init("ERROR:net.http:refused", nil, .error, nil, "net.http"),
    .init("panic: nil map", nil, .fault, nil), .init("java.io.IOException: x", nil, .error, nil),
    .init("{\"a\":1}", nil, .info, nil), .init("x = 3", nil, .info, nil),
    .init("<999>x", nil, .info, nil), .init("2026-02-30 14:30:05 x", nil, .info, nil),
    .init("app/main.swift:3: Fatal error: Index out of range", nil, .fault, nil),
  ]

  @Test(arguments: [bracketed, syslog, pairs, web, log4j, phones, unknown].flatMap(\.self))
  func `each record form gives level, time, category and message`(_ test: Case) throws {
    for ending in ["", "\n", "\r\n"] {
      let bytes = Array((test.line + ending).utf8)
      try bytes.withUnsafeBytes { line in
        var reader = RecordReader(.asIs, reference: Self.reference, zone: Self.utc)
        let read = reader.read(line)
        let head = try #require(read)
        #expect(head.level == test.level)
        #expect(head.time?.description == test.time)
        #expect(String(decoding: line[head.category], as: UTF8.self) == test.category)
        #expect(head.message.upperBound <= test.line.utf8.count)
        let isTelling = test.form != .time && test.form != .priority
        #expect(reader.form == (isTelling ? test.form : nil))
      }
    }
  }

  // MARK: Times

  /// A time before a record, and its meaning in Berlin given a reference.
  static let times: [(text: String, reference: String, time: String?)] = [
    ("2026-01-22 14:30:05", "2026-02-01", "2026-01-22T13:30:05.000Z"),
    ("2026-07-22 14:30:05", "2026-08-01", "2026-07-22T12:30:05.000Z"),
    ("2026-07-22 14:30:05Z", "2026-08-01", "2026-07-22T14:30:05.000Z"),
    ("2026-07-22T14:30:05.5-08", "2026-08-01", "2026-07-22T22:30:05.500Z"),
    ("2026-01-22 14:30:05,123456789 +0530", "2026-02-01", "2026-01-22T09:00:05.123Z"),
    ("20260122T143005Z", "2026-02-01", "2026-01-22T14:30:05.000Z"),
    ("22.01.2026 14:30:05", "2026-02-01", "2026-01-22T13:30:05.000Z"),
    ("22/01/2026 14:30:05", "2026-02-01", "2026-01-22T13:30:05.000Z"),
    ("01/22/2026 14:30:05", "2026-02-01", "2026-01-22T13:30:05.000Z"),
    ("02/01/2026 14:30:05", "2026-02-01", nil),
    ("22 Jan 2026 14:30:05", "2026-02-01", "2026-01-22T13:30:05.000Z"),
    ("Thu, 22 Jan 2026 14:30:05 GMT", "2026-02-01", "2026-01-22T14:30:05.000Z"),
    ("14:30:05", "2026-02-01", nil),
    // Without a year: the latest such day, which may be in the year before.
    ("Jan 22 14:30:05", "2026-02-01", "2026-01-22T13:30:05.000Z"),
    ("Dec 31 23:59:59", "2026-01-01", "2025-12-31T22:59:59.000Z"),
    ("Jan  1 00:00:01", "2026-01-01", "2025-12-31T23:00:01.000Z"),
    ("Jan  1 00:30:00", "2025-12-31", "2025-12-31T23:30:00.000Z"),
    ("12-31 23:59:59.999", "2026-01-01", "2025-12-31T22:59:59.999Z"),
    ("Feb 29 12:00:00", "2026-03-01", "2024-02-29T11:00:00.000Z"),
    ("Jan 22 2026 14:30:05", "2030-02-01", "2026-01-22T13:30:05.000Z"),
  ]

  @Test(arguments: times)
  func `timestamps in all forms are read in the given zone`(
    text: String, reference: String, time: String?
  ) throws {
    let line = Array("\(text) [ERROR] [net] refused".utf8)
    let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    let reference = try #require(Timestamp(iso: reference + "T00:00:00Z"))
    var reader = RecordReader(.asIs, reference: reference, zone: berlin)
    let read = line.withUnsafeBytes { reader.read($0) }
    let head = try #require(read)
    #expect(head.time?.description == time)
    #expect(head.level == .error)
  }

  @Test func `without a reference, a timestamp without year has no time`() {
    var reader = RecordReader(.asIs, zone: Self.utc)
    let line = Array("Jan 22 14:30:05 box su: x".utf8)
    #expect(line.withUnsafeBytes { reader.read($0) }?.time == nil)
    #expect(reader.form == .syslog)
  }

  // MARK: Both ends of a log

  @Test func `the time span of a log may cross a year's end`() throws {
    let head = Array("-- log begins --\nDec 31 23:00:00 box a[1]: x\nDec 31 23:0".utf8)
    let tail = Array("1 box a[1]: cut\nJan  1 00:10:00 box a[1]: y\n  more\n".utf8)
    let found = span(head, tail, "2026-01-01T00:10:01Z")
    let span = try #require(found)
    #expect(span.form == .syslog)
    #expect(span.first.description == "2025-12-31T23:00:00.000Z")
    #expect(span.last.description == "2026-01-01T00:10:00.000Z")
    #expect(self.span(head, [], "2026-01-01T00:10:01Z")?.last == span.first)
  }

  @Test(arguments: ["", "\n", "plain\ntext\n", "[WARN]: no time\n", "<3>x\n", "\0\u{fffd}"])
  func `a log of unknown form has no time span`(text: String) {
    #expect(span(Array(text.utf8), Array(text.utf8), "2026-01-01T00:00:00Z") == nil)
  }

  private func span(_ head: [UInt8], _ tail: [UInt8], _ reference: String) -> RecordSpan? {
    guard let reference = Timestamp(iso: reference) else { return nil }
    return head.withUnsafeBytes { head in
      tail.withUnsafeBytes { tail in
        RecordSpan(head: head, tail: tail, reference: reference, zone: Self.utc)
      }
    }
  }

  // MARK: Records of several lines

  static let traces: [(name: String, isFault: Bool, text: String)] = [
    (
      "Java", false,
      """
      java.lang.IllegalStateException: no
      \tat org.acme.Net.run(Net.java:12)
      \t... 3 more
      Caused by: java.io.IOException: closed
      \tat org.acme.Net.read(Net.java:40)
      Suppressed: java.io.IOException: again
      """
    ),
    (
      "Python", false,
      """
      Traceback (most recent call last):
        File "/a.py", line 3, in <module>
          run()
      ValueError: bad

      During handling of the above exception, another exception occurred:

      Traceback (most recent call last):
        File "/a.py", line 5, in <module>
      RuntimeError: worse
      """
    ),
    (
      "Go", true,
      """
      panic: runtime error: invalid memory address
      [signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x48]

      goroutine 1 [running]:
      main.(*server).run(0xc000, {0x1, 0x2})
      \t/src/main.go:12 +0x1d
      created by main.main in goroutine 7
      exit status 2
      """
    ),
    (
      "Swift", true,
      """
      app/main.swift:3: Fatal error: Index out of range
      *** Signal 4: Backtracing from 0x7f01... done ***

      Thread 0 "app" crashed:

      0 0x00007f01 _assertionFailure(_:_:) + 12 in libswiftCore.so
      1 [ra] 0x00005581 main + 40 in app at /src/main.swift:3:5
      Registers:
      """
    ),
  ]

  @Test(arguments: traces, ["", "2026-01-22 14:30:04 [ERROR] [net] refused\n", "plain\n"])
  func `stack traces stay in one record`(
    trace: (name: String, isFault: Bool, text: String), before: String
  ) {
    let after = before.isEmpty || before == "plain\n" ? "" : "2026-01-22 14:30:06 [INFO] [x] on\n"
    let log = "\(before)\(trace.text)\n\(after)"
    let kept = filtered(log, RecordFilter(levels: .from(.error)))
    #expect(kept == log.replacing(after.isEmpty ? "plain\n" : after, with: ""))
    let records = statistics(log).counts.reduce(0, +)
    // A trace is one record, or continues an error before it of the same level.
    let isPart = before.contains("[ERROR]") && !trace.isFault
    #expect(records == 1 + (before.isEmpty || isPart ? 0 : 1) + (after.isEmpty ? 0 : 1))
  }

  @Test func `a crash in a log starts its own record at level FAULT`() {
    let log = """
      2026-01-22 14:30:04 [INFO] [net] up
      goes on
      panic: no
      goroutine 1 [running]:
      2026-01-22 14:30:06 [INFO] [net] down

      """
    #expect(
      filtered(log, RecordFilter(levels: .from(.fault))) == "panic: no\ngoroutine 1 [running]:\n")
    // It has the time of the record before it.
    let late = RecordFilter(since: Timestamp(iso: "2026-01-22T14:30:05Z"))
    #expect(filtered(log, late) == "2026-01-22 14:30:06 [INFO] [net] down\n")
  }

  @Test func `lines of unknown form are INFO and are never filtered by time`() {
    let log = "one\n two\n\nthree\0\u{1b}[31m\nfour"
    #expect(filtered(log, RecordFilter(levels: .from(.info))) == log)
    let since = Timestamp(iso: "2026-01-22T14:30:05Z")
    #expect(filtered(log, RecordFilter(since: since, until: since)) == log)
    #expect(statistics(log).levelCounts == ["INFO": 3])
  }

  @Test func `statistics cover a log of several forms`() {
    let log = """
      Jan 22 14:30:05 box sshd[42]: error: no key
      {"level":"warn","time":"2026-01-22T14:30:06Z","msg":"x"}
      Jan 22 14:30:07 box cron[9]: job
        more

      """
    let counted = statistics(log)
    #expect(counted.levelCounts == ["ERROR": 1, "WARNING": 1, "INFO": 1])
    #expect(counted.categoryNames == ["cron", "sshd"])
    #expect(counted.last?.description == "2026-01-22T14:30:07.000Z")
    #expect(counted.lines == 4)
  }

  // MARK: Helpers

  /// Lines with their newlines.
  func lines(_ bytes: [UInt8]) -> [[UInt8]] {
    var lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
      .map { Array($0) + [0x0a] }
    let last = lines.removeLast().dropLast()
    return last.isEmpty ? lines : lines + [Array(last)]
  }

  private func filtered(_ log: String, _ filter: RecordFilter) -> String {
    var filter = filter
    filter.reader = RecordReader(.asIs, reference: Self.reference, zone: Self.utc)
    var kept: [UInt8] = []
    Array(log.utf8).withUnsafeBytes { filter.add($0) { kept += $0.bytes } }
    filter.finish { kept += $0.bytes }
    return String(decoding: kept, as: UTF8.self)
  }

  private func statistics(_ log: String) -> LogStatistics { counted([Array(log.utf8)]) }

  func counted(_ pieces: [[UInt8]]) -> LogStatistics {
    var statistics = LogStatistics(
      RecordReader(.asIs, reference: Self.reference, zone: Self.utc))
    for piece in pieces { piece.withUnsafeBytes { statistics.add($0) } }
    statistics.finish()
    return statistics
  }
}
