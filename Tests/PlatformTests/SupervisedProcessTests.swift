import Foundation
import Platform
import TestSupport
import Testing

@Suite(.tags(.medium)) struct SupervisedProcessTests {
  /// The results of shell scripts, of which two ran at a time.
  private func run(
    _ scripts: [String], limit: Int = 1000, for time: Duration = .seconds(600),
    patience: Duration = .seconds(600), until isEnough: (Int) -> Bool = { _ in false }
  ) throws -> [Int: SupervisedProcess] {
    var ended: [Int: SupervisedProcess] = [:]
    var waiting = scripts.enumerated().map { $0 }[...]
    try SupervisedProcess.run(atOnce: 2) { () -> (Int, SupervisedProcess)? in
      guard let (number, script) = waiting.popFirst() else { return nil }
      let child = ChildProcess(["/bin/sh", "-c", script], environment: ["PATH": "/usr/bin:/bin"])
      let process = try SupervisedProcess(
        child, reading: [.init(1, limit: limit), .init(7, limit: limit)], for: time,
        patience: patience, on: .current)
      return (number, process)
    } ended: { number, process in
      ended[number] = process
      if isEnough(number) { waiting = [] }
    }
    return ended
  }

  @Test func `outputs and exit statuses are returned`() throws {
    let ended = try run(["echo one; echo two >&7; exit 3", "kill -9 $$", "true"])
    #expect(ended[0]?.end == .exited(3))
    #expect(
      ended[0]?.outputs.map { String(decoding: $0.bytes, as: UTF8.self) } == ["one\n", "two\n"])
    #expect(ended[1]?.end == .killed(9))
    #expect(ended[2]?.end == .exited(0))
  }

  @Test func `a process has a session of its own, and no descriptors that we inherited`() throws {
    // Not closed on exec, like one that a shell has opened for us.
    let inherited = try #require(fopen("/etc/passwd", "r"))
    defer { fclose(inherited) }
    #expect(fcntl(fileno(inherited), F_SETFD, 0) == 0)
    let ended = try run([
      "[ $(cut -d ' ' -f 6 /proc/$$/stat) = $$ ] && echo own; ls -l /proc/$$/fd | grep -c passwd"
    ])
    #expect(
      ended[0]?.outputs.first.map { String(decoding: $0.bytes, as: UTF8.self) } == "own\n0\n")
  }

  @Test func `output beyond the limit is read and dropped`() throws {
    let ended = try run(["yes | head -c 3000000; echo end >&7"], limit: 10)
    #expect(ended[0]?.end == .exited(0))
    #expect(ended[0]?.outputs[0].bytes.count == 10 && ended[0]?.outputs[0].isCut == true)
    #expect(ended[0]?.outputs[1].isCut == false)
  }

  /// Reading went on for as long as the pipe was not empty.
  @Test func `one that floods the pipe of an ended process keeps nobody waiting`() throws {
    let flood = "yes & yes & yes & exit 3"
    let ended = try run([flood, flood, "echo other"])
    #expect(ended[0]?.end == .exited(3) && ended[1]?.end == .exited(3))
    #expect(ended[2]?.outputs[0].bytes == Array("other\n".utf8))
  }

  @Test func `a process that floods its pipe is killed at its time limit`() throws {
    let ended = try run(["yes & yes & exec yes", "echo other"], for: .milliseconds(300))
    #expect(ended[0]?.end == .overdue)
    #expect(ended[0]?.outputs[0].isCut == true)
  }

  @Test func `a process is killed at its time limit`() throws {
    let ended = try run(["exec sleep 1000", "echo other"], for: .milliseconds(300))
    #expect(ended[0]?.end == .overdue)
    #expect(ended[1]?.end != nil)
  }

  /// As one that waits for a file system that does not answer; here only the patience is missing.
  @Test func `a process that does not end when it is killed is given up, and released later`()
    throws
  {
    let ended = try run(
      ["echo $$; exec sleep 1000"], for: .milliseconds(500), patience: .milliseconds(-1))
    let given = try #require(ended[0])
    // If it has ended between two instructions, there is nothing to give up.
    #expect(given.end == .stuck || given.end == .overdue)
    let number = String(decoding: given.outputs[0].bytes, as: UTF8.self)
      .trimmingCharacters(in: .newlines)
    guard let process = pid_t(number) else { return }
    for _ in 0..<100 where kill(process, 0) == 0 { _ = try run(["true"]) }
    #expect(kill(process, 0) != 0)
  }

  /// A stopped process does not receive its own alarm.
  @Test func `a stopped process is continued, and killed if it is stopped repeatedly`() throws {
    let ended = try run(["kill -STOP $$; echo on", "while kill -STOP $$; do :; done"])
    #expect(ended[0]?.end == .exited(0))
    #expect(ended[0]?.outputs[0].bytes == Array("on\n".utf8))
    #expect(ended[1]?.end == .stopped)
  }

  @Test func `no more processes start after a stop`() throws {
    let ended = try run(Array(repeating: "true", count: 9)) { _ in true }
    #expect((1...2).contains(ended.count))
  }
}
