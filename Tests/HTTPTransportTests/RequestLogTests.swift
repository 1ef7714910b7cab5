import Foundation
import Logging
import TestServers
import TestSupport
import Testing

@testable import HTTPTransport

@Suite(.tags(.medium)) struct RequestLogTests {
  private func send(
    _ level: Logger.Level, proxy: String? = nil, hasSecretTargets: Bool = false,
    _ answers: [String],
    _ request: (String) -> HTTPRequest
  ) async throws -> (lines: [String], url: String) {
    let server = try ScriptedServer(answers)
    let lines = LogLines()
    var options = HTTPTransport.Options()
    options.logger = lines.logger(level)
    options.secrets = ["the configured one"]
    options.hasSecretTargets = hasSecretTargets
    options.proxy = proxy?.replacing("PORT", with: server.url.split(separator: ":").last ?? "")
    _ = try? await HTTPTransport(options).send(request(server.url))
    return (lines.all, server.url)
  }

  @Test func `each request logs one line at level debug`() async throws {
    let answer = ScriptedServer.answer("201 Created", body: "abc")
    let (lines, url) = try await send(.debug, [answer]) {
      HTTPRequest(method: "PUT", url: $0 + "/k?X-Amz-Signature=00ff", body: [1, 2])
    }
    #expect(lines.count == 1)
    let expected = "debug PUT \(url)/k?X-Amz-Signature=*** 201, 2 B sent, 3 B received, "
    #expect(lines.first?.hasPrefix(expected) == true, "\(lines)")
    #expect(lines.first?.hasSuffix(" ms") == true)
  }

  @Test func `a failed request logs one line at level debug`() async throws {
    let (lines, url) = try await send(.debug, ["HTTP/1.1 200 OK\nContent-"]) {
      HTTPRequest(method: "GET", url: $0 + "/k")
    }
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("debug GET \(url)/k failed: interrupted: ") == true, "\(lines)")
  }

  @Test(arguments: [Logger.Level.debug, .trace])
  func `of a notification only the server is logged`(level: Logger.Level) async throws {
    let (lines, url) = try await send(
      level, hasSecretTargets: true, [ScriptedServer.answer("200 OK")]
    ) {
      HTTPRequest(
        method: "POST", url: $0 + "/services/T0/planted-path?k=planted-query",
        headers: [("X-Api", "planted-header")], body: [1])
    }
    let text = lines.joined(separator: "\n")
    #expect(text.contains("POST \(url)*** 200") && !text.contains("planted"), "\(text)")
  }

  @Test func `nothing is logged at level info`() async throws {
    let (lines, _) = try await send(.info, [ScriptedServer.answer("200 OK")]) {
      HTTPRequest(method: "GET", url: $0)
    }
    #expect(lines.isEmpty)
  }

  @Test func `a trace hides credentials and bodies`() async throws {
    let login = Data("tide:correct horse".utf8).base64EncodedString()
    let answer = ScriptedServer.answer(
      "200 OK",
      headers: ["Set-Cookie: id=choc", "X-Echo: correct horse \(login)", "X-Mad: \u{1b}[2J"],
      body: "what came back")
    let (lines, _) = try await send(
      .trace, proxy: "http://pat:pa%40ss-word@127.0.0.1:PORT", [answer]
    ) { _ in
      HTTPRequest(
        method: "PUT", url: "http://store.invalid/k",
        headers: [("Authorization", "Basic \(login)"), ("X-Other", "the configured one")],
        body: Array("what went out".utf8))
    }
    let text = lines.joined(separator: "\n")
    #expect(text.contains("trace > PUT http://store.invalid/k HTTP/1.1"), "\(text)")
    #expect(text.contains("trace > Authorization: Basic ***"))
    #expect(text.contains("trace > Proxy-Authorization: Basic ***"))
    #expect(text.contains("trace < Set-Cookie: ***"))
    #expect(text.contains("trace < X-Echo: *** ***"))
    #expect(text.contains("trace > (13 bytes of body)"))
    #expect(text.contains("trace < (14 bytes of body)"))
    let proxyLogin = Data("pat:pa@ss-word".utf8).base64EncodedString()
    for secret in [
      login, proxyLogin, "correct horse", "pa@ss-word", "pa%40ss-word", "the configured one",
      "choc",
      "what went", "what came", "\u{1b}",
    ] { #expect(!text.contains(secret), "\(secret)") }
  }
}
