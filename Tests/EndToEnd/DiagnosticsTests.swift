import Foundation
import Logging
import Platform
import SessionLog
import Synchronization
import TestServers
import TestSupport
import Testing

@testable import tidemark

/// `-v`, `-vv` and `TIDEMARK_LOG`.
@Suite(.tags(.large)) struct DiagnosticsTests {
  private static let password = "correct-horse-battery"

  // MARK: Lines

  /// The lines written by a handler.
  private func lines(_ level: Logger.Level, _ body: (Logger) -> Void) -> [String] {
    let written = Mutex<[String]>([])
    body(
      Logger(label: "test") { _ in
        DiagnosticHandler(level, now: { Timestamp(milliseconds: 1_769_092_205_123) }) { line in
          written.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
        }
      })
    return written.withLock { $0 }
  }

  @Test func `a diagnostic line has time, level, text and metadata`() {
    let found = lines(.info) { logger in
      logger.info("put a/b: 3 B, 12 ms")
      logger.debug("not wanted")
      var labelled = logger
      labelled[metadataKey: "session"] = "s1"
      labelled.warning("late", metadata: ["attempt": "2"])
    }
    #expect(
      found == [
        "2026-01-22T14:30:05.123Z info put a/b: 3 B, 12 ms\n",
        "2026-01-22T14:30:05.123Z warning late attempt=2 session=s1\n",
      ])
  }

  @Test func `control characters are removed from diagnostic lines`() {
    let found = lines(.trace) { $0.trace("a\nb\r\u{1b}[2J\u{9b}\t\u{202e}\u{7f}") }
    #expect(found.count == 1)
    let text = found.first?.dropLast() ?? ""
    #expect(found.first?.last == "\n")
    #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    #expect(!text.unicodeScalars.contains("\u{202e}"))
  }

  @Test(
    arguments: [
      (0, nil, nil), (0, "", nil), (1, nil, .info), (2, nil, .debug), (3, nil, .trace),
      (9, nil, .trace), (0, "error", .error), (0, "warning", .warning), (0, "INFO", .info),
      (0, "debug", .debug), (0, "trace", .trace), (1, "error", .info), (1, "debug", .debug),
    ] as [(Int, String?, Logger.Level?)])
  func `the more detailed of option and TIDEMARK_LOG wins`(
    _ verbosity: Int, _ variable: String?, _ level: Logger.Level?
  ) throws {
    let environment = variable.map { ["TIDEMARK_LOG": $0] } ?? [:]
    let logger = try DiagnosticOptions.logger(verbosity: verbosity, environment: environment)
    #expect(logger.logLevel == level ?? .critical)
  }

  // MARK: The program

  @Test(arguments: ["loud", "critical", "5", "\u{1b}[2J"])
  func `an invalid TIDEMARK_LOG is a configuration error`(_ value: String) async throws {
    var program = try Program()
    program.environment["TIDEMARK_LOG"] = value
    let result = try await program.run("list")
    #expect(result.status == 78 && result.output.isEmpty)
    #expect(result.errors.hasPrefix("tidemark: invalid TIDEMARK_LOG '"))
    #expect(result.errors.contains("use error, warning, info, debug, trace"))
    #expect(!result.errors.contains("\u{1b}"))
    // A fault of ours does not keep the program from running.
    let run = try await program.run("run", "--", "echo", "one")
    #expect(run.status == 0 && run.text == "one\n")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test func `upload prints nothing without -v`() async throws {
    let program = try Program()
    try await program.configure { $0 }
    for options in [[], ["-v"], ["-vv"]] {
      #expect(try await program.run("run", "--no-upload", "--", "echo", "one").errors.isEmpty)
      let id = try #require(try await program.list().first?["sessionId"] as? String)
      let result = try await program.run(["upload"] + options)
      #expect(result.status == 0 && result.output.isEmpty)
      if options.isEmpty {
        #expect(result.errors.isEmpty)
        continue
      }
      let lines = result.errors.split(separator: "\n")
      #expect(
        lines.contains { $0.hasSuffix("Z info \(id): sealed as TERMINATED") }, "\(result.errors)")
      #expect(lines.contains { $0.contains("Z info put ") && $0.contains(id) })
      #expect(lines.contains { $0.contains(" debug ") } == (options == ["-vv"]))
      #expect(
        lines.allSatisfy { $0.wholeMatch(of: /\d{4}-\d\d-\d\dT[\d:.]+Z (info|debug) .+/) != nil })
    }
  }

  /// The helper's diagnostics stay out of the recorded log, and of a silent run's output.
  @Test func `run shows upload diagnostics only when asked, never in the log`() async throws {
    var program = try Program()
    try await program.configure { $0 }
    #expect(try await program.run("run", "--", "echo", "one").errors.isEmpty)
    #expect(try await program.run("upload", "--wait", "600s").status == 0)
    // The helper's lines may come after the recorder has ended.
    func run(_ command: String) async throws -> Command.Result {
      try await program.shell(
        """
        $T run \(command) 2>$FOLDER/errors
        timeout 1800 sh -c 'until grep -q "sealed as" $FOLDER/errors; do :; done'
        cat $FOLDER/errors >&2
        """)
    }
    let asked = try await run("-v -- sh -c 'echo $TIDEMARK_LOG. >&2'")
    #expect(asked.errors.contains("sealed as TERMINATED"))
    // The program's own environment is unchanged.
    #expect(asked.errors.contains(".\n") && !asked.errors.contains("info.\n"))
    program.environment["TIDEMARK_LOG"] = "info"
    let variable = try await run("-- echo one")
    #expect(variable.text == "one\n" && variable.errors.contains("sealed as TERMINATED"))
    for session in try await program.list() {
      let id = try #require(session["sessionId"] as? String)
      #expect(try !String(decoding: program.log(id), as: UTF8.self).contains("sealed as"))
    }
  }

  @Test func `an upload continues when its diagnostics pipe is closed`() async throws {
    let program = try Program()
    try await program.configure { $0 }
    #expect(try await program.run("run", "--no-upload", "--", "echo", "one").status == 0)
    let result = try await program.shell(
      "( $T upload -vvv 2>&1 >/dev/null; echo $? >$FOLDER/status ) | :; cat $FOLDER/status")
    #expect(result.text == "0\n")
    #expect(try await program.run("verify").text.contains("  ok  "))
  }

  @Test func `pull -v lists the sessions that it fetches`() async throws {
    let program = try Program()
    try await program.configure { $0 }
    try await program.record("echo", "one")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    let first = try await program.run("pull", "-v", program.folder.path + "/mirror")
    #expect(first.status == 0 && first.errors.contains(" info \(id): fetch "))
    let second = try await program.run("pull", "-v", program.folder.path + "/mirror")
    #expect(second.status == 0 && second.errors.hasSuffix(" info plan: 0 sessions to fetch\n"))
  }

  @Test func `grep -v inverts the match, and --verbose shows diagnostics`() async throws {
    let program = try Program()
    try await program.configure { $0 }
    try await program.record("printf", "one\ntwo\n")
    let inverted = try await program.run("grep", "-v", "one")
    #expect(inverted.text.contains("two") && !inverted.text.contains("one"))
    #expect(inverted.errors.isEmpty)
    let verbose = try await program.run("grep", "--verbose", "--verbose", "--remote", "one")
    #expect(verbose.text.contains("one") && verbose.errors.contains(" debug get "))
  }

  // MARK: Secrets

  private static func noSecret(_ secrets: [String], in text: String) {
    for secret in secrets { #expect(!text.contains(secret), "\(secret) in \(text)") }
    #expect(text.firstMatch(of: /Signature=[0-9a-f]/) == nil)
    #expect(text.firstMatch(of: /: *(Basic|Bearer) [A-Za-z0-9+\/]/) == nil)
  }

  @Test(arguments: [["-vv"], ["-vvv"], ["trace"]])
  func `diagnostics show no WebDAV password`(_ options: [String]) async throws {
    let server = try LighttpdServer(password: Self.password)
    var program = try Program([
      "TIDEMARK_STORE": server.url + "/logs", "TIDEMARK_WEBDAV_USER": ServerLogin.user,
      "TIDEMARK_WEBDAV_PASSWORD": Self.password,
    ])
    #expect(try await program.run("run", "--no-upload", "--", "echo", "one").status == 0)
    if options == ["trace"] { program.environment["TIDEMARK_LOG"] = "trace" }
    let result = try await program.run(["upload"] + options.filter { $0.hasPrefix("-") })
    #expect(result.status == 0)
    let put = "debug PUT \(server.url)/logs/devices/"
    #expect(result.errors.contains(put) && result.errors.contains(" 201, "), "\(result.errors)")
    let isTrace = options != ["-vv"]
    #expect(result.errors.contains("trace > Authorization: Basic ***") == isTrace)
    #expect(result.errors.contains("bytes of body") == isTrace)
    let login = Data("\(ServerLogin.user):\(Self.password)".utf8).base64EncodedString()
    Self.noSecret([Self.password, login], in: result.errors)
  }

  @Test(arguments: [["-vv"], ["-vvv"], ["trace"]])
  func `diagnostics show no S3 keys or signatures`(_ options: [String]) async throws {
    let server = try RcloneS3Server()
    var program = try Program([
      "TIDEMARK_STORE": "s3://logs/prefix", "AWS_ENDPOINT_URL": server.url,
      "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": RcloneS3Server.accessKeyID,
      "AWS_SECRET_ACCESS_KEY": RcloneS3Server.secretAccessKey,
    ])
    #expect(try await program.run("run", "--no-upload", "--", "echo", "one").status == 0)
    if options == ["trace"] { program.environment["TIDEMARK_LOG"] = "trace" }
    let result = try await program.run(["upload"] + options.filter { $0.hasPrefix("-") })
    #expect(result.status == 0)
    #expect(result.errors.contains("debug PUT \(server.url)/logs/prefix/devices/"))
    let isTrace = options != ["-vv"]
    #expect(result.errors.contains("trace > Authorization: AWS4-HMAC-SHA256 ***") == isTrace)
    Self.noSecret(
      [RcloneS3Server.secretAccessKey, RcloneS3Server.accessKeyID, "Signature="],
      in: result.errors)
  }

  @Test func `diagnostics show no proxy password`() async throws {
    let proxy = try ScriptedServer([ScriptedServer.answer("407 Proxy Authentication Required")])
    var program = try Program()
    program.environment["TIDEMARK_STORE"] = "https://store.invalid/logs"
    program.environment["https_proxy"] = proxy.url.replacing(
      "http://", with: "http://user:\(Self.password)@")
    #expect(try await program.run("run", "--no-upload", "--", "echo", "one").status == 0)
    let result = try await program.run("upload", "-vvv")
    #expect(
      result.errors.contains("trace > CONNECT store.invalid:443 HTTP/1.1"), "\(result.errors)")
    #expect(result.errors.contains("trace > Proxy-Authorization: Basic ***"))
    let login = Data("user:\(Self.password)".utf8).base64EncodedString()
    Self.noSecret([Self.password, login], in: result.errors)
  }
}
