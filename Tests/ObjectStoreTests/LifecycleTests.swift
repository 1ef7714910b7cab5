import Crypto
import Foundation
import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.large)) struct LifecycleTests {
  private func rule(_ days: Int = 60) throws -> LifecycleRule {
    try LifecycleRule(StoreURL("s3://logs/a/b"), below: "devices/", days: days)
  }

  private func bucket(_ server: ScriptedServer) -> BucketLifecycle {
    BucketLifecycle(
      S3Store(
        bucket: "logs", prefix: "a/b", service: S3Service(endpoint: server.url),
        credentials: S3Credentials(accessKeyID: "I", secretAccessKey: "S"),
        transport: .patient(), now: Timestamp.now))
  }

  private static let none = ScriptedServer.answer(
    "404 Not Found", body: "<Error><Code>NoSuchLifecycleConfiguration</Code></Error>")

  /// A foreign rule with unknown elements.
  private static let foreign = """
    <Rule><ID>keep &amp; me</ID><Filter><And><Prefix>x/</Prefix><Tag><Key>k</Key><Value> v </Value>\
    </Tag></And></Filter><Status>Enabled</Status><!-- note --><Future odd="1"><Thing/></Future>\
    <Transition><Days>3</Days><StorageClass>GLACIER</StorageClass></Transition></Rule>
    """

  private func configuration(_ rules: String...) -> String {
    "<?xml version=\"1.0\"?>\n<LifecycleConfiguration "
      + "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\n\(rules.joined(separator: "\n"))"
      + "</LifecycleConfiguration>"
  }

  @Test func `the lifecycle rule covers only the store's prefix`() throws {
    let rule = try rule()
    #expect(rule.prefix == "a/b/devices/")
    #expect(rule.document.contains("<Prefix>a/b/devices/</Prefix>"))
    #expect(rule.document.contains("<Days>60</Days>"))
    let document = try #require(LifecycleDocument(Array(rule.document.utf8)))
    #expect(document.holds(rule))
    #expect(try !document.holds(self.rule(61)))
    #expect(try rule.id != LifecycleRule(StoreURL("s3://logs"), below: "devices/", days: 60).id)
    #expect(
      try LifecycleRule(StoreURL("s3://logs"), below: "devices/", days: 1).prefix == "devices/")
  }

  @Test(arguments: [
    "https://h/dav", "file:///srv", "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/logs",
  ])
  func `only S3 buckets have lifecycle rules`(_ url: String) throws {
    let error = #expect(throws: StoreError.self) {
      try LifecycleRule(StoreURL(url), below: "devices/", days: 60)
    }
    #expect(error?.code == .unsupported)
  }

  @Test func `a new rule is sent with its digest and read back`() async throws {
    let rule = try rule()
    let server = try ScriptedServer([
      Self.none, Self.none, ScriptedServer.answer("200 OK"),
      ScriptedServer.answer("200 OK", body: rule.document),
    ])
    let bucket = bucket(server)
    let plan = try await bucket.plan(rule)
    #expect(!plan.isInstalled && plan.kept.isEmpty && plan.former == nil)
    try await bucket.install(plan)
    let requests = server.received
    #expect(requests.map { $0.head.prefix(4) } == ["GET ", "GET ", "PUT ", "GET "])
    #expect(requests.allSatisfy { $0.head.contains("/logs/?lifecycle= ") })
    #expect(requests[2].body == Array(rule.document.utf8))
    let digest = Data(Insecure.MD5.hash(data: requests[2].body)).base64EncodedString()
    #expect(requests[2].head.contains("Content-MD5: \(digest)"))
  }

  @Test func `rules of others are kept byte for byte`() async throws {
    let rule = try rule()
    let present = configuration(Self.foreign, try self.rule(7).element(hasFilter: true))
    let wanted = configuration(Self.foreign, rule.element(hasFilter: true))
    let header = "x-amz-transition-default-minimum-object-size"
    let answer = ScriptedServer.answer(
      "200 OK", headers: ["\(header): varies_by_storage_class"], body: present)
    // The configuration reads back in another order.
    let server = try ScriptedServer([
      answer, answer, ScriptedServer.answer("200 OK"),
      ScriptedServer.answer(
        "200 OK", body: configuration(rule.element(hasFilter: true), Self.foreign)),
    ])
    let plan = try await bucket(server).plan(rule)
    #expect(plan.kept == ["keep & me"])
    #expect(plan.former?.contains("<Days>7</Days>") == true)
    try await bucket(server).install(plan)
    #expect(String(decoding: server.received[2].body, as: UTF8.self) == wanted)
    #expect(server.received[2].head.contains("\(header): varies_by_storage_class"))
  }

  @Test func `an installed rule is not written again`() async throws {
    let rule = try rule()
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "200 OK", body: configuration(Self.foreign, rule.element(hasFilter: true)))
    ])
    let plan = try await bucket(server).plan(rule)
    #expect(plan.isInstalled)
    try await bucket(server).install(plan)
    #expect(server.received.count == 1)
  }

  @Test func `a configuration without filters gets a rule without one`() throws {
    let old =
      "<Rule><ID>o</ID><Prefix>x</Prefix><Status>Enabled</Status>"
      + "<Expiration><Days>1</Days></Expiration></Rule>"
    let present = try #require(LifecycleDocument(Array(configuration(old).utf8)))
    let merged = try #require(present.merging(try rule()))
    let text = String(decoding: merged.bytes, as: UTF8.self)
    #expect(!text.contains("<Filter>") && text.contains(old))
    #expect(merged.keeps(present, besides: try rule()))
  }

  @Test(arguments: [
    "<LifecycleConfiguration/>", "<LifecycleConfiguration></LifecycleConfiguration>",
  ])
  func `an empty lifecycle configuration is replaced`(_ text: String) throws {
    let merged = LifecycleDocument(Array(text.utf8))?.merging(try rule())
    #expect(merged?.rules.count == 1)
  }

  @Test(arguments: [
    "<p:LifecycleConfiguration xmlns:p=\"u\"><p:Rule><p:ID>a</p:ID></p:Rule></p:LifecycleConfiguration>",
    "<LifecycleConfiguration><Other/></LifecycleConfiguration>",
  ])
  func `a lifecycle configuration of unknown form is refused`(_ text: String) async throws {
    let server = try ScriptedServer([ScriptedServer.answer("200 OK", body: text)])
    let error = await #expect(throws: StoreError.self) { try await bucket(server).plan(rule()) }
    #expect(error?.code == .unsupported)
  }

  @Test(arguments: [
    "<ListBucketResult><Name>logs</Name></ListBucketResult>", "<html></html>", "", "nonsense",
  ])
  func `an unexpected lifecycle response prevents writing`(_ body: String) async throws {
    let server = try ScriptedServer([ScriptedServer.answer("200 OK", body: body)])
    let error = await #expect(throws: StoreError.self) { try await bucket(server).plan(rule()) }
    #expect(error?.code == .unsupported)
    #expect(server.received.count == 1)
  }

  @Test func `no lifecycle rule is written to rclone`() async throws {
    let server = try RcloneS3Server()
    let bucket = BucketLifecycle(Backend.s3(server.url))
    let error = await #expect(throws: StoreError.self) { try await bucket.plan(rule()) }
    #expect(error?.code == .unsupported)
    #expect(error?.response.contains("ListBucketResult") == true)
  }

  @Test(arguments: [("404 Not Found", "NoSuchBucket"), ("403 Forbidden", "AccessDenied")])
  func `an error response is not taken for an empty configuration`(
    _ status: String, _ code: String
  ) async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(status, body: "<Error><Code>\(code)</Code></Error>")
    ])
    let error = await #expect(throws: StoreError.self) { try await bucket(server).plan(rule()) }
    #expect([.configuration, .authentication].contains(error?.code))
    #expect(server.received.count == 1)
  }

  @Test func `a configuration changed meanwhile is not overwritten`() async throws {
    let server = try ScriptedServer([
      Self.none, ScriptedServer.answer("200 OK", body: configuration(Self.foreign)),
    ])
    let bucket = bucket(server)
    let plan = try await bucket.plan(rule())
    let error = await #expect(throws: StoreError.self) { try await bucket.install(plan) }
    #expect(error?.code == .conflict)
    #expect(server.received.count == 2)
  }

  @Test func `a foreign rule missing when read back is an error`() async throws {
    let present = ScriptedServer.answer("200 OK", body: configuration(Self.foreign))
    let rule = try rule()
    let server = try ScriptedServer([
      present, present, ScriptedServer.answer("200 OK"),
      ScriptedServer.answer("200 OK", body: rule.document),
    ])
    let bucket = bucket(server)
    let plan = try await bucket.plan(rule)
    let error = await #expect(throws: StoreError.self) { try await bucket.install(plan) }
    #expect(error?.code == .integrity)
  }
}
