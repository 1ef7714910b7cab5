import Foundation
import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

/// Keys from network services, each scripted.
@Suite(.tags(.medium)) struct CredentialServiceTests {
  private static let key = """
    {"Code": "Success", "AccessKeyId": "ROLEKEY", "SecretAccessKey": "ROLESECRET", \
    "Token": "ROLETOKEN", "Expiration": "2026-11-21T18:00:00Z"}
    """

  private func key(_ finding: CredentialFinding) throws -> S3Credentials {
    guard case .key(let key, let origin) = finding else {
      throw StoreError.credentials("no key", advice: "")
    }
    #expect(!origin.contains(key.secretAccessKey) && !origin.contains(key.accessKeyID))
    return key
  }

  private func refused(_ look: () async throws -> CredentialFinding) async -> StoreError? {
    let error = await #expect(throws: StoreError.self) { try await look() }
    #expect(error?.description.contains("ROLESECRET") == false)
    #expect(error?.description.contains("WEBTOKEN") == false)
    return error
  }

  // MARK: Instance

  private func instance(_ endpoint: String) -> InstanceCredentials {
    InstanceCredentials(
      environment: ["AWS_EC2_METADATA_SERVICE_ENDPOINT": endpoint + "/"], transport: .patient())
  }

  @Test func `the instance role is read with metadata service version 2`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK", body: "METATOKEN"),
      ScriptedServer.answer("200 OK", body: "my-role\nother"),
      ScriptedServer.answer("200 OK", body: Self.key),
    ])
    let found = try key(try await instance(server.url).find())
    #expect(found.accessKeyID == "ROLEKEY" && found.sessionToken == "ROLETOKEN")
    #expect(found.expiration == HTTPDate.parse("2026-11-21T18:00:00Z"))
    let heads = server.received.map(\.head)
    #expect(heads.count == 3)
    #expect(heads[0].hasPrefix("PUT /latest/api/token "))
    #expect(heads[0].contains("X-aws-ec2-metadata-token-ttl-seconds: 21600"))
    #expect(heads[1].hasPrefix("GET /latest/meta-data/iam/security-credentials/ "))
    #expect(heads[2].hasPrefix("GET /latest/meta-data/iam/security-credentials/my-role "))
    #expect(heads[2].contains("X-aws-ec2-metadata-token: METATOKEN"))
  }

  @Test(arguments: ["404 Not Found", "403 Forbidden", "405 Method Not Allowed", "401 Unauthorized"])
  func `metadata service version 1 is never used`(_ status: String) async throws {
    let server = try ScriptedServer([ScriptedServer.answer(status)])
    guard case .nothing = try await instance(server.url).find() else {
      Issue.record("a key from nowhere")
      return
    }
    #expect(server.received.count == 1)
  }

  @Test func `an instance without a role has no credentials`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK", body: "T"), ScriptedServer.answer("404 Not Found"),
    ])
    guard case .nothing(let what) = try await instance(server.url).find() else {
      Issue.record("a key from nowhere")
      return
    }
    #expect(what == "this machine has no role")
  }

  @Test func `a role that cannot be assumed is an authentication error`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK", body: "T"), ScriptedServer.answer("200 OK", body: "role"),
      ScriptedServer.answer("200 OK", body: #"{"Code": "AssumeRoleUnauthorizedAccess"}"#),
    ])
    let error = await refused { try await instance(server.url).find() }
    #expect(error?.code == .authentication)
    #expect(error?.description.contains("AssumeRoleUnauthorizedAccess") == true)
  }

  @Test func `an unresponsive or disabled metadata service gives no credentials`() async throws {
    let mute = try ScriptedServer()
    let impatient = InstanceCredentials(
      environment: ["AWS_EC2_METADATA_SERVICE_ENDPOINT": mute.url + "/"])
    guard case .nothing = try await impatient.find() else {
      Issue.record("a key from nowhere")
      return
    }
    let disabled = InstanceCredentials(environment: [
      "AWS_EC2_METADATA_SERVICE_ENDPOINT": mute.url, "AWS_EC2_METADATA_DISABLED": "True",
    ])
    guard case .nothing("instance metadata is disabled") = try await disabled.find() else {
      Issue.record("it was asked")
      return
    }
  }

  @Test func `missing credentials are reported with every place searched`() async throws {
    let server = try ScriptedServer([ScriptedServer.answer("404 Not Found")])
    let chain = try CredentialChain(
      environment: ["HOME": "/nonexistent", "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url],
      settings: StoreSettings.S3(), transport: .patient(), now: Timestamp.now)
    let error = await #expect(throws: StoreError.self) { try await chain.credentials() }
    #expect(error?.code == .configuration)
    for place in [
      "AWS_ACCESS_KEY_ID is", "s3.access-key-id", "AWS_WEB_IDENTITY_TOKEN_FILE", "profile default",
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", server.url,
    ] {
      #expect(error?.response.contains(place) == true, "\(place) in \(error?.response ?? "")")
    }
    // The second request does not search again: the server has no second answer.
    let again = await #expect(throws: StoreError.self) { try await chain.credentials() }
    #expect(again == error)
  }

  // MARK: Container

  @Test func `the container role is read with the token file`() async throws {
    let folder = try TemporaryDirectory()
    try folder.write("Basic abc\n", to: "token")
    let server = try ScriptedServer([ScriptedServer.answer("200 OK", body: Self.key)])
    let link = ContainerCredentials(
      environment: [
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url + "/creds?id=1",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": "old",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": folder.path + "/token",
      ], transport: .patient())
    #expect(link.isConfigured)
    #expect(try key(try await link.find()).accessKeyID == "ROLEKEY")
    let head = try #require(server.received.first?.head)
    #expect(head.hasPrefix("GET /creds?id=1 "))
    #expect(head.contains("Authorization: Basic abc\r\n") || head.hasSuffix("Basic abc"))
  }

  @Test(arguments: [
    ("https://creds.example/x", true), ("http://localhost:51679/x", true),
    ("http://127.0.0.1/x", true), ("http://[::1]:80/x", true), ("http://169.254.170.2/v2", true),
    ("http://169.254.170.23/v1", true), ("http://[fd00:ec2::23]/v1", true),
    ("http://creds.example/x", false), ("http://169.254.169.254/x", false),
    ("http://127.0.0.1@evil.example/x", false), ("http://127.0.0.1.evil.example/", false),
    ("http://169.254.170.2.evil.example/", false), ("http://evil.example\\@127.0.0.1/", false),
    ("http://evil.example#@127.0.0.1/", false), ("ftp://127.0.0.1/x", false), ("/x", false),
    ("http://", false), ("http://127.0.0.1/\r\nX: y", false),
  ])
  func `container credentials are fetched only over HTTPS or from local hosts`(
    _ url: String, allowed: Bool
  ) async throws {
    #expect(ContainerCredentials.mayBeAsked(url) == allowed)
    guard !allowed else { return }
    let link = ContainerCredentials(environment: ["AWS_CONTAINER_CREDENTIALS_FULL_URI": url])
    let error = await refused { try await link.find() }
    #expect(error?.code == .configuration)
  }

  @Test(arguments: [("403 Forbidden", "authentication"), ("500 Oops", "transient")])
  func `a container credential error maps to an error code`(
    _ status: String, _ code: String
  ) async throws {
    let server = try ScriptedServer([ScriptedServer.answer(status, body: Self.key)])
    let link = ContainerCredentials(
      environment: ["AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url], transport: .patient())
    #expect(await refused { try await link.find() }?.code.rawValue == code)
  }

  // MARK: Web identity

  private func web(_ server: ScriptedServer, _ folder: TemporaryDirectory) throws
    -> WebIdentityCredentials
  {
    try folder.write("WEBTOKEN.a+b\n", to: "token")
    return WebIdentityCredentials(
      environment: [
        "AWS_WEB_IDENTITY_TOKEN_FILE": folder.path + "/token",
        "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/logs", "AWS_ENDPOINT_URL_STS": server.url,
        "AWS_ROLE_SESSION_NAME": "me",
      ], region: "eu-west-1", transport: .patient())
  }

  @Test func `a web identity token is exchanged for a role's credentials`() async throws {
    let folder = try TemporaryDirectory()
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "200 OK",
        body: """
          <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
          <AssumeRoleWithWebIdentityResult><Credentials><SessionToken>ROLETOKEN</SessionToken>
          <SecretAccessKey>ROLESECRET</SecretAccessKey><Expiration>2026-11-21T18:00:00Z</Expiration>
          <AccessKeyId>ROLEKEY</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>
          </AssumeRoleWithWebIdentityResponse>
          """)
    ])
    let found = try key(try await web(server, folder).find())
    #expect(found.secretAccessKey == "ROLESECRET" && found.sessionToken == "ROLETOKEN")
    #expect(found.expiration == HTTPDate.parse("2026-11-21T18:00:00Z"))
    let request = try #require(server.received.first)
    #expect(request.head.hasPrefix("POST / "))
    let body = String(decoding: request.body, as: UTF8.self)
    #expect(body.contains("Action=AssumeRoleWithWebIdentity&Version=2011-06-15"))
    #expect(body.contains("RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Flogs"))
    #expect(body.hasSuffix("RoleSessionName=me&WebIdentityToken=WEBTOKEN.a%2Bb"))
  }

  @Test func `a refused web identity token is reported with its cause`() async throws {
    let folder = try TemporaryDirectory()
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "400 Bad Request",
        body: "<ErrorResponse><Error><Code>ExpiredTokenException</Code>"
          + "<Message>WEBTOKEN.a+b</Message></Error></ErrorResponse>")
    ])
    let link = try web(server, folder)
    let error = await refused { try await link.find() }
    #expect(error?.code == .authentication)
    #expect(error?.description.contains("STS answered 400 ExpiredTokenException") == true)
  }

  /// With the token as the cause, and as what is no HTTP at all.
  @Test(arguments: [
    ScriptedServer.answer(
      "400 Bad Request",
      body: "<ErrorResponse><Error><Code>got WEBTOKEN.a%2Bb</Code></Error></ErrorResponse>"),
    "HTTP/1.1 WEBTOKEN.a+b\r\n\r\n",
  ])
  func `a token that a service echoes is masked`(_ answer: String) async throws {
    let folder = try TemporaryDirectory()
    let server = try ScriptedServer([answer])
    let link = try web(server, folder)
    #expect(await refused { try await link.find() } != nil)
  }

  @Test func `a web identity token without a role is a configuration error`() async throws {
    let link = WebIdentityCredentials(
      environment: ["AWS_WEB_IDENTITY_TOKEN_FILE": "/nonexistent"], region: "eu-west-1",
      transport: .patient())
    #expect(await refused { try await link.find() }?.response.contains("AWS_ROLE_ARN") == true)
  }
}
