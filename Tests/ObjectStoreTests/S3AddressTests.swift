import Foundation
import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.medium)) struct S3AddressTests {
  @Test(arguments: [
    ("", "eu-west-1", "logs", "https://logs.s3.eu-west-1.amazonaws.com"),
    ("", "cn-north-1", "logs", "https://logs.s3.cn-north-1.amazonaws.com.cn"),
    ("", "eu-west-1", "my.logs", "https://s3.eu-west-1.amazonaws.com/my.logs"),
    (
      "", "eu-west-1", "ap-alias-0123-s3alias",
      "https://ap-alias-0123-s3alias.s3.eu-west-1.amazonaws.com"
    ),
    ("path", "eu-west-1", "logs", "https://s3.eu-west-1.amazonaws.com/logs"),
    ("https://m.example:9000", "r", "logs", "https://m.example:9000/logs"),
    ("https://m.example/s3", "r", "my.logs", "https://m.example/s3/my.logs"),
    ("virtual https://m.example:9000/s3", "r", "logs", "https://logs.m.example:9000/s3"),
    (
      "https://oss-cn-hangzhou.aliyuncs.com", "cn-hangzhou", "logs",
      "https://logs.oss-cn-hangzhou.aliyuncs.com"
    ),
    (
      "https://s3.eu-west-1.amazonaws.com", "eu-west-1", "logs",
      "https://logs.s3.eu-west-1.amazonaws.com"
    ),
    (
      "", "us-east-1", "arn:aws:s3:eu-west-1:123456789012:accesspoint/logs",
      "https://logs-123456789012.s3-accesspoint.eu-west-1.amazonaws.com"
    ),
    (
      "", "us-east-1", "arn:aws-cn:s3:cn-north-1:123456789012:accesspoint/a-b",
      "https://a-b-123456789012.s3-accesspoint.cn-north-1.amazonaws.com.cn"
    ),
  ])
  func `an S3 address follows from endpoint, region, bucket and path style`(
    _ endpoint: String, region: String, bucket: String, url: String
  ) {
    let words = endpoint.split(separator: " ")
    let pathStyle = words.first == "path" ? true : words.first == "virtual" ? false : nil
    let service = S3Service(
      endpoint: words.last { $0.hasPrefix("http") }.map(String.init), region: region,
      pathStyle: pathStyle)
    let (origin, path) = service.address(bucket, region: region)
    #expect(origin + path == url)
  }

  @Test(arguments: [
    (
      "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/logs/a//b/",
      "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/logs/a/b"
    ),
    (
      "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint:logs/a",
      "s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/logs/a"
    ),
    ("s3://arn:aws:s3::123456789012:accesspoint/x.mrap", ""),
    ("s3://arn:aws:s3:eu-west-1:123456789012:accesspoint", ""),
    ("s3://arn:aws:s3:eu-west-1:1234:accesspoint/x", ""),
    ("s3://arn:aws:s3-outposts:eu-west-1:123456789012:outpost/o/accesspoint/x", ""),
    ("s3://arn:evil:s3:eu-west-1:123456789012:accesspoint/x", ""),
    ("s3://arn:aws:s3:eu.evil:123456789012:accesspoint/x", ""),
    ("s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/x/ä", ""),
  ])
  func `access point ARNs are read in both spellings`(_ text: String, canonical: String) throws {
    guard !canonical.isEmpty else {
      #expect(throws: StoreError.self) { try StoreURL(text) }
      return
    }
    #expect(try StoreURL(text).description == canonical)
    #expect(try StoreURL(canonical).description == canonical)
  }

  @Test(arguments: [
    (
      "https://logs.s3.eu-west-1.amazonaws.com/a/b",
      "Write s3://logs/a/b and set s3.region: eu-west-1."
    ),
    (
      "https://s3.eu-west-1.amazonaws.com/logs/a", "Write s3://logs/a and set s3.region: eu-west-1."
    ),
    ("https://s3.amazonaws.com/logs", "Write s3://logs."),
    (
      "https://acc.r2.cloudflarestorage.com/logs",
      "Write s3://logs and set s3.endpoint: https://acc.r2.cloudflarestorage.com."
    ),
    (
      "https://logs.nyc3.digitaloceanspaces.com/",
      "Write s3://logs and set s3.endpoint: https://nyc3.digitaloceanspaces.com and s3.region: nyc3."
    ),
  ])
  func `a pasted bucket URL is refused with its s3 form`(_ text: String, advice: String) throws {
    let error = #expect(throws: StoreError.self) { try StoreURL(text) }
    #expect(error?.code == .configuration)
    #expect(error?.advice == advice)
  }

  @Test func `an access point with an endpoint is a configuration error`() throws {
    let url = try StoreURL("s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/logs")
    var settings = StoreSettings(machine: .current)
    settings.s3.endpoint = "https://m.example"
    settings.s3.accessKeyID = "I"
    settings.s3.secretAccessKey = "S"
    let error = #expect(throws: StoreError.self) {
      try openStore(url, settings: settings, environment: ["HOME": "/nonexistent"])
    }
    #expect(error?.code == .configuration)
  }

  // MARK: Options for each object

  private func headers(
    _ encryption: String?, _ key: String?, _ storage: String?, _ provider: String = "aws"
  ) throws -> [String] {
    var settings = StoreSettings.S3()
    settings.serverSideEncryption = encryption
    settings.kmsKeyID = key
    settings.storageClass = storage
    let row = try #require(S3Provider.named(provider))
    return try S3ObjectOptions.resolve(settings, row).headers.map { "\($0.name): \($0.value)" }
  }

  @Test func `encryption and storage class become headers and are validated`() throws {
    #expect(try headers(nil, nil, nil) == [])
    #expect(
      try headers("aws:kms", "arn:k", "STANDARD_IA") == [
        "x-amz-server-side-encryption: aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id: arn:k", "x-amz-storage-class: STANDARD_IA",
      ])
    #expect(try headers(nil, nil, "ANYTHING", "minio") == ["x-amz-storage-class: ANYTHING"])
    #expect(throws: StoreError.self) { try headers("rot13", nil, nil) }
    #expect(throws: StoreError.self) { try headers("AES256", "arn:k", nil) }
    #expect(throws: StoreError.self) { try headers(nil, nil, "NEARLINE") }
    #expect(throws: StoreError.self) { try headers(nil, nil, "GLACIER", "minio") }
  }

  @Test func `encryption headers are signed, and a foreign ETag proves nothing`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK", headers: ["ETag: \"0123456789abcdef0123456789abcdef\""])
    ])
    let store = S3Store(
      bucket: "logs", prefix: "p", service: S3Service(endpoint: server.url),
      credentials: S3Credentials(accessKeyID: "I", secretAccessKey: "S"),
      options: S3ObjectOptions(headers: [(name: "x-amz-server-side-encryption", value: "aws:kms")]),
      transport: .patient(), now: Timestamp.now)
    #expect(try await store.put("k", [1]).provesContent == false)
    let head = try #require(server.received.first?.head)
    #expect(head.contains("x-amz-server-side-encryption: aws:kms"))
    #expect(head.contains("x-amz-date;x-amz-server-side-encryption, Signature="))
  }
}
