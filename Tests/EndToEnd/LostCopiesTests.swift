import Foundation
import TestServers
import TestSupport
import Testing

/// Remote copies that went by others' hands, and a store whose login is missing: what is local
/// stays readable, and nothing claims what is not so.
@Suite(.tags(.large)) struct LostCopiesTests {
  @Test
  func `a remote copy that somebody else deleted is missing, and an emptied folder is no store`()
    async throws
  {
    let program = try Program()
    try await program.configure { $0 }
    try await program.record("echo", "hello")
    let id = try #require(try await program.list().first?["session"] as? String)
    _ = try await program.shell("rm $FOLDER/store/devices/*/*/\(id).*")
    let listed = try await program.run("list")
    #expect(listed.status == 0 && listed.text.contains("missing"), "\(listed.text)")
    #expect(!listed.text.contains("100 %"))
    let line = try #require(try await program.list().first)
    #expect(line["remoteMissing"] as? Bool == true && line["location"] as? String == "local")
    #expect(line["uploadedBytes"] as? Int == 0)
    let shown = try await program.run("show", "--remote", id)
    #expect(shown.status == 65 && shown.errors.contains("no longer has"), "\(shown.errors)")
    let verified = try await program.run("verify")
    #expect(verified.status == 65 && verified.errors.contains("verify --repair"))
    // Neither asks the store for what is sealed, but the finding is known.
    #expect(try await program.run("upload").status == 0)
    let status = try await program.run("status")
    #expect(status.status == 1 && status.text.contains("damaged        \(id): "), "\(status.text)")

    _ = try await program.shell("rm -r $FOLDER/store && mkdir $FOLDER/store")
    let mirror = program.folder.path + "/mirror"
    let refused = [
      ["pull", mirror], ["pull", mirror, "--all-devices"], ["pull", mirror, id],
      ["crashes", "--remote"], ["crashes", "--all-devices"], ["list", "--remote"],
      ["list", "--all-devices"], ["list", "--summary"], ["show", "--remote", id], ["verify"],
      ["verify", "--repair"], ["upload", "--now"],
    ]
    for command in refused {
      let result = try await program.run(command)
      #expect(result.status == 78, "\(command): \(result.text)\(result.errors)")
      #expect(result.errors.contains("its marker is missing"), "\(command): \(result.errors)")
      #expect(!result.errors.contains("verify --repair"), "\(command): \(result.errors)")
    }
    for command in [["list"], ["crashes"], ["grep", "hello"]] {
      let result = try await program.run(command)
      #expect(result.status == 78 && result.errors.contains("local "), "\(command)")
      #expect(command == ["crashes"] || result.text.contains("hello") || result.text.contains(id))
    }
  }

  @Test func `commands for local sessions work without the store's key`() async throws {
    let program = try Program()
    let recorded = try await program.shell(
      """
      mkdir -p "$TIDEMARK_HOME" && cat >"$TIDEMARK_HOME/tidemark.yaml" <<END
      store: s3://bucket/logs
      consent: logs
      s3: {access-key-id: AKIAX, secret-access-key-file: $FOLDER/nokey}
      END
      $T run --no-upload -- echo hello >/dev/null
      """)
    #expect(recorded.status == 0, "\(recorded.errors)")
    let id = try #require(try await program.list("--local").first?["session"] as? String)
    let cases: [([String], String)] = [
      (["status"], "not uploaded"), (["list"], id), (["grep", "hello"], "hello"),
      (["keep", id], "is kept, local, until"), (["retry"], ""), (["list"], "kept until"),
      (["crashes"], ""),
    ]
    for (command, says) in cases {
      let result = try await program.run(command)
      #expect(result.status == 78, "\(command): \(result.text)\(result.errors)")
      #expect(says.isEmpty || result.text.contains(says), "\(command): \(result.text)")
      #expect(result.errors.contains("/nokey"), "\(command): \(result.errors)")
    }
    #expect(try await program.list("--local").first?["keptUntil"] is String)
    // cron hears of it once an hour, a person each time.
    for (command, isReported) in [
      (["upload"], true), (["upload"], false), (["upload", "--now"], true),
    ] {
      let result = try await program.run(command)
      #expect(result.status == 78 && result.errors.contains("/nokey") == isReported, "\(command)")
    }
  }

  @Test func `logs that consent none held back are sent after consent logs, as status says`()
    async throws
  {
    let program = try Program()
    try await program.configure { $0.replacing("consent: logs", with: "consent: none") }
    try await program.run("run", "--", "echo", "hello")
    let status = try await program.run("status")
    let promise = "consent: logs in the configuration; after 'metadata' only for sessions still"
    #expect(status.text.contains(promise), "\(status.text)")
    let sent = try await program.shell(
      "sed -i 's/^consent: none/consent: logs/' $TIDEMARK_HOME/tidemark.yaml; $T upload")
    #expect(sent.status == 0, "\(sent.errors)")
    #expect(try await program.list().first?["location"] as? String == "both")
  }

  @Test func `commands that only read make no home`() async throws {
    var program = try Program()
    program.environment["TIDEMARK_HOME"] = nil
    program.environment["HOME"] = program.folder.path + "/nobody"
    for command in ["status", "list", "doctor", "crashes", "config show", "why x", "alert status"] {
      let result = try await program.run(command.split(separator: " ").map(String.init))
      #expect(!result.errors.contains("nobody"), "\(command): \(result.errors)")
      #expect(
        !FileManager.default.fileExists(atPath: program.folder.path + "/nobody"), "\(command)")
    }
    let status = try await program.run("status")
    #expect(status.status == 0 && status.text.contains("not made yet"), "\(status.errors)")
  }

  @Test func `a dry run writes nothing, and counts attached files`() async throws {
    let endpoint = try Endpoint(.webdav)
    let program = try Program(endpoint)
    let planned = try await program.run("init", "--dry-run", endpoint.url)
    #expect(planned.status == 0, "\(planned.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: endpoint.files).isEmpty)

    let local = try Program()
    let log = try local.folder.write("one\ntwo\n", to: "a.log")
    try await local.configure {
      $0.replacing("\nsources:", with: "\nsources:\n  - path: \(log)", maxReplacements: 1)
    }
    let first = try await local.run("upload", "--dry-run")
    #expect(first.text.contains("attach \(log) (8 B)"), "\(first.text)")
    #expect(first.text.contains("1 attached log, 8 B of log to send"), "\(first.text)")
    #expect(try await local.run("upload").status == 0)
    #expect(try await local.run("upload", "--dry-run").text == "nothing to upload\n")
    _ = try await local.shell("printf 'three\\n' >>'\(log)'")
    let grown = try await local.run("upload", "--dry-run", "--json")
    #expect(grown.text.contains(#""logBytes":6"#), "\(grown.text)")
    let status = try await local.run("status").text
    #expect(status.contains("not uploaded   6 B\n  6 B in 1 session: waiting"), "\(status)")
    let metrics = try await local.run("status", "--prometheus").text
    #expect(metrics.contains(/unsent\S* 6\n/), "\(metrics)")

    let file = try local.folder.write("old\n", to: "b.log")
    #expect(try await local.run("import", file, "--dry-run").text == "would import \(file)\n")
    #expect(try await local.run("import", file).status == 0)
    let again = try await local.run("import", file, "--dry-run")
    #expect(again.text.contains("already imported"), "\(again.text)")
  }

  @Test func `a session in the trash is offered back`() async throws {
    let program = try Program()
    _ = try await program.shell(
      "mkdir -p $TIDEMARK_HOME && echo 'store: none' >$TIDEMARK_HOME/tidemark.yaml")
    try await program.run("run", "--", "echo", "hello")
    let id = try #require(try await program.list().first?["session"] as? String)
    _ = try await program.shell(
      "until $T why \(id) | grep -q trash; do $T reap --local --older-than 1s --yes; done")
    for command in ["show", "tail", "keep", "export -o -"] {
      let result = try await program.run(command.split(separator: " ").map(String.init) + [id])
      #expect(result.status == 64, "\(command): \(result.errors)")
      #expect(result.errors.contains("'tidemark restore \(id)' puts it back"), "\(result.errors)")
    }
    #expect(try await program.run("delete", "--yes", id).status == 0)
    let gone = try await program.run("show", id)
    #expect(gone.status == 64 && gone.errors.contains("\(id) was deleted; 'tidemark why"))
  }
}
