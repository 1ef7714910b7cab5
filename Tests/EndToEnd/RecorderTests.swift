import Foundation
import TestServers
import TestSupport
import Testing

/// A recorder's work during a session.
@Suite(.tags(.medium)) struct RecorderTests {
  private func configured(_ lines: String) async throws -> Program {
    let program = try Program()
    try await program.configure { $0 + lines }
    return program
  }

  /// The program runs until its first lines are in the store.
  @Test(arguments: ["echo ERROR: first", "echo first"])
  func `output is uploaded while the program runs`(_ first: String) async throws {
    let program = try await configured("upload-every: \(first.contains("ERROR") ? "0" : "1s")\n")
    let script = """
      \(first)
      timeout 1800 sh -c \
        "until \\$T show --remote \\$TIDEMARK_SESSION 2>/dev/null | grep -q first; do :; done" || exit
      echo last
      """
    let result = try await program.shell("$T run -- sh -c '\(script)'")
    #expect(result.status == 0 && result.text.hasSuffix("first\nlast\n"))
    #expect(try await program.run("upload", "--wait", "600s").status == 0)
    let id = try #require(try await program.list("--remote").first?["sessionId"] as? String)
    #expect(try await program.run("show", "--remote", "--plain", id).text == result.text)
  }

  @Test func `scripts add records to the running session or a continuation`() async throws {
    let program = try Program()
    let result = try await program.shell(
      """
      $T run --no-upload --scenario S -- true && $T scenario enable S
      $T run -- sh -c 'echo $TIDEMARK_SESSION
        for n in 1 2 3 4 5; do $T log warning "number $n" --category Backup --scenario S & done
        wait; $T log error two words'
      """)
    #expect(result.status == 0)
    let id = result.text.trimmingCharacters(in: .newlines)
    let log = String(decoding: try program.log(id), as: UTF8.self)
    for number in 1...5 {
      #expect(log.components(separatedBy: "[WARNING] [Backup] {S} number \(number)\n").count == 2)
    }
    #expect(log.contains("[ERROR] [Script] two words\n"))
    // Records after the session's end go to a new one.
    let short = String(id.suffix(8))
    #expect(try await program.run("log", "--session", short, "info", "late").status == 0)
    let later = try #require(
      try await program.list("--local").compactMap { $0["sessionId"] as? String }
        .first { $0 != id })
    #expect(String(decoding: try program.log(later), as: UTF8.self).contains("] late\n"))
    let day = try FileManager.default.contentsOfDirectory(atPath: program.home + "/sessions")[0]
    let sidecar = try String(
      contentsOfFile: "\(program.home)/sessions/\(day)/\(later).json", encoding: .utf8)
    #expect(sidecar.contains("\"continues\" : \"\(id)\""))
  }

  @Test(arguments: [
    (["log", "error", "text"], 64, "tidemark run"),
    (["log", "loud", "text"], 64, "invalid level"),
    (["log", "error"], 64, "what to record"),
    (["log", "--session", "nonsense", "error", "x"], 64, "invalid session id"),
    (["log", "--session", "20260122t143005z-k3f9a7c2", "error", "x"], 64, "no session"),
    (["run", "--pty", "--survive", "--", "true"], 64, "exclude each other"),
    (["play", "--speed", "0", "x"], 64, "--speed takes"),
  ])
  func `log reports invalid input with the next step`(
    _ arguments: [String], _ status: Int32, _ says: String
  ) async throws {
    let result = try await Program().run(arguments)
    #expect(result.status == status && result.errors.contains(says), "\(result)")
  }

  @Test func `run --as-is records the exact bytes`() async throws {
    let program = try await configured("")
    let result = try await program.shell(
      "$T run --as-is --app raw -- sh -c 'printf \"a\\000\\377\\r\\n\\033[1mb\"; printf c >&2'")
    #expect(result.output == Array("a\0".utf8) + [0xff] + Array("\r\n\u{1b}[1mb".utf8))
    let id = try #require(try await program.list("--remote").first?["sessionId"] as? String)
    #expect(try program.log(id).count == result.output.count + 1)
    for side in ["--local", "--remote"] {
      let shown = try await program.run("show", side, id)
      #expect(shown.output == (try program.log(id)))
    }
    #expect(try await program.run("verify", id).status == 0)
  }

  @Test func `an empty imported file is a session`() async throws {
    let program = try await configured("")
    let path = program.folder.path + "/empty.log"
    try Data().write(to: URL(filePath: path))
    #expect(try await program.run("import", path).status == 0)
    let upload = try await program.run("upload")
    #expect(upload.status == 0 && upload.errors == "")
    let session = try #require(try await program.list("--remote").first)
    #expect(session["status"] as? String == "TERMINATED")
    let id = try #require(session["sessionId"] as? String)
    for side in ["--local", "--remote"] {
      let shown = try await program.run("show", side, id)
      #expect(shown.status == 0 && shown.output == [])
    }
    #expect(try await program.run("verify", id).status == 0)
  }

  /// Records that scripts add while the recorder is killed are in one session or another, once.
  @Test func `records from scripts survive the recorder's death, once each`() async throws {
    let program = try Program()
    let result = try await program.shell(
      """
      cd "$FOLDER"
      $T init "$URL" >&2
      mkfifo go
      $T run --no-upload -- sh -c 'echo $TIDEMARK_SESSION >id; echo $PPID >recorder; read x <go' \
        >/dev/null 2>&1 &
      notes() {
        for n in 1 2 3 4 5 6 7 8 9; do
          TIDEMARK_SESSION=$(cat id) $T log warning "note $1.$n" 2>/dev/null && echo $1.$n >>notes.$1
        done
      }
      until [ -s recorder ]; do :; done
      notes a & notes b & notes c &
      until [ -s notes.a ] && [ -s notes.b ]; do :; done
      kill -9 $(cat recorder)
      echo >go
      wait
      $T upload; $T upload
      for log in home/sessions/*/*.log; do $T show --raw --remote $(basename $log .log); done |
        sed -n 's/.*note //p' | sort >found
      cat notes.* | sort >written
      wc -l <written
      comm -23 written found
      uniq -d found
      """)
    #expect(result.status == 0 && result.text == "27\n", "\(result.text)\(result.errors)")
  }
}
