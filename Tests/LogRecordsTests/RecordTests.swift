import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.medium)) struct RecordTests {
  struct PrefixCase: Sendable {
    let line: String
    let level: Level?
    let category: String
    let message: String
  }

  static let prefixes: [PrefixCase] = [
    .init(
      line: "2026-01-22T14:30:05.123Z [ERROR] [Net] Connection failed", level: .error,
      category: "Net", message: "Connection failed"),
    .init(
      line: "2026-01-22T14:30:05.123Z [INFO] [Net] {Sync} pushed", level: .info, category: "Net",
      message: "pushed"),
    .init(
      line: "2026-01-22T14:30:05Z [NOTICE] [a b] x", level: .info, category: "a b", message: "x"),
    .init(line: "[WARN]: disk", level: .warning, category: "", message: "disk"),
    .init(line: "[FAIL]: disk", level: .error, category: "", message: "disk"),
    .init(
      line: "2026-01-22T14:30:05.1Z [CRITICAL] [x] y", level: .fault, category: "x", message: "y"),
    .init(line: "2026-01-22T14:30:05.123Z [LOUD] [Net] x", level: nil, category: "", message: ""),
    .init(line: "2026-13-22T14:30:05.123Z [INFO] [Net] x", level: nil, category: "", message: ""),
    .init(line: "[\0\0\0]: disk", level: nil, category: "", message: ""),
    .init(line: "plain", level: nil, category: "", message: ""),
    .init(line: "", level: nil, category: "", message: ""),
  ]

  @Test(arguments: prefixes)
  func `a record prefix is parsed into level, category and message`(_ test: PrefixCase) {
    let line = Array(test.line.utf8)
    line.withUnsafeBytes { bytes in
      let prefix = RecordPrefix.parse(bytes)
      #expect(prefix?.level == test.level)
      guard let prefix else { return }
      #expect(String(decoding: bytes[prefix.category], as: UTF8.self) == test.category)
      #expect(String(decoding: bytes[prefix.length...], as: UTF8.self) == test.message)
    }
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (1_769_092_205_123, "2026-01-22T14:30:05.123Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
    ] as [(Int64, String)])
  func `timestamps convert to ISO 8601 and back`(milliseconds: Int64, text: String) {
    let time = Timestamp(milliseconds: milliseconds)
    #expect(time.description == text)
    #expect(Timestamp(iso: text) == time)
    #expect(Timestamp(iso: text + "x") == nil)
  }

  @Test(arguments: [
    "../../etc/passwd", "", "20260122t143005z-k3f9a7c", "20260122t143005z-k3f9a7c22",
    "20260122T143005z-k3f9a7c2", "20260122t143005z-k3f9a7C2", "20261322t143005z-k3f9a7c2",
    "20260122t143005z/k3f9a7c2", "20260122t143005z-k3f9a7c\0",
  ]) func `an invalid session id is refused`(text: String) { #expect(SessionID(text) == nil) }

  @Test func `a session id contains its start time`() throws {
    let id = SessionID.make(
      at: Timestamp(milliseconds: 1_769_092_205_123), by: .current)
    #expect(SessionID(id.description) == id)
    #expect(id.day == "2026-01-22")
    #expect(id.startedAt.milliseconds == 1_769_092_205_000)
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `the plain text of a log equals the program's output`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let home = try TestHome()
    let writer = try home.writer()
    let printed = NastyText.make(Int.random(in: 0...60, using: &generator), &generator)
    for piece in NastyText.cut(printed, &generator) {
      piece.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    }
    try writer.end(.exit(0))
    let log = try home.log(writer.session)
    var plain = PlainText()
    var out: [UInt8] = []
    for piece in NastyText.cut(log, &generator) { out += piece.withUnsafeBytes { plain.add($0) } }
    #expect(out + plain.finish() == printed)
  }

  @Test func `lines longer than the limit are read back whole`() throws {
    let home = try TestHome()
    let printed = [UInt8](repeating: 0x61, count: 5 << 20) + Array("\nend".utf8)
    let session = try home.session(printed)
    var plain = PlainText()
    let log = try home.log(session)
    #expect(log.withUnsafeBytes { plain.add($0) } + plain.finish() == printed)
  }

  @Test func `interleaved output streams are kept apart`() throws {
    let home = try TestHome()
    let writer = try home.writer()
    let pieces: [(String, CapturedStream)] = [
      ("out 1\nout", .standardOutput), ("err 1\n", .standardError), (" 2\n", .standardOutput),
      ("err 2", .standardError),
    ]
    for (text, stream) in pieces {
      Array(text.utf8).withUnsafeBytes { writer.capture($0, from: stream) }
    }
    try writer.end(.exit(0))
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.contains("[INFO] [stdout] out 1\n"))
    #expect(log.contains("[INFO] [stdout] out 2\n"))
    #expect(log.contains("[INFO] [stderr] err 1\n"))
    #expect(log.contains("[INFO] [stderr+] err 2\n"))
  }

  @Test(arguments: [
    ("ERROR: disk", Level.error), ("[WARN]: x", .warning), ("error: no such file", .error),
    ("2026-01-22 10:00:00 [ERROR] boom", .error), ("level=error msg=x", .error),
    ("17/06/09 20:10:40 WARN executor: x", .warning), ("all fine", .info),
    ("no error here", .info), ("main.swift:3:1: warning: unused", .warning), ("", .info),
    ("FATAL oops", .fault), ("information: x", .info),
  ])
  func `the level of a captured line is detected from its text`(line: String, level: Level) throws {
    let home = try TestHome()
    let session = try home.session(Array((line + "\n").utf8))
    let log = String(decoding: try home.log(session), as: UTF8.self)
    #expect(log.contains("[\(level.name)] [stdout] \(line)\n"), "\(log)")
  }

  @Test func `a filter keeps continuation lines with their record`() throws {
    let log = """
      2026-01-22T14:30:05.000Z [ERROR] [a] first
        at line 1
      2026-01-22T14:30:06.000Z [INFO] [a] second
        more
      2026-01-22T14:30:07.000Z [FAULT] [a] third

      """
    var filter = RecordFilter(levels: .from(.error))
    var kept = ""
    Array(log.utf8).withUnsafeBytes {
      filter.add($0) { line in kept += String(decoding: line.bytes, as: UTF8.self) }
    }
    #expect(kept.split(separator: "\n").count == 3)
    #expect(kept.contains("at line 1") && !kept.contains("more"))
    var late = RecordFilter(since: Timestamp(iso: "2026-01-22T14:30:06.500Z"))
    var count = 0
    Array(log.utf8).withUnsafeBytes { late.add($0) { _ in count += 1 } }
    #expect(count == 1)
  }

  @Test func `statistics do not depend on how the log is divided`() throws {
    var generator = SeededGenerator(case: 7)
    let home = try TestHome()
    let log = try home.log(try home.session(NastyText.make(500, &generator)))
    var whole = LogStatistics()
    log.withUnsafeBytes { whole.add($0) }
    whole.finish()
    var cut = LogStatistics()
    for piece in NastyText.cut(log, &generator) { piece.withUnsafeBytes { cut.add($0) } }
    cut.finish()
    #expect(whole.lines == cut.lines && whole.counts == cut.counts)
    #expect(whole.categoryNames == cut.categoryNames && whole.milliseconds == cut.milliseconds)
    #expect(whole.lines == log.count { $0 == 10 })
  }
}
