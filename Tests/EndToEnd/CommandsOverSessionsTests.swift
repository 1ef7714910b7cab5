import Foundation
import TestServers
import TestSupport
import Testing

/// Commands that name or select sessions, despite obstacles.
@Suite(.tags(.large)) struct CommandsOverSessionsTests {
  @Test func `local sessions stay readable when the login is refused`() async throws {
    let endpoint = try Endpoint(.webdav)
    var program = try Program(endpoint)
    #expect(try await program.run("init", endpoint.url).status == 0)
    try await program.record("echo", "needle")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    program.environment["TIDEMARK_WEBDAV_PASSWORD"] = "wrong"
    let listed = try await program.run("list")
    #expect(listed.status == 77 && listed.text.contains(id), "\(listed.errors)")
    #expect(listed.errors.contains("local sessions only"))
    // The store is not queried for sessions that are complete here.
    let commands = [["show", id], ["tail", id], ["tail"], ["grep", "needle", id]]
    for command in commands {
      let result = try await program.run(command)
      #expect(result.status == 0 && result.errors.isEmpty, "\(command): \(result.errors)")
      #expect(result.text.contains("needle"), "\(command)")
    }
    let exported = try await program.run("export", "-o", "-", id)
    #expect(exported.status == 0 && exported.errors.isEmpty, "\(exported.errors)")
    // Commands that need the store report its failure once.
    let verified = try await program.run("verify")
    #expect(verified.status == 77 && verified.errors.split(separator: "\n").count == 1)
    #expect(!verified.errors.contains("local sessions only"), "\(verified.errors)")
    let doctor = try await program.run("doctor")
    #expect(doctor.status == 77 && doctor.text.contains("Login refused"), "\(doctor.text)")
    #expect(!doctor.text.contains("missing right") && !doctor.text.contains("This grants"))
  }

  @Test func `commands that cannot reach the store say that something may be missing`() async throws
  {
    let program = try Program()
    try await program.configure { $0 }
    try await program.record("echo", "needle")
    let result = try await program.shell(
      """
      cd '\(program.folder.path)'
      sed -i 's|^store:.*|store: http://127.0.0.1:9/dav|' "$TIDEMARK_HOME/tidemark.yaml"
      export TIDEMARK_WEBDAV_USER=u TIDEMARK_WEBDAV_PASSWORD=p
      for command in list crashes 'grep needle' 'grep nothing'; do
        $T $command >/dev/null 2>>errors; echo "$command: $?"
      done
      grep -c 'only: PROPFIND' errors
      """)
    #expect(
      result.text == """
        list: 75
        crashes: 75
        grep needle: 75
        grep nothing: 75
        4

        """, "\(result.errors)")
  }

  @Test func `invalid places, times and sessions are usage errors`() async throws {
    let program = try Program()
    try await program.configure { $0 }
    try await program.record("echo", "hello")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    let known = try await program.run("why", "--json", id)
    #expect(known.status == 0 && known.text.isEmpty, "\(known.errors)")
    #expect(try await program.run("why", "--json", "nosuchid").status == 1)
    let file = try program.folder.write("mine\n", to: "file")
    let cases: [([String], String)] = [
      (
        ["pull", program.folder.path + "/mirror", "nosuchid"], "no session 'nosuchid' in the store"
      ),
      (["pull", file], "is a file; name a folder"),
      (["export", "-o", file, id], "is a file, and text makes a file for each session"),
      (["lst"], "did you mean 'list'?"), (["show", "nosuchid"], "'tidemark why nosuchid'"),
      (["delete", "--failed", "--all-devices", "--local"], "--local cannot be used with"),
      (["list", "--since", "yore"], "use '2026-11-22 10:00'"),
      (["show", "--remote", id, "--until", "24:00"], "use '2026-11-22 10:00'"),
    ]
    for (command, says) in cases {
      let result = try await program.run(command)
      #expect(result.status == 64, "\(command): \(result.errors)")
      #expect(
        result.errors.contains(says) && !result.errors.contains("NSCocoa"), "\(result.errors)")
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine\n")
  }

  @Test func `a reaped remote copy is reported as reaped, not as damaged`() async throws {
    let program = try Program()
    try await program.configure { $0 }
    try await program.record("echo", "hello")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    try await program.waitUntilOldRemotely(1)
    // Below the configured retention a person or --yes has to confirm.
    let unasked = try await program.run("reap", "--remote", "--older-than", "1s")
    #expect(unasked.status == 64 && unasked.errors.contains("pass --yes"), "\(unasked.errors)")
    #expect(try await program.list().first?["location"] as? String == "both")
    let reaped = try await program.run("reap", "--remote", "--older-than", "1s", "--yes", "--json")
    #expect(reaped.status == 0 && reaped.text.contains(#""copy":"remote""#), "\(reaped.errors)")
    let listed = try await program.run("list")
    #expect(listed.text.contains("reaped"), "\(listed.text)")
    #expect(try await program.list().first?["remoteReapedAt"] is String)
    let verified = try await program.run("verify")
    #expect(verified.status == 0 && verified.text.contains("\(id)  reaped"), "\(verified.text)")
    let repaired = try await program.run("verify", "--repair", id)
    #expect(repaired.status == 0 && repaired.text.contains("reaped"), "\(repaired.errors)")
    #expect(try await program.list("--remote").isEmpty)
    // `retry` uploads it again only if it is named.
    let retried = try await program.shell("$T retry && $T retry \(id) && $T upload")
    #expect(retried.status == 0, "\(retried.errors)")
    #expect(retried.text == "released \(id): uploaded again although its remote copy was deleted\n")
    let sent = try #require(try await program.list().first)
    #expect(sent["location"] as? String == "both" && sent["remoteReapedAt"] == nil)
    #expect(try await program.run("verify", id).text.contains("equals the local log"))
  }

  @Test func `an operator verifies and deletes another device's sessions`() async throws {
    let program = try Program()
    try await program.configure { $0 }
    try await program.record("echo", "hello")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    var operatorHome = program
    operatorHome.environment["TIDEMARK_HOME"] = program.folder.path + "/operator"
    #expect(try await operatorHome.run("init", program.environment["URL"] ?? "").status == 0)
    #expect(try await operatorHome.run("verify", id).status == 0)
    #expect(try await operatorHome.run("verify", "--all-devices").text.contains(id))
    let whole = try await operatorHome.run("delete", "--all-devices", "--dry-run")
    #expect(whole.status == 64 && whole.errors.contains("--all for all of every device's"))
    let planned = try await operatorHome.run("delete", "--all-devices", "--all", "--dry-run")
    #expect(planned.text == "would delete \(id) (remote, \(try program.log(id).count) B)\n")
    let deleted = try await operatorHome.run("delete", "--yes", "--json", id)
    #expect(deleted.status == 0 && deleted.text.contains(#""remote":true"#), "\(deleted.errors)")
    #expect(try await operatorHome.list("--all-devices").isEmpty)
    #expect(try await program.list("--local").count == 1)
  }

  @Test func `a crash is recorded as FAULT and reported`() async throws {
    let program = try Program()
    let crashed = try await program.run("run", "--no-upload", "--", "sh", "-c", "kill -SEGV $$")
    #expect(crashed.status == 139)
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    #expect(
      crashed.errors == "tidemark: crashed: SIGSEGV; 'tidemark show \(id)' prints the log\n",
      "\(crashed.errors)")
    let faults = try await program.run("grep", "--level", "FAULT", "-o", "SESSION END .*")
    #expect(faults.text == "SESSION END signal 11 (SIGSEGV)\n", "\(faults.errors)")
    let failed = try await program.run("run", "--no-upload", "--", "sh", "-c", "exit 3")
    #expect(failed.status == 3 && failed.errors.isEmpty)
    let errors = try await program.run("grep", "-c", "--level", "=ERROR", "SESSION END exit 3")
    #expect(errors.text.contains(":1\n"), "\(errors.text)")
  }

  @Test func `grep and tail accept their usual options`() async throws {
    let program = try Program()
    try await program.run(
      "log", "--as-is", "--no-upload", input: Array("one 1\ntwo 22\nthree\ntwo 333\n".utf8))
    let cases: [([String], String, Int32)] = [
      (["grep", "-n", "two"], "2:two 22\n4:two 333\n", 0),
      (["grep", "-no", #"\d+"#], "1:1\n2:22\n4:333\n", 0), (["grep", "-q", "two"], "", 0),
      (["grep", "-q", "four"], "", 1),
      (["grep", "-E", "-e", "one", "-e", "three"], "one 1\nthree\n", 0),
      (["grep", "-m1", "two"], "two 22\n", 0),
      (["grep", "-C1", "-n", "three"], "2-two 22\n3:three\n4-two 333\n", 0),
      (["grep", #"[\d]"#], "", 1), (["grep", #"\D\d$"#], "one 1\n", 0),
      (["tail", "-2"], "three\ntwo 333\n", 0),
      (["tail", "-n1"], "two 333\n", 0),
      (["grep", "--color=always", "-o", "22"], "\u{1b}[1;31m22\u{1b}[0m\n", 0),
    ]
    for (command, text, status) in cases {
      let result = try await program.run(command)
      #expect(result.text == text && result.status == status, "\(command): \(result.errors)")
    }
  }
}
