import Foundation
import LogRecords
import Platform
import SessionLog
import Synchronization
import TestSupport
import Testing

@Suite(.tags(.medium)) struct WriterTests {
  @Test func `a full disk leaves a GAP record and no torn line`() throws {
    let room = Mutex(Int.max)
    let home = try TestHome()
    let writer = try home.writer { descriptor, bytes in
      let allowed = room.withLock { min($0, bytes.count) }
      guard allowed > 0 else { return -Int(ENOSPC) }
      room.withLock { if $0 != .max { $0 -= allowed } }
      return write(descriptor, bytes.baseAddress, allowed)
    }
    func capture(_ text: String) {
      Array(text.utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    }
    capture("before\n")
    room.withLock { $0 = 20 }
    capture("torn in the middle\n")
    capture("lost\n")
    room.withLock { $0 = .max }
    capture("after\n")
    try writer.end(.exit(0))

    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    let lines = log.split(separator: "\n")
    let gap = try #require(lines.first { $0.contains("[GAP ") })
    #expect(gap.contains("[WARNING] [Session] [GAP ") && gap.hasSuffix("bytes: disk full]"))
    let torn = "2026-01-22T14:30:05.123Z [INFO] [stdout] torn in the middle\n".utf8.count
    let lost = "2026-01-22T14:30:05.123Z [INFO] [stdout] lost\n".utf8.count
    #expect(gap.contains("[GAP \(torn + lost) bytes"))
    #expect(log.contains("before\n") && log.contains("after\n") && !log.contains("lost\n"))
    #expect(
      lines.allSatisfy { Array($0.utf8).withUnsafeBytes(RecordPrefix.parse) != nil }, "\(log)")
  }

  /// Without room for a GAP record nothing else would say it.
  @Test func `what a log lacks at its end is reported`() throws {
    let isFull = Mutex(false)
    let said = Mutex<[String]>([])
    let home = try TestHome()
    let writer = try home.writer { descriptor, bytes in
      isFull.withLock { $0 } ? -Int(ENOSPC) : systemWrite(descriptor, bytes)
    } report: { line in
      said.withLock { $0.append(line) }
    }
    isFull.withLock { $0 = true }
    Array("lost\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try writer.end(.exit(0))
    let size = ByteCount(
      "2026-01-22T14:30:05.123Z [INFO] [stdout] lost\n".utf8.count
        + "2026-01-22T14:30:05.123Z [INFO] [Session] SESSION END exit 0\n".utf8.count)
    #expect(
      said.withLock { $0 } == ["session \(writer.session) lacks its last \(size.text): disk full"])
  }

  /// A sidecar alone would pass for a session whose log was lost.
  @Test func `a session that cannot be created leaves nothing`() throws {
    for number in 0... {
      let local = try TestHome()
      try local.home.create()
      let count = Mutex(0)
      let files = TestFiles(refusing: { _ in
        count.withLock { count -> Int32? in
          count += 1
          return count - 1 == number ? EIO : nil
        }
      })
      let writer = FileEffect.$hook.withValue(files) { try? local.writer() }
      guard count.withLock({ $0 }) > number else { return #expect(number > 5) }
      guard writer == nil else { continue }
      let left = try local.home.sessions()
      #expect(left.isEmpty, "change \(number)")
      #expect(try local.home.openSessions().isEmpty, "change \(number)")
    }
  }

  /// Cut in two, neither half would be masked.
  @Test func `a long line is cut beside a secret, and not within it`() throws {
    let home = try TestHome()
    let writer = try home.writer()
    let secret = "password=correct-horse-battery-staple"
    let line = String(repeating: "a word ", count: 149_794) + secret
    // The first MiB ends within the secret.
    #expect(line.utf8.count - secret.utf8.count < 1 << 20 && line.utf8.count - 8 > 1 << 20)
    let bytes = Array((line + " and more\n").utf8)
    for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
      bytes[start..<min(bytes.count, start + 1 << 20)].withUnsafeBytes {
        writer.capture($0, from: .standardOutput)
      }
    }
    try writer.end(.exit(0))
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    let records = log.split(separator: "\n").filter { $0.contains("[stdout") }
    #expect(records.count == 2 && records.last?.contains(secret) == true)
  }

  @Test(arguments: [LogFormat.lines, .asIs])
  func `a full home leaves a GAP line`(format: LogFormat) throws {
    let home = try TestHome()
    let other = try home.session([UInt8](repeating: 0x61, count: 30_000))
    let writer = try home.writer(format: format, localMax: 60_000)
    func capture(_ text: String) {
      Array(text.utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    }
    for _ in 0..<200 { capture(String(repeating: "x", count: 999) + "\n") }
    #expect(try (60_000..<65_000).contains(home.home.sessionBytes()))
    writer.tick()
    capture("lost\n")
    #expect(!String(decoding: try home.log(writer.session), as: UTF8.self).contains("lost"))
    // The reaper has freed space.
    unlink(home.home.files(for: other).log)
    home.clock.advance(seconds: 10)
    writer.tick()
    capture("after\n")
    for _ in 0..<200 { capture(String(repeating: "x", count: 999) + "\n") }
    try writer.end(.exit(3))
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    let gaps = log.matches(of: /\[GAP [0-9]{6} bytes: local-max\]\n/)
    #expect(gaps.count == 2)
    #expect(log.contains("after\n") && !log.contains("lost"))
    if format == .lines {
      #expect(log.contains("SESSION START"))
      #expect(log.hasSuffix("[ERROR] [Session] SESSION END exit 3\n"))
    }
  }

  @Test(arguments: [
    ("AKIAIOSF\u{1b}[KODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("db password = hunter2hunter2", "db password = hunter2hunter2"), ("a\nb\tc\u{7f}", "a_b_c_"),
  ])
  func `a program's name in the first record hides no secret`(name: String, said: String) throws {
    let home = try TestHome()
    let writer = try home.writer(app: name)
    try writer.end(.exit(0))
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.contains("SESSION START app=\(said)\n"), "\(log)")
  }

  @Test func `captured lines are on disk before the session ends`() throws {
    let home = try TestHome()
    let writer = try home.writer()
    Array("kept\npartial".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.hasSuffix("[stdout] kept\n"))
    #expect(try FileLock.tryExclusive(writer.files.lock) == nil)
    home.clock.advance(seconds: 61)
    writer.tick()
    #expect(String(decoding: try home.log(writer.session), as: UTF8.self).contains("partial\n"))
  }

  /// If a secret were written in two records, neither half would be masked.
  @Test func `a partial line is not divided inside a secret`() throws {
    let home = try TestHome()
    let writer = try home.writer(patience: .milliseconds(100))
    func capture(_ text: String) throws -> String {
      Array(text.utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      home.clock.advance(seconds: 1)
      writer.tick()
      return String(decoding: try home.log(writer.session), as: UTF8.self)
    }
    #expect(try capture("Password: ").hasSuffix("[stdout+] Password: \n"))
    #expect(try capture("\ntoken gh").hasSuffix("[stdout] \n"))
    #expect(try capture("p_0123456789").hasSuffix("[stdout] \n"))
    #expect(
      try capture("abcdefghijABCDEFGHIJ012345\n").hasSuffix(
        "[stdout] token ghp_0123456789abcdefghijABCDEFGHIJ012345\n"))
    #expect(try capture("token gh").hasSuffix("012345\n"))
    home.clock.advance(seconds: 60)
    #expect(try capture("").hasSuffix("[stdout+] token gh\n"))
  }

  @Test func `records from the API are escaped and indent continuation lines`() throws {
    let home = try TestHome()
    try home.enable("Sync")
    let writer = try home.writer()
    writer.record(.warning, category: "N[e]t", "one\ntwo", scenario: ScenarioName("Sync"))
    let log = String(decoding: try home.log(writer.session), as: UTF8.self)
    #expect(log.contains("[WARNING] [N_e_t] {Sync} one\n  two\n"))
    // Text that looks like a scenario belongs to the message.
    writer.record(.info, category: "Net", "{\"id\": 1} sent")
    let line = try #require(home.log(writer.session).split(separator: 0x0a).last)
    let head = Array(line).withUnsafeBytes { RecordPrefix.parse($0) }
    #expect(head?.scenario == nil)
    writer.record(.info, category: Category.session, "SESSION END exit 0")
    #expect(try String(decoding: home.log(writer.session), as: UTF8.self).contains("[Session_]"))
  }

  @Test func `the sidecar has status, cause, counts and size`() throws {
    let home = try TestHome()
    let session = try home.session(Array("ERROR: x\nfine\n".utf8), cause: .signal(9))
    let sidecar = try Sidecar.load(home.home.files(for: session).sidecar)
    #expect(sidecar.status == .crashed && sidecar.cause == .signal(9))
    #expect(sidecar.levels == ["FAULT": 1, "ERROR": 1, "INFO": 2])
    #expect(sidecar.categories == ["Session", "stdout"])
    #expect(sidecar.fileSizeBytes == ByteCount(try home.log(session).count))
    #expect(sidecar.deviceId == home.device.deviceId && sidecar.recorder?.pid == getpid())
    #expect(sidecar.remoteForm.recorder == nil)
  }

  @Test func `a truncated sidecar is damaged, and an absent one is missing`() throws {
    let home = try TestHome()
    let session = try home.session([])
    let path = home.home.files(for: session).sidecar
    let json = try Data(contentsOf: URL(filePath: path))
    try json.prefix(json.count / 2).write(to: URL(filePath: path))
    #expect { try Sidecar.load(path) } throws: { ($0 as? SidecarError)?.isMissing == false }
    #expect { try Sidecar.load(path + "x") } throws: { ($0 as? SidecarError)?.isMissing == true }
  }

  @Test(.enabled(if: Machine.current.machineId != nil, "this machine has no id"))
  func `a home copied to another machine is another device`() throws {
    let home = try TestHome()
    let path = home.home.devicePath
    let text = try String(contentsOfFile: path, encoding: .utf8)
      .replacing(try #require(home.device.machineId), with: "elsewhere")
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let device = try Device.load(home.home, on: home.clock.machine)
    #expect(device.deviceId != home.device.deviceId)
    #expect(device.formerIds == [home.device.deviceId])
    #expect(try Device.load(home.home, on: home.clock.machine) == device)
  }

  #if os(Linux)
    /// A child has the descriptor until it executes its program.
    @Test func `a lock is released even if a child holds its descriptor`() throws {
      let home = try TestHome()
      let path = home.home.lockPath
      var lock = try FileLock.tryExclusive(path)
      let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      let number = numbers.compactMap(Int32.init).first {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
      }
      let copy = dup(try #require(number))
      defer { close(copy) }
      #expect(lock != nil && copy >= 0)
      #expect(try FileLock.tryExclusive(path) == nil)
      lock = nil
      #expect(try FileLock.tryExclusive(path) != nil)
    }
  #endif

  @Test func `a lock is shared by writers and exclusive for the seal`() throws {
    let home = try TestHome()
    let path = home.folder + "/lock"
    let first = try #require(try FileLock.shared(path))
    let second = try #require(try FileLock.shared(path))
    #expect(try FileLock.tryExclusive(path) == nil)
    withExtendedLifetime((first, second)) {}
    let home2 = home.folder + "/other"
    do { _ = try #require(try FileLock.tryExclusive(home2)) }
    #expect(try FileLock.shared(home2) != nil)
  }
}
