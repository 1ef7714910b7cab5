import Foundation
import LogRecords
import Platform
import Synchronization
import TestSupport
import Testing

@testable import SessionLog

/// Several writers of one session.
@Suite(.tags(.medium)) struct RunningSessionTests {
  @Test func `another process can add records to a running session`() throws {
    let home = try TestHome()
    let writer = try home.writer()
    let clock = home.clock
    var running = try RunningSession(
      joining: writer.session, in: home.home, machine: clock.machine)
    let name = ScenarioName("S")
    #expect(
      try running.record(.error, category: "stdout", "off", scenario: name)
        == name.map(RunningSession.Outcome.leftOutFirst))
    #expect(
      try running.record(.error, category: "stdout", "off", scenario: name)
        == name.map(RunningSession.Outcome.leftOut))
    try home.enable("S")
    #expect(
      try running.record(.error, category: "stdout", "two\nlines", scenario: name) == .written)
    try writer.end(.exit(0))
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.contains("[ERROR] [stdout_] {S} two\n  lines\n") && !log.contains("{S} off"))
    #expect(log.hasSuffix("SESSION END exit 0\n"))
  }

  @Test func `joining an ended, raw or unknown session is refused`() throws {
    let home = try TestHome()
    let ended = try home.session(Array("x\n".utf8))
    let raw = try home.writer(format: .asIs)
    let unknown = SessionID.make(at: home.clock.now(), by: home.clock.machine)
    for (session, says) in [
      (ended, "has ended"), (raw.session, "takes no records"), (unknown, "no session"),
    ] {
      do {
        _ = try RunningSession(joining: session, in: home.home, machine: home.clock.machine)
        Issue.record("\(session) was joined")
      } catch {
        #expect("\(error)".contains(says))
      }
    }
    #expect(!FileManager.default.fileExists(atPath: home.home.files(for: unknown).lock))
  }

  /// Two recorders' threads and several joiners, rotating all the time: each record occurs once,
  /// whole, and each writer's in its order.
  @Test(arguments: SeededGenerator.cases(20))
  func `concurrent writers neither lose, tear nor repeat records`(number: Int) throws {
    var random = SeededGenerator(case: number)
    let home = try TestHome()
    let limit = ByteCount(Int64.random(in: 200...5000, using: &random))
    let writer = try home.writer(rotateAt: limit)
    let count = 60
    let clock = home.clock
    DispatchQueue.concurrentPerform(iterations: 6) { index in
      var running =
        index < 3
        ? nil
        : try? RunningSession(
          joining: writer.session, in: home.home, rotateAt: limit, machine: clock.machine)
      for record in 0..<count {
        let text = "writer \(index) record \(record) " + String(repeating: "x", count: record + 1)
        if index < 2 {
          let stream: CapturedStream = index == 0 ? .standardOutput : .standardError
          Array("\(text)\n".utf8).withUnsafeBytes { writer.capture($0, from: stream) }
        } else if index == 2 {
          writer.record(.info, category: "API", text)
        } else {
          do { try running?.record(.info, category: "Script", text) } catch { Issue.record(error) }
        }
      }
    }
    try writer.end(.exit(0))
    let lines = String(decoding: try home.log(writer.session), as: UTF8.self)
      .split(separator: "\n").dropFirst().dropLast()
    var next = [Int](repeating: 0, count: 6)
    for line in lines {
      let words = line.split(separator: " ")
      try #require(words.count == 8, "torn: \(line)")
      let index = try #require(Int(words[4]))
      let record = try #require(Int(words[6]))
      #expect(record == next[index])
      #expect(words[7].count == record + 1)
      next[index] += 1
    }
    #expect(next == [Int](repeating: count, count: 6))
  }

  @Test func `a raw session contains only the program's bytes`() throws {
    let home = try TestHome()
    let writer = try home.writer(rotateAt: 50, format: .asIs)
    var random = SeededGenerator(case: 1)
    let bytes = NastyText.make(50, &random)
    for stream in [CapturedStream.standardOutput, .standardError] {
      bytes.withUnsafeBytes { writer.capture($0, from: stream) }
    }
    writer.record(.error, category: "x", "not written")
    writer.record(.networkLost)
    try writer.end(.exit(0))
    #expect(try home.log(writer.session) == bytes + bytes)
    #expect(try Sidecar.load(writer.files.sidecar).format == .asIs)
  }

  @Test(arguments: [
    ("{\"level\":\"error\",\"msg\":\"x\"}", Level.error), ("<4>careful", .warning),
    ("ERROR: x", .error), ("nothing said", .warning), ("{not json", .warning),
  ])
  func `a line on standard error has its own level or the configured one`(
    _ line: String, _ level: Level
  ) throws {
    let home = try TestHome()
    let writer = try home.writer(standardErrorLevel: .warning)
    Array("\(line)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardError) }
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.hasSuffix("[\(level.name)] [stderr] \(line)\n"))
  }

  /// A disk that stays full to the end has room for the last records and no more.
  @Test func `a full disk still has room for the end record`() throws {
    let home = try TestHome()
    let isFull = Mutex(false)
    let reserve = Mutex("")
    let writer = try home.writer { descriptor, bytes in
      // Full, unless the reserve was released.
      let isHeld = reserve.withLock { !$0.isEmpty && FileManager.default.fileExists(atPath: $0) }
      if isFull.withLock({ $0 }), isHeld { return -Int(ENOSPC) }
      return write(descriptor, bytes.baseAddress, bytes.count)
    }
    reserve.withLock { $0 = writer.files.reserve }
    #expect(FileManager.default.fileExists(atPath: writer.files.reserve))
    isFull.withLock { $0 = true }
    Array("lost\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try writer.end(.exit(4))
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.contains("bytes: disk full]\n") && log.hasSuffix("SESSION END exit 4\n"))
    #expect(!FileManager.default.fileExists(atPath: writer.files.reserve))
  }

  @Test func `a kill by the out-of-memory killer is the cause of the crash`() throws {
    let home = try TestHome()
    let events = home.home.cachePath + "/memory.events"
    try "low 0\noom 3\noom_kill 2\n".write(toFile: events, atomically: true, encoding: .utf8)
    let writer = try home.writer()
    var sidecar = try Sidecar.load(writer.files.sidecar)
    sidecar.recorder?.memoryEvents = events
    sidecar.recorder?.memoryKills = 2
    var machine = Machine.current
    machine.processStart = { _ in nil }
    func cause() throws -> ExitCause? {
      try Verdict.reach(
        sidecar: sidecar, files: writer.files, lockGranted: true, machine: machine,
        now: home.clock.now(), logModified: home.clock.now())?.cause
    }
    #expect(try cause() == .recorderLost)
    try "low 0\noom 4\noom_kill 3\n".write(toFile: events, atomically: true, encoding: .utf8)
    #expect(try cause() == .outOfMemory)
  }
}
