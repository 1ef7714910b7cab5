import Foundation
import LogRecords
import Platform
import SessionLog
import Synchronization
import TestSupport
import Testing

/// A recorder whose files somebody deletes or replaces continues in a new session.
@Suite(.tags(.medium)) struct LostLogTests {
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  private let home: TestHome
  private let lines = Lines()

  init() throws { home = try TestHome() }

  private func writer(
    format: LogFormat = .lines, isTended: Bool = false, rotateAt: ByteCount = 0
  ) throws -> SessionWriter {
    var options = RecordingOptions()
    options.format = format
    options.leavesDiskToTick = isTended
    options.rotateAt = rotateAt
    options.fsync = .never
    options.report = { [lines] in lines.add($0) }
    // No part is compressed while a folder is removed or copied.
    return try Parallelism.$isSequential.withValue(true) {
      try SessionWriter(
        home: home.home, device: home.device, appName: "test", options: options,
        machine: home.clock.machine)
    }
  }

  private func print(_ line: String, _ writer: SessionWriter) {
    Array("\(line)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
  }

  private func text(_ session: SessionID) throws -> String {
    String(decoding: try home.log(session), as: UTF8.self)
  }

  /// What happens to a session's files.
  enum Loss: CaseIterable {
    case homeRemoved, homeMoved, homeRestored, dayRemoved, logRemoved, logReplaced, lockRemoved
    case logEmptied, logCut

    var isTruncation: Bool { self == .logEmptied || self == .logCut }

    func happen(to files: SessionFiles, in home: Home) throws {
      let manager = FileManager.default
      let backup = home.path + ".backup"
      switch self {
      case .homeRemoved: try manager.removeItem(atPath: home.path)
      case .homeMoved: try manager.moveItem(atPath: home.path, toPath: backup)
      case .homeRestored:
        try manager.copyItem(atPath: home.path, toPath: backup)
        try manager.removeItem(atPath: home.path)
        try manager.moveItem(atPath: backup, toPath: home.path)
      case .dayRemoved: try manager.removeItem(atPath: files.directory)
      case .logRemoved: try manager.removeItem(atPath: files.log)
      case .logReplaced:
        try manager.copyItem(atPath: files.log, toPath: backup)
        try manager.removeItem(atPath: files.log)
        try manager.moveItem(atPath: backup, toPath: files.log)
      case .logEmptied: try FileHandle(forWritingTo: URL(filePath: files.log)).truncate(atOffset: 0)
      case .logCut:
        let length = UInt64(try FileStatus(files.log)?.length ?? 0)
        try FileHandle(forWritingTo: URL(filePath: files.log)).truncate(atOffset: length / 2)
      case .lockRemoved: try manager.removeItem(atPath: files.lock)
      }
    }
  }

  @Test(arguments: Loss.allCases, [false, true])
  func `it continues in a new session, which has every later line`(
    loss: Loss, isTended: Bool
  ) throws {
    for (format, rotateAt) in [(LogFormat.lines, 0), (.asIs, 0), (.lines, 600)] {
      // At its tick the recorder has rotated: of an empty log nothing is lost.
      if isTended, rotateAt > 0, loss.isTruncation { continue }
      let told = lines.all.count
      let writer = try writer(format: format, isTended: isTended, rotateAt: ByteCount(rotateAt))
      let former = writer.session
      for number in 0..<20 { print("earlier \(number)", writer) }
      writer.tick()
      let placed = try home.log(former).count
      try loss.happen(to: writer.files, in: home.home)
      // Written before anybody can know.
      for number in 0..<20 { print("meanwhile \(number) of \(format)", writer) }
      home.clock.advance(seconds: 1)
      writer.tick()
      let session = writer.session
      #expect(session != former, "\(loss)")
      for number in 0..<20 { print("later \(number)", writer) }
      writer.tick()
      try writer.end(.exit(0))
      #expect(writer.session == session && lines.all.count == told + 1)
      let line = try #require(lines.all.last)
      #expect(line.contains("truncated") == loss.isTruncation)
      #expect(line.contains("\(former)") && line.contains("\(session)"))
      let log = try text(session)
      // Without its lock alone, the former log is whole.
      let both = loss == .lockRemoved ? try text(former) + log : log
      for number in 0..<20 {
        #expect(both.contains("meanwhile \(number) of \(format)\n"))
        #expect(log.contains("later \(number)\n"))
      }
      if format == .lines {
        // Those that may have been sent before the loss are named.
        let again = log.firstMatch(of: /CONTINUES (\S+): the next (\d+) bytes may be .*\n/)
        #expect((again == nil) == !log.contains("meanwhile 19"))
        if let again {
          let rest = log[again.range.upperBound...].utf8.prefix(Int(again.output.2) ?? 0)
          #expect(again.output.1 == "\(former)" && rest.last == 0x0a)
          #expect(String(rest)?.contains("meanwhile 19 of lines\n") == true)
          #expect(String(rest)?.contains("later 0\n") == false)
        }
        #expect(log.contains("SESSION START app=test\n") && log.contains("SESSION END exit 0\n"))
      }
      let sidecar = try Sidecar.load(home.home.files(for: session).sidecar)
      #expect(sidecar.continues == former && sidecar.status == .terminated)
      let device = try Device.load(home.home, on: home.clock.machine)
      #expect(sidecar.deviceId == device.deviceId && sidecar.appName == "test")
      #expect(sidecar.fileSizeBytes == ByteCount(log.utf8.count))
      if format == .lines { #expect(sidecar.levels == ["INFO": log.split(separator: "\n").count]) }
      #expect(try home.home.openSessions().contains(session))
      // What was not sent of it can be named.
      if loss == .logRemoved, rotateAt == 0 {
        let ended = try Sidecar.load(home.home.files(for: former).sidecar)
        #expect(ended.status == .terminated && ended.fileSizeBytes == ByteCount(placed))
      }
      try? FileManager.default.removeItem(atPath: home.home.path + ".backup")
    }
  }

  @Test func `it is noticed at the end, too, and a second time`() throws {
    let writer = try writer()
    var sessions = [writer.session]
    for number in 0..<3 {
      try FileManager.default.removeItem(atPath: home.home.path)
      print("line \(number)", writer)
      if number < 2 { writer.tick() } else { try writer.end(.exit(0)) }
      sessions.append(writer.session)
    }
    #expect(Set(sessions).count == 4 && lines.all.count == 3)
    #expect(try text(writer.session).contains("line 2\n"))
  }

  @Test(arguments: [false, true])
  func `without a home, it tells once, and what is in no file at the end`(
    isMended: Bool
  ) throws {
    let writer = try writer()
    let former = writer.session
    print("earlier", writer)
    writer.tick()
    try FileManager.default.removeItem(atPath: home.home.path)
    #expect(FileManager.default.createFile(atPath: home.home.path, contents: nil))
    for number in 0..<3 {
      print("line \(number)", writer)
      writer.tick()
    }
    #expect(writer.session == former && lines.all.count == 1)
    #expect(lines.all.last?.contains("no other session can begin") == true)
    if isMended { try FileManager.default.removeItem(atPath: home.home.path) }
    try writer.end(.exit(0))
    #expect(lines.all.count == 2)
    if isMended {
      let log = try text(writer.session)
      for number in 0..<3 { #expect(log.contains("line \(number)\n")) }
      #expect(!log.contains("earlier"))
    } else {
      let rest = [
        "[INFO] [stdout] line 0", "[INFO] [stdout] line 1", "[INFO] [stdout] line 2",
        "[INFO] [Session] SESSION END exit 0",
      ].map { "2026-01-22T14:30:05.123Z \($0)\n".utf8.count }.reduce(0, +)
      #expect(lines.all.last?.contains("the last \(rest) bytes of session \(former)") == true)
    }
  }

  @Test func `a session that was deleted on purpose does not return under another id`() throws {
    let writer = try writer()
    let former = writer.session
    print("earlier", writer)
    // While its lock is in place, no command deletes a running session.
    try FileManager.default.removeItem(atPath: writer.files.lock)
    let entry = DeletionLedger.Entry(
      at: home.clock.now(), session: former, copy: .local, what: "log", ground: .asked, finding: "")
    let lived = LivedTime(
      at: LivedTime.Reading(home.clock.machine), random: home.clock.machine.random)
    let deletions = try RecordedDeletions([entry], in: DeletionLedger(home.home), at: lived, .off)
    try deletions.removeFiles(of: LocalSession(home.home, former))
    writer.tick()
    print("later", writer)
    try writer.end(.exit(0))
    #expect(lines.all.count == 1 && lines.all[0].contains("session \(former) was deleted, and "))
    let log = try text(writer.session)
    #expect(writer.session != former && log.contains("later\n") && !log.contains("earlier\n"))
    #expect(try home.home.openSessions() == [writer.session])
  }

  /// Else its files pass for a crashed session's when the program ends.
  @Test func `a session whose files are back has ended, and records go to its successor`() throws {
    let writer = try writer()
    let former = writer.session
    let machine = home.clock.machine
    print("earlier", writer)
    try Loss.homeRestored.happen(to: writer.files, in: home.home)
    writer.tick()
    let sidecar = try Sidecar.load(home.home.files(for: former).sidecar)
    #expect(sidecar.status == .terminated && sidecar.cause == nil)
    #expect(throws: RunningSession.Problem.self) {
      _ = try RunningSession(joining: former, in: home.home, machine: machine)
    }
    let successor = try #require(try RunningSession.successor(of: former, in: home.home))
    #expect(successor == writer.session)
    var running = try RunningSession(joining: successor, in: home.home, machine: machine)
    try running.record(.info, category: "Script", "from a script")
    try writer.end(.exit(0))
    #expect(try text(successor).contains("[Script] from a script\n"))
    #expect(try RunningSession.successor(of: former, in: home.home) == nil)
  }

  @Test func `a session whose marker and lock were removed is found by the next upload`() throws {
    let writer = try writer()
    let former = writer.session
    print("earlier", writer)
    for path in [writer.files.marker, writer.files.lock] { try File.remove(path) }
    writer.tick()
    #expect(try home.home.openSessions() == [former, writer.session].sorted())
    let sidecar = try Sidecar.load(home.home.files(for: former).sidecar)
    #expect(writer.session != former && sidecar.status == .terminated)
    try writer.end(.exit(0))
  }

  /// A rotated log has another name, and its compressed part is another file.
  @Test func `a rotation by any process is no loss`() throws {
    let writer = try writer(rotateAt: 600)
    let session = writer.session
    for round in 0..<6 {
      if round.isMultiple(of: 2) {
        for number in 0..<20 { print("own \(number)", writer) }
      } else {
        var other = try RunningSession(
          joining: session, in: home.home, rotateAt: 600, machine: home.clock.machine)
        for number in 0..<20 { try other.record(.info, category: "Script", "other \(number)") }
        try? writer.files.compressParts(format: .lines)
      }
      writer.tick()
      home.clock.advance(seconds: 1)
    }
    #expect(try writer.files.parts().count > 6)
    try writer.end(.exit(0))
    #expect(writer.session == session && lines.all.isEmpty)
    let log = try text(session)
    #expect(log.matches(of: /(own|other) 19\n/).count == 6)
  }
}
