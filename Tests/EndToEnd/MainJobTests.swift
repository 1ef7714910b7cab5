import Foundation
import TestServers
import TestSupport
import Testing

@Suite(.tags(.large)) struct MainJobTests {
  @Test(arguments: Endpoint.Kind.allCases)
  func `sessions are recorded, uploaded, read back and reaped`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let program = try Program(endpoint)
    let ready = try await program.run("init", endpoint.url)
    #expect(ready.status == 0, "\(ready.errors)")

    let failing = try await program.run(
      "run", "--", "sh", "-c", "echo out; echo 'ERROR: bad' >&2; exit 3")
    #expect(failing.status == 3 && failing.text == "out\n" && failing.errors == "ERROR: bad\n")
    let killed = try await program.run(
      "run", "--no-upload", "--", "sh", "-c", "echo dying; kill -9 $$")
    #expect(killed.status == 137)
    let nasty = Array("a\0b\r\n\u{1b}[31m".utf8) + [0xff, 0xfe, 0x0a] + Array("no newline".utf8)
    let piped = try await program.run("log", "--app", "billing", "--no-upload", input: nasty)
    #expect(piped.output == nasty)
    let upload = try await program.run("upload", "--wait", "600s")
    #expect(upload.status == 0 && upload.errors.isEmpty, "\(upload.errors)")

    let sessions = try await program.list()
    #expect(sessions.count == 3)
    #expect(sessions.allSatisfy { $0["location"] as? String == "both" })
    #expect(sessions.map { $0["status"] as? String } == ["TERMINATED", "CRASHED", "TERMINATED"])
    #expect(sessions.map { $0["cause"] as? String } == ["exit 0", "signal 9 (SIGKILL)", "exit 3"])
    #expect(try await program.list("--failed").count == 2)

    // The cache is deleted; nothing is sent twice.
    let before = try endpoint.segments()
    try FileManager.default.removeItem(atPath: program.home + "/cache")
    #expect(try await program.run("upload").status == 0)
    #expect(try endpoint.segments() == before && before.count == 3)

    for session in sessions {
      let id = try #require(session["sessionId"] as? String)
      let log = try program.log(id)
      #expect(session["uploadedBytes"] as? Int == log.count)
      #expect(session["fileSizeBytes"] as? Int == log.count)
      #expect(try await program.run("show", "--raw", "--remote", id).output == log)
      #expect(try await program.run("show", "--raw", "--local", id).output == log)
    }
    let ids = try sessions.map { try #require($0["sessionId"] as? String) }
    for side in ["--local", "--remote"] {
      let out = program.folder.path + "/out" + side
      let exported = try await program.shell(
        "$T export \(side) -o '\(out)' \(ids.joined(separator: " "))")
      #expect(exported.status == 0, "\(exported.errors)")
      for id in ids {
        let text = try Data(contentsOf: URL(filePath: "\(out)/\(id).txt"))
        let log = try program.log(id)
        #expect(Array(text).starts(with: Array("=== Device Info ===\n".utf8)))
        #expect(Array(text).suffix(log.count) == log[...])
      }
    }
    let billing = try #require(sessions[0]["sessionId"] as? String)
    #expect(try await program.run("show", "--plain", "--remote", billing).output == nasty)
    let first = try #require(sessions[2]["sessionId"] as? String)
    let errors = try await program.run("show", "--level", "ERROR", "--since", "2h", first).text
    #expect(errors.contains("[stderr] ERROR: bad\n"))
    // A program that failed ends with an error.
    #expect(errors.hasSuffix("[ERROR] [Session] SESSION END exit 3\n"), "\(errors)")
    #expect(try await program.run("verify").status == 0)
    #expect(try await program.run("status").status == 0)

    #expect(try await program.run("reap", "--local", "--older-than", "1000d").status == 0)
    #expect(try await program.list().count == 3)
    try await program.makeLocalSessionsOld()
    #expect(try await program.run("reap", "--local", "--older-than", "1s", "--yes").status == 0)
    #expect(
      try await program.list().map { $0["location"] as? String } == ["remote", "remote", "remote"])
    #expect(try await program.run("show", "--plain", billing).output == nasty)
    #expect(try await program.run("delete", "--yes", billing).status == 0)
    #expect(try await program.list().count == 2)
    try await program.waitUntilOldRemotely(2)
    #expect(try await program.run("reap", "--remote", "--older-than", "1s", "--yes").status == 0)
    #expect(try await program.list().isEmpty)
    #expect(try endpoint.segments().isEmpty)
  }

  @Test(arguments: ["recorder", "program", "both"])
  func `a killed recorder or program leaves a crashed, complete session`(
    victim: String
  ) async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    // The program signals through a pipe that it is ready, so that the test need not wait by the
    // clock.
    let victims = ["recorder": "$R", "program": "$P", "both": "$R $P"][victim] ?? ""
    let script = """
      mkfifo ready
      $T run --no-upload -- sh -c 'seq 1 5000; echo $$ > ready; exec sleep 1800' > console &
      R=$!
      read P < ready
      while ! grep -q '^5000$' console; do :; done
      kill -9 \(victims)
      wait $R 2>/dev/null
      kill -9 $P 2>/dev/null
      $T upload
      """
    let result = try await program.shell("cd \(program.folder.path); " + script)
    #expect(result.status == 0, "\(result.errors)")
    let session = try #require(try await program.list().first)
    #expect(session["status"] as? String == "CRASHED")
    let cause = victim == "program" ? "signal 9 (SIGKILL)" : "recorder lost"
    #expect(session["cause"] as? String == cause)
    let id = try #require(session["sessionId"] as? String)
    let plain = try await program.run("show", "--plain", "--remote", id).text
    #expect(plain.split(separator: "\n").count == 5000)
    #expect(try await program.run("show", "--raw", "--remote", id).output == program.log(id))
  }

  @Test func `concurrent uploads send each segment once`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    for _ in 0..<5 { try await program.run("run", "--no-upload", "--", "seq", "1", "20000") }
    let result = try await program.shell("$T upload & $T upload & $T upload; s=$?; wait; exit $s")
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(try await program.run("upload").status == 0)
    #expect(try endpoint.segments().count == 5)
    #expect(try await program.run("verify").status == 0)
  }

  @Test func `a full disk does not affect the recorded program`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    let result = try await program.shell(
      "ulimit -f 64; $T run --no-upload -- seq 1 20000 | tail -n 1")
    #expect(result.status == 0 && result.text == "20000\n", "\(result.errors)")
    #expect(try await program.run("upload").status == 0)
    let session = try #require(try await program.list().first)
    #expect(session["uploadedBytes"] as? Int == session["fileSizeBytes"] as? Int)
    #expect(try await program.run("verify").status == 0)
  }

  @Test func `a line of 50 MB is read back unchanged`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    let line = [UInt8](repeating: 0x78, count: 50 << 20)
    #expect(try await program.run("log", "--no-upload", input: line).output == line)
    #expect(try await program.run("upload").status == 0)
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    #expect(try await program.run("show", "--plain", "--remote", id).output == line)
  }
}
