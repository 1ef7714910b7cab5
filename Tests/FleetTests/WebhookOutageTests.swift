import HTTPTransport
import LogRecords
import Platform
import SessionLog
import TestServers
import TestSupport
import Testing

@testable import Fleet

/// Messages to a webhook that fails in the ways of webhooks, with a real server and an injected
/// clock.
@Suite(.tags(.medium)) struct WebhookOutageTests {
  /// A pass a minute over a store in which one session has crashed, with the times of requests.
  private final class Outage {
    let world: AlertWorld
    private(set) var minute = 0
    private(set) var report = AlertPass.Report()

    init() async throws {
      var rule = AlertRule(name: "crashed", .crash(includesFailures: false))
      rule.targets = ["hook"]
      world = try AlertWorld([rule])
      try await world.pass()
      let device = try world.device("d1")
      world.minutes(16)
      let session = device.begin("player")
      device.write("the line of the log", .error, to: session)
      try device.upload(session, ending: .signal(11))
    }

    /// - Returns: the minutes since the first pass at which an attempt was made.
    func run(minutes: Int, to url: String, patience: Duration = .seconds(600)) async throws -> [Int]
    {
      var webhook = try #require(Webhook(url + "/secret"))
      webhook.headers = [.init(name: "Authorization", value: "Bearer token")]
      let sender = TargetSender(
        ["hook": .webhook(webhook)], over: HTTPTransport(), on: .current, environment: [:],
        patience: patience
      ) { _ in }
      var attempts: [Int] = []
      for _ in 0..<minutes {
        let before = report.failing["hook"]?.attempts ?? 0
        let waiting = try AlertState.load(world.path) { _ in }.outbox.count
        report = try await world.pass(sender)
        let isSent = waiting > 0 && report.undelivered == 0
        if isSent || report.failing["hook"].map({ $0.attempts > before }) ?? false {
          attempts.append(minute)
        }
        minute += 1
        world.minutes(1)
      }
      return attempts
    }
  }

  @Test func `a webhook message survives every kind of outage and arrives once`() async throws {
    let outage = try await Outage()
    let hanging = try ScriptedServer()
    #expect(
      try await outage.run(minutes: 1, to: hanging.url, patience: .milliseconds(100)) == [0])
    #expect(outage.report.failing["hook"]?.error.contains("no answer within") == true)

    let closed = "http://127.0.0.1:1"
    #expect(try await outage.run(minutes: 2, to: closed) == [1])
    #expect(outage.report.failing["hook"]?.error.contains("unreachable") == true)

    let other = try ScriptedServer([ScriptedServer.answer("200 OK")])
    let redirecting = try ScriptedServer([
      ScriptedServer.answer("307 Temporary Redirect", headers: ["Location: \(other.url)/x"])
    ])
    #expect(try await outage.run(minutes: 4, to: redirecting.url) == [3])
    #expect(outage.report.failing["hook"]?.error.contains("another server") == true)
    // Neither the message nor the login went there.
    #expect(other.received.isEmpty)

    let answers = Array(repeating: ScriptedServer.answer("500 Internal Server Error"), count: 4)
    let failing = try ScriptedServer(answers + [ScriptedServer.answer("204 No Content")])
    #expect(try await outage.run(minutes: 60, to: failing.url) == [7, 15, 30, 45, 60])
    #expect(outage.report.undelivered == 0 && outage.report.failing.isEmpty)
    // After that, no further attempt is made.
    #expect(try await outage.run(minutes: 60, to: failing.url).isEmpty)

    let requests = redirecting.received + failing.received
    #expect(requests.count == 6)
    let keys = requests.compactMap { request in
      request.head.split(separator: "\r\n").first { $0.hasPrefix("Idempotency-Key: ") }
    }
    #expect(keys.count == 6 && Set(keys).count == 1)
    #expect(Set(requests.map(\.body)).count == 1)
    #expect(requests.allSatisfy { $0.head.contains("Authorization: Bearer token") })
  }
}
