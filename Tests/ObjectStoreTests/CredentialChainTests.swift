import Foundation
import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

/// When a key is read, and how often.
@Suite(.tags(.medium)) struct CredentialChainTests {
  private static let start = Timestamp(milliseconds: 1_800_000_000_000)

  /// A source that returns a new key at each reading, valid for an hour.
  private final class Rotating: CredentialLink {
    let isConfigured = true
    let looks = Guarded(0)
    let fails = Guarded(false)
    let clock: Guarded<Timestamp>

    init(_ clock: Guarded<Timestamp>) { self.clock = clock }

    func find() async throws -> CredentialFinding {
      let number = looks.withLock {
        $0 += 1
        return $0
      }
      await Task.yield()
      if fails.withLock({ $0 }) {
        throw StoreError.credentials("down", code: .transient, advice: "")
      }
      let key = S3Credentials(
        accessKeyID: "KEY\(number)", secretAccessKey: "s",
        expiration: clock.withLock { ($0 + .seconds(3600)).assumingSynchronizedClocks })
      return .key(key, origin: "a test")
    }
  }

  private let clock = Guarded(CredentialChainTests.start)

  private func advance(_ span: Duration) {
    clock.withLock { $0 = $0 + span }
  }

  private func chain(_ link: any CredentialLink) throws -> CredentialChain {
    try CredentialChain([link], now: { [clock] in clock.withLock { $0 } })
  }

  @Test func `a key is renewed minutes before it expires, by one lookup`() async throws {
    let link = Rotating(clock)
    let chain = try chain(link)
    func ids() async throws -> Set<String> {
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<50 { group.addTask { try await chain.credentials().accessKeyID } }
        return try await group.reduce(into: []) { $0.insert($1) }
      }
    }
    #expect(try await ids() == ["KEY1"])
    advance(.seconds(3600 - 1) - CredentialChain.margin)
    #expect(try await ids() == ["KEY1"])
    advance(.seconds(1))
    #expect(try await chain.credentials().accessKeyID == "KEY2")
    #expect(link.looks.withLock { $0 } == 2)
  }

  @Test func `a failing credential service does no harm while the key is valid`() async throws {
    let link = Rotating(clock)
    let chain = try chain(link)
    _ = try await chain.credentials()
    link.fails.withLock { $0 = true }
    advance(.seconds(3600 - 60))
    for _ in 0..<9 { #expect(try await chain.credentials().accessKeyID == "KEY1") }
    #expect(link.looks.withLock { $0 } == 2)
    advance(.seconds(61))
    let error = await #expect(throws: StoreError.self) { try await chain.credentials() }
    #expect(error?.code == .transient)
    link.fails.withLock { $0 = false }
    #expect(try await chain.credentials().accessKeyID == "KEY4")
  }

  @Test func `a refused key is replaced once for all requests`() async throws {
    let link = Rotating(clock)
    let chain = try chain(link)
    let old = try await chain.credentials()
    let better = await chain.replacement(for: old)
    #expect(better?.accessKeyID == "KEY2")
    #expect(await chain.replacement(for: old)?.accessKeyID == "KEY2")
    #expect(link.looks.withLock { $0 } == 2)
    link.fails.withLock { $0 = true }
    #expect(await chain.replacement(for: try chain.credentials()) == nil)
  }

  @Test(arguments: ["400 ExpiredToken", "403 InvalidAccessKeyId", "400 TokenRefreshRequired"])
  func `a changed credentials file is reread and the request signed again`(
    _ answer: String
  ) async throws {
    let words = answer.split(separator: " ")
    let home = try TemporaryDirectory()
    func write(_ id: String) throws {
      try home.write(
        "[default]\naws_access_key_id = \(id)\naws_secret_access_key = s\n", to: ".aws/credentials")
    }
    try write("OLDKEY")
    let chain = try CredentialChain(
      environment: ["HOME": home.path], settings: StoreSettings.S3(), transport: .patient(),
      now: Timestamp.now)
    try write("NEWKEY")
    let refusal = ScriptedServer.answer(
      "\(words[0]) No", body: "<Error><Code>\(words[1])</Code></Error>")
    let server = try ScriptedServer([refusal, ScriptedServer.answer("200 OK"), refusal])
    let store = S3Store(
      bucket: "logs", prefix: "", service: S3Service(endpoint: server.url), credentials: chain,
      transport: .patient(), now: Timestamp.now)
    _ = try await store.put("k", [1])
    #expect(
      server.received.map { $0.head.contains("Credential=NEWKEY/") } == [false, true])
    // Nothing has changed this time, so nothing is requested twice.
    let error = await #expect(throws: StoreError.self) { try await store.put("k", [1]) }
    #expect(error?.code == .authentication)
    #expect(server.received.count == 3)
  }
}
