import Foundation
import HTTPTransport
import ObjectStore
import TestServers
import Testing

@Suite struct S3StoreTests {
  private func store(
    _ url: String, bucket: String = "logs", now: @escaping @Sendable () -> Date = { Date() }
  ) -> S3Store {
    S3Store(
      bucket: bucket, prefix: "p", service: S3Service(endpoint: url),
      credentials: S3Credentials(
        accessKeyID: "ID", secretAccessKey: "SECRETSECRET", sessionToken: "TOKENTOKEN"),
      transport: HTTPTransport(), now: now)
  }

  @Test func aWrongSecretIsAnAuthenticationError() async throws {
    let server = try RcloneS3Server()
    let error = await #expect(throws: StoreError.self) {
      try await Backend.s3(server, secret: "wrong-secret").put("a", [1])
    }
    #expect(error?.code == .authentication)
    #expect(
      error?.description.hasPrefix("PUT s3://logs/some/prefix/a: 403 SignatureDoesNot") == true)
    #expect(error?.description.contains("wrong-secret") == false)
  }

  @Test func aMissingBucketIsAConfigurationError() async throws {
    let server = try RcloneS3Server()
    let store = Backend.s3(server, bucket: "nowhere")
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
  func learnsTheClock(_ code: String) async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        code == "AccessDenied" ? "400 Bad Request" : "403 Forbidden",
        headers: ["Date: Sat, 21 Nov 2026 12:00:00 GMT"],
        body: "<Error><Code>\(code)</Code></Error>"),
      ScriptedServer.answer("200 OK"),
    ])
    let ours = Date(timeIntervalSince1970: 1_700_000_000)
    _ = try await store(server.url, now: { ours }).put("k", [1])
    let requests = server.received.map(\.head)
    #expect(requests.count == 2)
    #expect(requests.first?.contains("X-Amz-Date: 20231114T221320Z") == true)
    #expect(requests.last?.contains("X-Amz-Date: 20261121T120000Z") == true)
    #expect(requests.last?.contains("X-Amz-Security-Token: TOKENTOKEN") == true)
  }

  @Test func learnsTheRegionOnce() async throws {
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

  @Test func aTwoHundredWithAnErrorInsideIsAnError() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK", body: "<Error><Code>InternalError</Code></Error>")
    ])
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url).put("k", [1])
    }
    #expect(error?.isTransient == true)
  }

  @Test func eachDeletedKeyHasItsOwnOutcome() async throws {
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

  @Test(arguments: ["<html>", "<!DOCTYPE html><html></html>", "", "<Other/>"])
  func aListingThatIsNoneIsNotAnEmptyOne(_ body: String) async throws {
    let server = try ScriptedServer([ScriptedServer.answer("200 OK", body: body)])
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url).list("", after: nil)
    }
    #expect(error?.code == .integrity)
  }
}
