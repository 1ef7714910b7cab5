import Foundation
import TestSupport
import Testing

/// Programs on a terminal of their own behave as without us.
@Suite(.tags(.medium)) struct TerminalTests {
  /// Puts a command of ours on a terminal.
  private func terminal(_ program: Program, _ arguments: String...) throws -> Terminal {
    var environment = program.environment
    environment["TERM"] = "xterm"
    return try Terminal([Program.path] + arguments, environment: environment)
  }

  private func log(_ program: Program) async throws -> String {
    let id = try #require(try await program.list("--local").first?["sessionId"] as? String)
    return String(decoding: try program.log(id), as: UTF8.self)
  }

  @Test func `run --pty shows prompts and does not record hidden input`() async throws {
    let program = try Program()
    let terminal = try terminal(
      program, "run", "--pty", "--", "sh", "-c",
      "stty size; printf 'name: '; read x; echo got $x; stty -echo; printf 'pass: '; read p; "
        + "stty echo; echo; echo length ${#p}; test -t 0 && test -t 1 && exit 7")
    terminal.waits(for: "24 80")
    terminal.waits(for: "name: ")
    terminal.type("bob\n")
    terminal.waits(for: "got bob")
    terminal.waits(for: "pass: ")
    terminal.type("sesame\n")
    terminal.waits(for: "length 6")
    #expect(try terminal.status() == 7)
    let log = try await log(program)
    #expect(log.contains("[Session] WINDOW 80x24 xterm\n"))
    #expect(log.contains("got bob") && !log.contains("sesame"))
    #expect(log.hasSuffix("[Session] SESSION END exit 7\n"))
  }

  @Test func `while delete asks, uploads continue, and a session can still be kept`() async throws {
    let program = try Program()
    #expect(try await program.run("init", program.environment["URL"] ?? "").status == 0)
    try await program.record("echo", "one")
    let session = try #require(try await program.list().first?["sessionId"] as? String)
    let terminal = try terminal(program, "delete", session)
    terminal.waits(for: "[y/N] ")
    try await program.record("echo", "two")
    #expect(try await program.run("keep", session).status == 0)
    terminal.type("y\n")
    terminal.waits(for: "\(session) is kept")
    #expect(try terminal.status() == 64)
    let listed = try await program.list()
    #expect(listed.compactMap { $0["location"] as? String } == ["both", "both"])
  }

  /// A shell with job control, and in it ourselves on pipes or on a terminal.
  @Test(arguments: [["run", "--pty"], ["run"], ["run", "--survive"]])
  func `SIGTSTP stops the program, and fg continues it`(_ command: [String]) async throws {
    let program = try Program()
    var environment = program.environment
    environment["PS1"] = "ready> "
    let terminal = try Terminal(["bash", "--norc", "--noprofile", "-i"], environment: environment)
    terminal.waits(for: "ready> ")
    let arguments = command.joined(separator: " ")
    // The texts waited for do not occur in the keys typed.
    terminal.type(
      "\(Program.path) \(arguments) -- sh -c 'echo be''gun; read x; echo re''ad $x'\n")
    terminal.waits(for: "begun")
    terminal.type("\u{1a}")
    terminal.waits(for: "Stopped")
    terminal.waits(for: "ready> ")
    terminal.type("echo al''ive\n")
    terminal.waits(for: "alive")
    terminal.waits(for: "ready> ")
    terminal.type("fg\n")
    terminal.waits(for: "read x")
    terminal.type("on\n")
    terminal.waits(for: "read on")
    terminal.waits(for: "ready> ")
    // The shell reports when the job is done; a separate recorder ends a moment later.
    terminal.type(
      "while test -n \"$(\(Program.path) list --json | grep ACTIVE)\"; do :; done; exit\n")
    #expect(try terminal.status() == 0)
    let log = try await log(program)
    let events = log.components(separatedBy: "\n")
      .compactMap { $0.components(separatedBy: "[Session] ").dropFirst().first }
      .filter { !$0.hasPrefix("SESSION") && !$0.hasPrefix("WINDOW") }
    #expect(events == ["BACKGROUND stopped by SIGTSTP", "FOREGROUND continued"], "\(log)")
    #expect(log.hasSuffix("SESSION END exit 0\n"))
  }

  @Test func `play repeats a full-screen program without titles or queries`() async throws {
    let program = try Program()
    let screen = "\u{1b}[?1049h\u{1b}[2J\u{1b}[5;7Hscreen\u{1b}]0;title\u{7}\u{1b}[6n\u{1b}[?1049l"
    let terminal = try terminal(program, "run", "--pty", "--", "printf", "%s", screen)
    terminal.waits(for: screen)
    #expect(try terminal.status() == 0)
    let id = try #require(try await program.list("--local").first?["sessionId"] as? String)
    #expect(try await program.run("show", "--plain", id).text == screen)
    let player = try self.terminal(program, "play", id)
    player.waits(for: "\u{1b}[?1049h\u{1b}[2J\u{1b}[5;7Hscreen\u{1b}[?1049l")
    #expect(try player.status() == 0)
    #expect(!player.text.contains("title") && !player.text.contains("[6n"))
    let cast = try await program.run("export", "--format", "asciicast", "-o", "-", id)
    let lines = cast.text.split(separator: "\n")
    #expect(lines.count == 2 && lines[0].contains("\"width\":80"), "\(cast)")
    let event = try JSONSerialization.jsonObject(with: Data((lines.last ?? "").utf8)) as? [Any]
    #expect(event?[1] as? String == "o" && event?[2] as? String == screen)
    let refused = try await program.run("play", id)
    #expect(refused.status == 64 && refused.errors.contains("show --plain"))
  }

  @Test func `run --pty leaves a program no descriptors but those of the terminal`() async throws {
    let program = try Program()
    // The command does not contain the word that it prints.
    let terminal = try terminal(
      program, "run", "--pty", "--", "sh", "-c",
      "for n in 0 1 2 3 4 5 6 7 8 9; do test -e /dev/fd/$n && echo fd is op''en: $n; done; true")
    #expect(try terminal.status() == 0)
    let log = try await log(program)
    let lines = log.split(whereSeparator: \.isNewline).filter { $0.contains("is open: ") }
    #expect(lines.map { $0.last(where: \.isNumber) } == ["0", "1", "2"])
  }

  @Test func `run --pty of a missing program exits with 127`() async throws {
    let program = try Program()
    let terminal = try terminal(program, "run", "--pty", "--", "/nowhere/at/all")
    terminal.waits(for: "/nowhere/at/all: command not found")
    #expect(try terminal.status() == 127)
  }

  @Test func `run --pty passes on the end of piped input`() async throws {
    let program = try Program()
    let result = try await program.run(
      "run", "--pty", "--", "sh", "-c", "cat; test -t 1 && echo on a terminal",
      input: Array("one\ntwo".utf8))
    #expect(result.status == 0)
    #expect(result.text.contains("two") && result.text.hasSuffix("on a terminal\r\n"))
  }
}

