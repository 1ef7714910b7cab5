import Foundation
import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.large)) struct S3StoreTests {
  private func store(
    _ url: String, bucket: String = "logs", now: @escaping @Sendable () -> Timestamp = { .now() }
  ) -> S3Store {
    S3Store(
      bucket: bucket, prefix: "p", service: S3Service(endpoint: url),
      credentials: S3Credentials(
        accessKeyID: "ID", secretAccessKey: "SECRETSECRET", sessionToken: "TOKENTOKEN"),
      transport: .patient(), now: now)
  }

  @Test func `a wrong secret is an authentication error`() async throws {
    let server = try RcloneS3Server()
    let error = await #expect(throws: StoreError.self) {
      try await Backend.s3(server.url, secret: "wrong-secret").put("a", [1])
    }
    #expect(error?.code == .authentication)
    #expect(
      error?.description.hasPrefix("PUT s3://logs/some/prefix/a: 403 SignatureDoesNot") == true)
    #expect(error?.description.contains("wrong-secret") == false)
  }

  @Test func `a missing bucket is a configuration error`() async throws {
    let server = try RcloneS3Server()
    let store = Backend.s3(server.url, bucket: "nowhere")
    for operation in ["put", "list", "get"] {
      let error = await #expect(throws: StoreError.self) {
        switch operation {
        case "put": _ = try await store.put("a", [1])
        case "list": _ = try await store.list("", after: nil)
        default: _ = try await store.get("a")
        }
      }
      #expect(error?.code == .configuration, "\(operation) \(String(describing: error))")
      #expect(error?.advice.contains("Create the bucket nowhere") == true)
    }
  }

  @Test(arguments: ["RequestTimeTooSkewed", "AccessDenied"])
  func `a request refused for clock skew is repeated with the server's time`(
    _ code: String
  ) async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        code == "AccessDenied" ? "400 Bad Request" : "403 Forbidden",
        headers: ["Date: Sat, 21 Nov 2026 12:00:00 GMT"],
        body: "<Error><Code>\(code)</Code></Error>"),
      ScriptedServer.answer("200 OK"),
    ])
    let ours = Timestamp(milliseconds: 1_700_000_000_000)
    _ = try await store(server.url, now: { ours }).put("k", [1])
    let requests = server.received.map(\.head)
    #expect(requests.count == 2)
    #expect(requests.first?.contains("X-Amz-Date: 20231114T221320Z") == true)
    #expect(requests.last?.contains("X-Amz-Date: 20261121T120000Z") == true)
    #expect(requests.last?.contains("X-Amz-Security-Token: TOKENTOKEN") == true)
  }

  @Test func `a wrong region is corrected at most once`() async throws {
    let malformed = ScriptedServer.answer(
      "400 Bad Request",
      body: "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-central-1</Region></Error>")
    let server = try ScriptedServer([malformed, malformed])
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url).put("k", [1])
    }
    #expect(error?.code == .configuration)
    #expect(server.received.map { $0.head.contains("/eu-central-1/s3/") } == [false, true])
  }

  @Test func `a 200 response with an error body is an error`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK", body: "<Error><Code>InternalError</Code></Error>")
    ])
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url).put("k", [1])
    }
    #expect(error?.isTransient == true)
  }

  @Test func `each deleted key has its own outcome`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "200 OK",
        body: """
          <DeleteResult><Deleted><Key>p/a</Key></Deleted><Error><Key>p/b</Key>\
          <Code>AccessDenied</Code></Error></DeleteResult>
          """)
    ])
    let outcomes = try await store(server.url).delete(["a", "b", "c"])
    #expect(outcomes.map(\.error?.code) == [nil, .authentication, .integrity])
  }

  /// A server, or a proxy that explains too much, may repeat what it got.
  @Test func `an error does not repeat the secrets of its request`() async throws {
    let echo = "token TOKENTOKEN, Credential=ID/20260122/x/s3/aws4_request, Signature=00ff00ff00ff"
    func document(_ code: String, _ rest: String = "") -> String {
      "<Error><Key>p/k</Key><Code>\(code)</Code><Message>\(echo)</Message>\(rest)</Error>"
    }
    let region = ScriptedServer.answer(
      "400 Bad Request",
      body: document("AuthorizationHeaderMalformed", "<Region>TOKENTOKEN</Region>"))
    let server = try ScriptedServer([
      ScriptedServer.answer("403 Forbidden", body: document("AccessDenied")),
      ScriptedServer.answer("403 Forbidden", body: document("AccessDenied")),
      ScriptedServer.answer("418 Teapot", body: document("TOKENTOKEN")),
      ScriptedServer.answer(
        "200 OK", body: "<DeleteResult>\(document("InternalError"))</DeleteResult>"),
      region, region,
    ])
    let store = store(server.url)
    func error(_ operation: () async throws -> Void) async -> StoreError? {
      await #expect(throws: StoreError.self) { try await operation() }
    }
    let errors = [
      await error { _ = try await store.put("k", [1]) },
      await error { _ = try await store.list("", after: nil) },
      await error { _ = try await store.get("k") },
      try await store.delete(["k"]).first?.error,
      await error { _ = try await store.put("k", [1]) },
    ]
    for error in errors {
      let text = try #require(error?.description)
      #expect(
        !["TOKENTOKEN", "aws4_request", "00ff00ff00ff"].contains { text.contains($0) }, "\(text)")
      #expect(text.contains("***"))
    }
    #expect(
      errors.map { $0?.code } == [
        .authentication, .authentication, .other, .transient, .configuration,
      ])
  }

  @Test(arguments: [
    "A+b/c=TOKENKEY==", "A%2Bb%2Fc%3DTOKENKEY%3D%3D", "A%2bb%2fc%3dTOKENKEY%3d%3d",
    "SECRET&amp;KEY", "SECRET&amp;amp;KEY", "SECRET%26KEY",
  ])
  func `an error has no form of the token and of the secret key`(echo: String) async throws {
    let body = "<Error><Code>AccessDenied</Code><Message>got \(echo) from you</Message></Error>"
    let server = try ScriptedServer([ScriptedServer.answer("403 Forbidden", body: body)])
    let store = S3Store(
      bucket: "logs", prefix: "p", service: S3Service(endpoint: server.url),
      credentials: S3Credentials(
        accessKeyID: "ID", secretAccessKey: "SECRET&KEY", sessionToken: "A+b/c=TOKENKEY=="),
      transport: .patient(), now: { .now() })
    let error = await #expect(throws: StoreError.self) { _ = try await store.put("k", [1]) }
    #expect(error?.description.contains("got *** from you") == true, "\(error as Any)")
  }

  @Test(arguments: ["<html>", "<!DOCTYPE html><html></html>", "", "<Other/>"])
  func `an invalid listing is not taken for an empty one`(_ body: String) async throws {
    let server = try ScriptedServer([ScriptedServer.answer("200 OK", body: body)])
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url).list("", after: nil)
    }
    #expect(error?.code == .integrity)
  }

  /// A store whose host is served by a scripted proxy, so that a redirect can name another.
  private func proxied(_ server: ScriptedServer) -> S3Store {
    var options = HTTPTransport.Options()
    options.proxy = server.url
    return S3Store(
      bucket: "logs", prefix: "p", service: S3Service(endpoint: "http://s3.example"),
      credentials: S3Credentials(accessKeyID: "ID", secretAccessKey: "S"),
      transport: HTTPTransport(options), now: Timestamp.now)
  }

  @Test(arguments: [true, false])
  func `a temporary redirect applies to one request, signed for its host`(
    inHeader: Bool
  ) async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "307 Temporary Redirect",
        headers: inHeader ? ["Location: http://node1.s3.example/logs/p/k"] : [],
        body: inHeader
          ? ""
          : "<Error><Code>TemporaryRedirect</Code><Endpoint>node1.s3.example</Endpoint></Error>"
      ),
      ScriptedServer.answer("200 OK"), ScriptedServer.answer("200 OK"),
    ])
    let store = proxied(server)
    _ = try await store.put("k", [1, 2, 3])
    _ = try await store.put("k2", [4])
    #expect(
      server.received.map { $0.head.prefix { $0 != "\r\n" } } == [
        "PUT http://s3.example/logs/p/k HTTP/1.1", "PUT http://node1.s3.example/logs/p/k HTTP/1.1",
        "PUT http://s3.example/logs/p/k2 HTTP/1.1",
      ])
    #expect(server.received.map(\.body) == [[1, 2, 3], [1, 2, 3], [4]])
    let signatures = server.received.compactMap {
      $0.head.components(separatedBy: "Signature=").last
    }
    #expect(signatures[0].prefix(64) != signatures[1].prefix(64))
  }

  @Test(arguments: ["http://evil.example/logs/p/k", "http://node1.s3.example/logs/p/k"])
  func `a redirect to another service or a second one is not followed`(
    _ location: String
  ) async throws {
    let redirect = ScriptedServer.answer(
      "307 Temporary Redirect", headers: ["Location: \(location)"])
    let server = try ScriptedServer([redirect, redirect])
    let error = await #expect(throws: StoreError.self) { try await proxied(server).put("k", [1]) }
    #expect(error?.code == .transient)
    #expect(server.received.count == (location.contains("evil") ? 1 : 2))
  }

  @Test func `a redirect without a region asks the bucket for it`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "301 Moved Permanently", body: "<Error><Code>PermanentRedirect</Code></Error>"),
      ScriptedServer.answer("403 Forbidden", headers: ["x-amz-bucket-region: eu-west-2"]),
      ScriptedServer.answer("200 OK"), ScriptedServer.answer("200 OK"),
    ])
    let store = store(server.url)
    _ = try await store.put("k", [1])
    _ = try await store.put("k2", [1])
    let requests = server.received.map(\.head)
    #expect(requests.map { $0.contains("/eu-west-2/s3/") } == [false, false, true, true])
    #expect(requests[1].hasPrefix("HEAD /logs "))
  }

  @Test(arguments: [
    ("<Code>ExpiredToken</Code>", "authentication"),
    ("<Code>AccessDenied</Code>", "authentication"),
    ("<Code>NoSuchBucket</Code>", "configuration"), ("<Code>SlowDown</Code>", "overloaded"),
  ])
  func `a HEAD error without body is explained by a GET`(
    _ code: String, _ meaning: String
  ) async throws {
    let server = try ScriptedServer([
      "HTTP/1.1 400 Bad Request\nConnection: close\n\n",
      ScriptedServer.answer("400 Bad Request", body: "<Error>\(code)</Error>"),
    ])
    let error = await #expect(throws: StoreError.self) { try await store(server.url).head("k") }
    #expect(error?.code.rawValue == meaning)
    #expect(server.received.last?.head.contains("Range: bytes=0-0") == true)
  }

  @Test func `a HEAD error without body still corrects the region`() async throws {
    let server = try ScriptedServer([
      "HTTP/1.1 400 Bad Request\nConnection: close\n\n",
      ScriptedServer.answer(
        "400 Bad Request",
        body: "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-north-1</Region></Error>"),
      "HTTP/1.1 200 OK\nContent-Length: 7\nConnection: close\n\n",
    ])
    #expect(try await store(server.url).head("k").size == 7)
    let heads = server.received.map(\.head)
    #expect(heads.map { $0.prefix(4) } == ["HEAD", "GET ", "HEAD"])
    #expect(heads.last?.contains("/eu-north-1/s3/") == true)
  }

  @Test func `a listing entry without size is skipped`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "200 OK",
        body: """
          <ListBucketResult><IsTruncated>True</IsTruncated>
          <NextContinuationToken>t</NextContinuationToken><Contents><Key>p/a</Key></Contents>
          <Contents><Size>4</Size></Contents><Contents><Key>p/b</Key><Size>3</Size></Contents>
          </ListBucketResult>
          """)
    ])
    let page = try await store(server.url).list("", after: nil)
    #expect(page.objects.map(\.key) == ["b"])
    #expect(page.next == "t")
  }

  @Test func `a service without batch deletion gets one DELETE per key`() async throws {
    let row = try #require(S3Provider.named("google"))
    let server = try ScriptedServer([
      ScriptedServer.answer("204 No Content"), ScriptedServer.answer("404 Not Found"),
    ])
    let store = S3Store(
      bucket: "logs", prefix: "p",
      service: S3Service(endpoint: server.url, region: "auto", pathStyle: nil, provider: row),
      credentials: S3Credentials(accessKeyID: "I", secretAccessKey: "S"),
      transport: .patient(), now: Timestamp.now)
    #expect(try await store.delete(["a", "b"]).allSatisfy { $0.error == nil })
    #expect(server.received.map { $0.head.prefix(7) } == ["DELETE ", "DELETE "])
  }
}
