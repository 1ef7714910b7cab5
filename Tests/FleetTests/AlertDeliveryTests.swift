import Foundation
import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import Fleet

/// The messages that reach commands and webhooks.
@Suite(.tags(.medium)) struct AlertDeliveryTests {
  private func message() -> AlertNotification {
    let rule = AlertRule(name: "crashed", .crash(includesFailures: false))
    return AlertNotification.example(of: rule, at: Timestamp(milliseconds: 1_769_092_205_123))
      .notification
  }

  private func send(
    _ target: AlertTarget, patience: Duration = .seconds(600)
  ) async -> String? {
    await TargetSender(
      ["t": target], over: HTTPTransport(), on: .current,
      environment: ["PATH": "/usr/bin:/bin", "HOME": "/"], patience: patience
    ) { _ in }.send(message(), to: "t")
  }

  @Test
  func `a command gets the message on standard input and only ids as variables`() async throws {
    let folder = try TemporaryDirectory()
    let script = """
      cat > "$1"; env | sort > "$1.env"; printf '%s\\n' "$@" > "$1.args"
      """
    let error = await send(
      .command(["/bin/sh", "-c", script, "sh", folder.path + "/out", "$(id)", "a b"]))
    #expect(error == nil)
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
    }
    let object = try JSONSerialization.jsonObject(with: Data(text("out").utf8)) as? [String: Any]
    #expect(object?["alert"] as? String == "crashed")
    #expect((object?["device"] as? [String: Any])?["name"] as? String == "example-device")
    #expect(try text("out.args") == "\(folder.path)/out\n$(id)\na b\n")
    let own = try text("out.env").split(separator: "\n").filter { $0.hasPrefix("TIDEMARK") }
    #expect(
      own == [
        "TIDEMARK_ALERT=crashed", "TIDEMARK_ALERT_DEVICE=example", "TIDEMARK_ALERT_STATE=firing",
      ])
  }

  @Test(arguments: [
    (["/bin/sh", "-c", "exit 3"], "/bin/sh ended with status 3"),
    (["/bin/sh", "-c", "kill -9 $$"], "/bin/sh ended with status 137"),
    (["/nowhere/at-all"], "cannot start"),
    // The processes it started are killed with it.
    (["/bin/sh", "-c", "sleep 1000 & sleep 1000"], "took too long and was killed"),
  ])
  func `a failed command is reported with how it ended`(
    command: [String], error: String
  ) async throws {
    let said = try #require(
      await send(
        .command(command),
        patience: command[0] == "/bin/sh" && command[2].hasPrefix("sleep")
          ? .milliseconds(100) : .seconds(600)))
    #expect(
      said.contains(error) || (error == "cannot start" && said.contains("/nowhere/at-all")),
      "\(said)")
  }

  @Test func `a webhook gets the message with its idempotency key`() async throws {
    for form in Webhook.Form.allCases {
      let server = try ScriptedServer([ScriptedServer.answer("204 No Content")])
      var webhook = try #require(Webhook(server.url + "/secret/path"))
      webhook.form = form
      webhook.headers = [.init(name: "X-Key", value: "k")]
      #expect(await send(.webhook(webhook)) == nil)
      let request = try #require(server.received.first)
      #expect(request.head.hasPrefix("POST /secret/path HTTP/1.1"))
      #expect(request.head.contains("Idempotency-Key: \(message().id)"))
      #expect(request.head.contains("X-Key: k"))
      #expect(request.body.count > 20)
    }
  }

  /// An answer, and the text about it, which names only the server of the URL.
  @Test(
    arguments: [
      (["500 Internal Server Error"], [], "answer 500"),
      (["404 Not Found"], [], "answer 404"),
      (
        ["307 Temporary Redirect"], ["Location: https://elsewhere.example/x"],
        "points to another server"
      ),
      (["302 Found"], ["Location: //elsewhere.example/x"], "points to another server"),
      (["307 Temporary Redirect", "200 OK"], ["Location: /other"], nil),
      (["307 T", "307 T"], ["Location: /other"], "answer 307"),
    ] as [([String], [String], String?)])
  func `a webhook's status decides delivery, and errors hide its path`(
    statuses: [String], headers: [String], error: String?
  ) async throws {
    let server = try ScriptedServer(
      statuses.map { ScriptedServer.answer($0, headers: $0.hasPrefix("3") ? headers : []) })
    let webhook = try #require(Webhook(server.url + "/secret"))
    let said = await send(.webhook(webhook))
    if let error {
      #expect(said?.contains(error) == true, "\(said ?? "none")")
      #expect(said?.contains(server.url) == true && said?.contains("secret") == false)
    } else {
      #expect(said == nil)
      #expect(server.received.map { $0.head.prefix(12) } == ["POST /secret", "POST /other "])
    }
  }

  @Test func `a webhook that hangs or refuses is reported`() async throws {
    let hanging = try ScriptedServer()
    let webhook = try #require(Webhook(hanging.url))
    let said = await send(.webhook(webhook), patience: .milliseconds(100))
    #expect(said?.contains("no answer within") == true)
    let refused = try #require(Webhook("http://127.0.0.1:1/"))
    #expect(await send(.webhook(refused))?.contains("unreachable") == true)
  }

  @Test func `the heartbeat is a GET request`() async throws {
    let server = try ScriptedServer([ScriptedServer.answer("200 OK")])
    let url = try #require(Webhook(server.url + "/ping"))
    #expect(await Heartbeat(HTTPTransport()).ping(url) == nil)
    #expect(server.received.first?.head.hasPrefix("GET /ping ") == true)
  }
}