/// Tests of a separate recorder.
@Suite(.tags(.medium)) struct SurviveTests {
  @Test func `run --survive keeps the program's output and exit status`() async throws {
    let program = try Program()
    let result = try await program.run(
      "run", "--survive", "--app", "job", "--", "sh", "-c", "echo out; echo err >&2; exit 9")
    #expect(result.status == 9 && result.text == "out\n" && result.errors == "err\n")
    let missing = try await program.run("run", "--survive", "--", "/nowhere/at/all")
    #expect(missing.status == 127 && missing.errors.contains("/nowhere/at/all: command not found"))
    let killed = try await program.run("run", "--survive", "--", "sh", "-c", "kill -9 $$")
    #expect(killed.status == 137)
  }

  /// A signal to us is forwarded to the program, and killing us affects neither.
  @Test func `run --survive passes on signals and outlives a kill of the command`() async throws {
    let program = try Program()
    let script = """
      cd "$HOME"
      $T run --survive -- sh -c 'trap "echo asked" USR1; echo one; until test -e go; do :; done; echo two
        echo three >&2; exit 5' >out 2>err &
      front=$!
      while ! grep -q one out; do :; done
      kill -USR1 $front
      while ! grep -q asked out; do :; done
      kill -9 $front
      wait $front
      echo >go
      while ! $T list --json --local | grep -q '"cause":"exit 5"'; do :; done
      cat out err
      """
    let result = try await program.shell(script)
    #expect(result.text == "one\nasked\ntwo\nthree\n", "\(result)")
    let session = try #require(try await program.list("--local").first)
    #expect(session["status"] as? String == "TERMINATED")
  }
}
