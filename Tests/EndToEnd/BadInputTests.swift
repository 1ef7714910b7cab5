import Foundation
import TestServers
import TestSupport
import Testing

@Suite(.tags(.large)) struct BadInputTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let arguments: [String]
    var environment: [String: String] = [:]
    let status: Int32
    let says: String
  }

  static let cases: [Case] = [
    .init(
      testDescription: "unknown scheme", arguments: ["init", "ftp://host/x"], status: 78,
      says: "s3://bucket"),
    .init(
      testDescription: "plain http", arguments: ["init", "http://example.com/dav"], status: 78,
      says: "--allow-plaintext"),
    .init(
      testDescription: "plain http to an S3 service", arguments: ["init", "s3://logs"],
      environment: ["AWS_ENDPOINT_URL": "http://minio.invalid:9000"], status: 78,
      says: "--allow-plaintext"),
    .init(
      testDescription: "a browser's address",
      arguments: ["init", "https://cloud.invalid/index.php/apps/files/?dir=/x"], status: 78,
      says: "/remote.php/dav/files/USER"),
    .init(
      testDescription: "no store", arguments: ["upload"], status: 78, says: "tidemark init"),
    .init(
      testDescription: "unreachable host", arguments: ["init", "http://127.0.0.1:1/dav"],
      status: 75, says: "Check the host name"),
    .init(
      testDescription: "half-set credentials", arguments: ["init", "s3://logs"],
      environment: ["AWS_ACCESS_KEY_ID": "x"], status: 78, says: "AWS_SECRET_ACCESS_KEY"),
    .init(
      testDescription: "an id like a path", arguments: ["show", "../../etc/passwd"], status: 64,
      says: "not a session id"),
    .init(
      testDescription: "an unknown id", arguments: ["show", "zzzz"], status: 64, says: "list"),
    .init(
      testDescription: "unknown level", arguments: ["show", "--level", "LOUD", "x"], status: 64,
      says: "WARNING"),
    .init(
      testDescription: "unknown time", arguments: ["show", "--since", "yore", "x"], status: 64,
      says: "'5min ago'"),
    .init(
      testDescription: "no transfers", arguments: ["upload", "--transfers", "0"], status: 64,
      says: "1 to 64"),
    .init(
      testDescription: "too slow", arguments: ["upload", "--limit-rate", "10"], status: 64,
      says: "from 1k"),
    .init(
      testDescription: "too few requests", arguments: ["upload", "--max-requests", "1"], status: 64,
      says: "from 8"),
    .init(testDescription: "no program", arguments: ["run"], status: 64, says: "run -- PROGRAM"),
    .init(
      testDescription: "delete nothing", arguments: ["delete"], status: 64, says: "--all"),
    .init(testDescription: "unknown command", arguments: ["frob"], status: 64, says: "--help"),
  ]

  @Test(arguments: cases)
  func `invalid input is reported with the next step`(_ test: Case) async throws {
    let program = try Program(test.environment)
    let result = try await program.runAll(test.arguments)
    #expect(result.status == test.status, "\(result.errors)")
    #expect(result.errors.contains(test.says), "\(result.errors)")
  }

  @Test func `an unknown key fails upload but never stops a recorded program`() async throws {
    let program = try Program()
    try FileManager.default.createDirectory(
      atPath: program.home, withIntermediateDirectories: true)
    try "store: file:///x\nretentoin:\n  local: 7d\n".write(
      toFile: program.home + "/tidemark.yaml", atomically: true, encoding: .utf8)
    let result = try await program.run("upload")
    #expect(result.status == 78)
    #expect(result.errors.contains("tidemark.yaml:2: unknown key 'retentoin'"))
    #expect(result.errors.contains("did you mean 'retention"))
    // A fault of ours does not keep the program from running.
    let run = try await program.run("run", "--", "sh", "-c", "echo hello; exit 5")
    #expect(run.status == 5 && run.text == "hello\n")
    #expect(run.errors.split(separator: "\n").count == 1)
    #expect(try await program.shell("ls $TIDEMARK_HOME/open").text.count == 26)
  }

  @Test func `a refused WebDAV password keeps the log until upload works again`() async throws {
    let endpoint = try Endpoint(.webdav)
    var program = try Program(endpoint)
    #expect(try await program.run("init", endpoint.url).status == 0)
    program.environment["TIDEMARK_WEBDAV_PASSWORD"] = "wrong"
    #expect(try await program.run("run", "--", "echo", "kept").status == 0)
    let refused = try await program.run("upload", "--wait", "600s")
    #expect(refused.status == 77 && refused.errors.contains("password"))
    #expect(!refused.errors.contains("wrong"))
    program.environment["TIDEMARK_WEBDAV_PASSWORD"] = ServerLogin.password
    #expect(try await program.run("upload", "--now").status == 0)
    #expect(try await program.list().first?["location"] as? String == "both")
  }

  @Test func `a missing bucket and a wrong secret give different errors`() async throws {
    let endpoint = try Endpoint(.s3)
    var program = try Program(endpoint)
    let missing = try await program.run("init", "s3://nothing-here/x")
    #expect(missing.status == 78 && missing.errors.contains("Create the bucket"))
    program.environment["AWS_SECRET_ACCESS_KEY"] = "wrong"
    let refused = try await program.run("init", endpoint.url)
    #expect(refused.status == 77 && refused.errors.contains("SignatureDoesNotMatch"))
  }

  @Test func `an expired token exits with 77, and a wrong region is corrected`() async throws {
    func answer(_ code: String, _ extra: String = "") -> String {
      ScriptedServer.answer(
        "400 Bad Request",
        body: "<Error><Code>\(code)</Code><Message>no</Message>\(extra)</Error>")
    }
    let expired = try ScriptedServer([answer("ExpiredToken"), answer("ExpiredToken")])
    let keys = ["AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y"]
    let program = try Program(keys.merging(["AWS_ENDPOINT_URL": expired.url]) { $1 })
    let result = try await program.run("init", "s3://logs")
    #expect(result.status == 77, "\(result.errors)")

    let region = "<Region>eu-central-1</Region>"
    let moved = try ScriptedServer([
      answer("AuthorizationHeaderMalformed", region), answer("AccessDenied"),
    ])
    let other = try Program(keys.merging(["AWS_ENDPOINT_URL": moved.url]) { $1 })
    _ = try await other.run("init", "s3://logs")
    let signed = moved.received.map { $0.head.contains("/eu-central-1/s3/") }
    #expect(signed == [false, true])
  }

  @Test
  func `a session that is deleted after its remote copy vanished counts as a problem no more`()
    async throws
  {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    try await program.record("echo", "hello")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    let day = "devices/*/\(id.prefix(4))-*"
    #expect(try await program.shell("rm -r \(endpoint.url.dropFirst(7))/\(day)").status == 0)
    #expect(try await program.run("verify").status == 65)
    #expect(try await program.run("status").status == 1)
    let absent = try await program.run("delete", "--yes", "--remote", id)
    #expect(absent.status == 0 && absent.errors.contains("\(id) has no remote copy"))
    #expect(try await program.run("delete", "--yes", id).status == 0)
    let told = try await program.run("status")
    #expect(told.status == 0 && !told.text.contains("damaged"), "\(told.text)")
  }

  @Test func `verify finds a truncated object and repair restores it`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    try await program.record("seq", "1", "1000")
    let object = try #require(try endpoint.segments().first)
    let whole = try Data(contentsOf: URL(filePath: object))
    try whole.prefix(whole.count / 2).write(to: URL(filePath: object))
    let broken = try await program.run("verify")
    #expect(broken.status == 65 && broken.errors.contains("--repair"))
    let told = try await program.run("status")
    #expect(told.status == 1 && told.text.contains("damaged"), "\(told.text)")
    try await program.makeLocalSessionsOld()
    #expect(try await program.run("reap", "--local", "--older-than", "1s", "--yes").status == 0)
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    #expect(try !program.log(id).isEmpty)
    #expect(try await program.run("show", "--raw", "--remote", id).status == 65)
    let repaired = try await program.run("verify", "--repair")
    #expect(repaired.status == 0 && repaired.text.contains("\(id)  repaired  "), "\(repaired.text)")
    #expect(try await program.run("verify").status == 0)
    #expect(try await program.run("status").status == 0)
    #expect(try await program.run("show", "--raw", "--remote", id).output == program.log(id))
  }

  @Test func `control bytes never reach a terminal, even with --raw`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    try await program.run("log", input: Array("\u{1b}]0;owned\u{7}\r\n".utf8))
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    for form in ["", "--plain", "--raw"] {
      let shown = try await program.shell("script -qec '\"$T\" show \(form) \(id)' /dev/null")
      #expect(shown.text.contains("owned"), "\(shown.errors)")
      #expect(!shown.output.contains(7) && !shown.text.contains("\u{1b}]"))
    }
  }

  /// Covers fields of sidecars, other files' texts, and names, in the output of every command.
  @Test func `no command prints invisible or control characters`() async throws {
    let endpoint = try Endpoint(.directory)
    var program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    let bad = "a\u{1b}[2Jb\u{9b}2Jc\u{202e}d\u{61c}e\u{200b}f\u{2028}g\nFORGED LINE"
    try await program.run("log", "--app", bad, input: Array("x\u{9b}2J\u{200b}\n".utf8))
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    try await program.run("upload")
    let reason = program.home + "/quarantine/20260122t143005z-aaaaaaaa.txt"
    try Data(bad.utf8).write(to: URL(filePath: reason))
    let unsafe = Set<Unicode.Scalar>(["\u{9b}", "\u{202e}", "\u{61c}", "\u{200b}", "\u{2028}"])
    for command in [
      "list", "list --json", "list --remote --json", "show \(id)", "tail \(id)",
      "tail --json \(id)", "grep x \(id)", "grep --json x \(id)", "export -o - \(id)",
      "export --format jsonl -o - \(id)", "status", "status --json", "upload --dry-run",
      "show \"$BAD\"", "verify",
    ] {
      program.environment["BAD"] = bad
      let shown = try await program.shell("script -qec '\"$T\" \(command)' /dev/null")
      let text = shown.text
      #expect(!text.unicodeScalars.contains(where: unsafe.contains), "\(command): \(text)")
      #expect(!text.contains("\u{1b}[2J"), "\(command): \(text)")
      #expect(!text.split(separator: "\r\n").contains("FORGED LINE"), "\(command): \(text)")
      guard command.contains("json") else { continue }
      for line in text.split(whereSeparator: \.isNewline) {
        _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
      }
    }
  }
}

extension Program {
  fileprivate func runAll(_ arguments: [String]) async throws -> Command.Result {
    let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
    return try await shell("exec \"$T\" \(quoted)")
  }
}
