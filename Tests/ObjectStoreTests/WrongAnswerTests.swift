import Foundation
import HTTPTransport
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// Answers that are well formed but wrong: none counts as success, none costs memory or time beyond
/// its bound.
@Suite(.tags(.medium)) struct WrongAnswerTests {
  enum Kind: String, CaseIterable { case s3, webdav }

  private static func store(_ kind: Kind, _ server: ScriptedServer) -> any ObjectStore {
    switch kind {
    case .s3:
      S3Store(
        bucket: "logs", prefix: "p", service: S3Service(endpoint: server.url),
        credentials: S3Credentials(accessKeyID: "ID", secretAccessKey: "SECRET"),
        transport: .patient(), now: Timestamp.now)
    case .webdav:
      WebDAVStore(url: server.url + "/p", login: nil, transport: .patient())
    }
  }

  /// The operations by name; any result but an error fails the test.
  private static let operations: [String: @Sendable (any ObjectStore) async throws -> Void] = [
    "PUT": { _ = try await $0.put("k", [1, 2, 3]) },
    "GET": { _ = try await $0.get("k") },
    "PART": { _ = try await $0.get("k", range: .bytes(offset: 2, count: 3)) },
    "HEAD": { _ = try await $0.head("k") },
    "LIST": { _ = try await $0.listAll("") },
    "DELETE": { if let error = try await $0.delete(["k"])[0].error { throw error } },
  ]

  /// The error of an operation for some answers.
  private func error(
    _ kind: Kind, _ operation: String, _ server: ScriptedServer
  ) async throws -> StoreError? {
    let request = try #require(Self.operations[operation])
    return await #expect(throws: StoreError.self, "\(kind) \(operation)") {
      try await request(Self.store(kind, server))
    }
  }

  @Test(arguments: Kind.allCases, ["PUT", "GET", "LIST", "DELETE"])
  func `a login page is not taken for a response`(_ kind: Kind, _ operation: String) async throws {
    let page = ScriptedServer.answer(
      "200 OK", headers: ["Content-Type: text/html; charset=utf-8"],
      body: "\n<!DOCTYPE html>\n<html><body><form action=/login></form></body></html>")
    let server = try ScriptedServer([page, page])
    #expect(try await error(kind, operation, server)?.code == .integrity)
  }

  struct WrongBody: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let operation: String
    let answer: String
    let code: StoreError.Code
  }

  static let bodies: [WrongBody] = [
    .init(
      testDescription: "a short body", operation: "GET",
      answer: "HTTP/1.1 200 OK\nContent-Length: 10\nConnection: close\n\nfive5", code: .transient),
    .init(
      testDescription: "a short part", operation: "PART",
      answer: """
        HTTP/1.1 206 Partial
        Content-Length: 3
        Content-Range: bytes 2-4/9
        Connection: close

        23
        """, code: .transient),
    .init(
      testDescription: "another part", operation: "PART",
      answer: ScriptedServer.answer(
        "206 Partial", headers: ["Content-Range: bytes 3-5/9"], body: "345"), code: .integrity),
    .init(
      testDescription: "a longer part", operation: "PART",
      answer: ScriptedServer.answer(
        "206 Partial", headers: ["Content-Range: bytes 2-5/9"], body: "2345"), code: .integrity),
    .init(
      testDescription: "a part beyond all numbers", operation: "PART",
      answer: ScriptedServer.answer(
        "206 Partial", headers: ["Content-Range: bytes 9223372036854775807-9/9"], body: "234"),
      code: .integrity),
    .init(
      testDescription: "a part that does not say which", operation: "PART",
      answer: ScriptedServer.answer("206 Partial", body: "234"), code: .integrity),
    .init(
      testDescription: "a part for the whole", operation: "GET",
      answer: ScriptedServer.answer(
        "206 Partial", headers: ["Content-Range: bytes 0-2/9"], body: "012"), code: .integrity),
    .init(
      testDescription: "no content", operation: "GET", answer: "HTTP/1.1 204 No Content\n\n",
      code: .integrity),
    .init(
      testDescription: "packed on the way", operation: "GET",
      answer: ScriptedServer.answer("200 OK", headers: ["Content-Encoding: gzip"], body: "\u{1f}x"),
      code: .integrity),
    .init(
      testDescription: "a part of what was packed on the way", operation: "PART",
      answer: ScriptedServer.answer(
        "206 Partial", headers: ["Content-Encoding: gzip", "Content-Range: bytes 2-4/9"],
        body: "234"), code: .integrity),
    .init(
      testDescription: "half a head", operation: "PUT", answer: "HTTP/1.1 200 OK\nDate: Sat, 2",
      code: .transient),
    .init(
      testDescription: "half a status line", operation: "PUT", answer: "HTTP/1.1 20",
      code: .transient),
    .init(testDescription: "nothing", operation: "PUT", answer: "", code: .transient),
    .init(
      testDescription: "no HTTP", operation: "GET", answer: "SSH-2.0-OpenSSH_9.2\n\n",
      code: .configuration),
  ]

  @Test(arguments: Kind.allCases, bodies)
  func `a wrong body is not taken for an object`(_ kind: Kind, _ wrong: WrongBody) async throws {
    let server = try ScriptedServer([wrong.answer, wrong.answer])
    let error = try await error(kind, wrong.operation, server)
    #expect(error?.code == wrong.code, "\(String(describing: error))")
  }

  struct Flood: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let head: String
    let piece: String
  }

  static let floods: [Flood] = [
    .init(
      testDescription: "interim answers", head: "", piece: "HTTP/1.1 103 Early Hints\r\n\r\n"),
    .init(
      testDescription: "interim answers with headers", head: "",
      piece: "HTTP/1.1 100 Continue\r\nA: \(String(repeating: "x", count: 900))\r\n\r\n"),
    .init(testDescription: "headers", head: "HTTP/1.1 200 OK\r\n", piece: "A: b\r\n"),
    .init(testDescription: "one header", head: "HTTP/1.1 200 OK\r\nA: ", piece: "xyzw"),
    .init(testDescription: "body", head: "HTTP/1.1 200 OK\r\n\r\n", piece: "<x>"),
    .init(
      testDescription: "a body that says how long it is",
      head: "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n", piece: "<x>"),
    .init(
      testDescription: "chunks",
      head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      piece: "2000\r\n\(String(repeating: "x", count: 0x2000))\r\n"),
    .init(
      testDescription: "trailers",
      head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", piece: "A: b\r\n"),
  ]

  @Test(arguments: Kind.allCases, floods)
  func `an endless response ends at the size limit`(_ kind: Kind, _ flood: Flood) async throws {
    for operation in ["PUT", "GET"] {
      let server = try ScriptedServer(head: flood.head, endlessly: flood.piece)
      let error = try await error(kind, operation, server)
      #expect(
        error.map { [.integrity, .transient, .other].contains($0.code) } == true,
        "\(operation): \(String(describing: error))")
    }
  }
}
