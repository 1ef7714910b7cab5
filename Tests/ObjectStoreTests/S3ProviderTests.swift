import Foundation
import Platform
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.small)) struct S3ProviderTests {
  @Test func `every provider has a source, a valid id and a region`() {
    let rows = S3Provider.all
    #expect(rows.count >= 16)
    #expect(Set(rows.map(\.id)).count == rows.count)
    for row in rows {
      #expect(!row.sources.isEmpty && row.sources.allSatisfy { $0.count > 20 }, "\(row.id)")
      #expect(
        row.id.utf8.allSatisfy { (0x61...0x7A).contains($0) || "-0123456789".utf8.contains($0) })
      #expect(row.largestPut >= 8 << 20)
      #expect(S3Service.isRegion(row.region))
      #expect(row.hosts.allSatisfy { $0 == $0.lowercased() && !$0.contains("/") })
    }
    #expect(S3Provider.unknown.id == "other" && S3Provider.unknown.hosts.isEmpty)
  }

  @Test(arguments: [
    ("s3.amazonaws.com", "aws", "", ""), ("s3.eu-west-1.amazonaws.com", "aws", "", "eu-west-1"),
    ("s3-us-west-2.amazonaws.com", "aws", "", "us-west-2"),
    ("S3.EU-West-1.AmazonAWS.com", "aws", "", "eu-west-1"),
    ("s3.dualstack.eu-west-1.amazonaws.com", "aws", "", "eu-west-1"),
    ("s3-fips.us-gov-west-1.amazonaws.com", "aws", "", "us-gov-west-1"),
    ("s3.cn-north-1.amazonaws.com.cn", "aws", "", "cn-north-1"),
    ("b.s3.eu-west-1.amazonaws.com", "aws", "b", "eu-west-1"),
    ("my.logs.s3-eu-west-1.amazonaws.com", "aws", "my.logs", "eu-west-1"),
    ("b.s3.amazonaws.com", "aws", "b", ""),
    ("0123abcd.r2.cloudflarestorage.com", "cloudflare-r2", "", ""),
    ("0123abcd.eu.r2.cloudflarestorage.com", "cloudflare-r2", "", ""),
    ("s3.us-west-004.backblazeb2.com", "backblaze-b2", "", "us-west-004"),
    ("s3.wasabisys.com", "wasabi", "", ""),
    ("s3.eu-central-1.wasabisys.com", "wasabi", "", "eu-central-1"),
    ("nyc3.digitaloceanspaces.com", "digitalocean", "", "nyc3"),
    ("b.fra1.digitaloceanspaces.com", "digitalocean", "b", "fra1"),
    ("storage.googleapis.com", "google", "", ""),
    ("fsn1.your-objectstorage.com", "hetzner", "", "fsn1"),
    ("s3.gra.io.cloud.ovh.net", "ovh", "", "gra"),
    ("s3.fr-par.scw.cloud", "scaleway", "", "fr-par"),
    ("oss-cn-hangzhou.aliyuncs.com", "alibaba-oss", "", "cn-hangzhou"),
    ("oss-cn-hangzhou-internal.aliyuncs.com", "alibaba-oss", "", "cn-hangzhou"),
    ("b.oss-eu-central-1.aliyuncs.com", "alibaba-oss", "b", "eu-central-1"),
  ])
  func `a provider's host gives provider, bucket and region`(
    _ host: String, id: String, bucket: String, region: String
  ) {
    let found = S3Host(host)
    #expect(found?.provider.id == id)
    #expect(found?.bucket ?? "" == bucket)
    #expect(found?.region ?? "" == region)
  }

  @Test(arguments: [
    "localhost", "127.0.0.1", "dav.example.com", "amazonaws.com", "ec2.eu-west-1.amazonaws.com",
    "s3.eu-west-1.amazonaws.com.evil.example", "s3xamazonaws.com", "evil-s3.amazonaws.com",
    "s3-website-eu-west-1.amazonaws.com", "b.s3-website-eu-west-1.amazonaws.com",
    "b.s3-accelerate.amazonaws.com", "123456789012.s3-control.eu-west-1.amazonaws.com",
    "b.nyc3.cdn.digitaloceanspaces.com", "oss-accelerate.aliyuncs.com", "s3..amazonaws.com",
    "r2.cloudflarestorage.com", "pub-0123.r2.dev", "www.googleapis.com", "f004.backblazeb2.com",
    "your-objectstorage.com", "webdav.hidrive.strato.com", "nextcloud.example.org", "",
  ])
  func `similar hosts belong to no provider`(_ host: String) {
    #expect(S3Host(host)?.provider.id == nil)
  }

  @Test(arguments: [
    ("https://s3.us-west-004.backblazeb2.com", "", "us-west-004", "backblaze-b2"),
    ("https://acc.r2.cloudflarestorage.com", "", "auto", "cloudflare-r2"),
    ("https://acc.r2.cloudflarestorage.com", "weur", "weur", "cloudflare-r2"),
    ("https://minio.example:9000", "", "us-east-1", "other"), ("", "", "us-east-1", "aws"),
    ("https://oss-cn-hangzhou.aliyuncs.com", "", "cn-hangzhou", "alibaba-oss"),
  ])
  func `the endpoint determines the region unless it is set`(
    _ endpoint: String, set: String, region: String, id: String
  ) throws {
    var settings = StoreSettings.S3()
    settings.endpoint = endpoint.isEmpty ? nil : endpoint
    settings.region = set.isEmpty ? nil : set
    let service = try S3Service.resolve(environment: ["HOME": "/nonexistent"], settings: settings)
    #expect(service.region == region)
    #expect(service.provider.id == id)
  }

  @Test func `a provider can be configured by name`() throws {
    var settings = StoreSettings.S3()
    settings.endpoint = "https://garage.example"
    settings.provider = "garage"
    let service = try S3Service.resolve(environment: ["HOME": "/nonexistent"], settings: settings)
    #expect(service.region == "garage")
    settings.provider = "nobody"
    let error = #expect(throws: StoreError.self) {
      try S3Service.resolve(environment: ["HOME": "/nonexistent"], settings: settings)
    }
    #expect(error?.advice.contains("cloudflare-r2") == true)
  }

  @Test func `an endpoint that contains a bucket is refused`() throws {
    var settings = StoreSettings.S3()
    settings.endpoint = "https://logs.s3.eu-west-1.amazonaws.com"
    let error = #expect(throws: StoreError.self) {
      try S3Service.resolve(environment: ["HOME": "/nonexistent"], settings: settings)
    }
    #expect(error?.advice.contains("https://s3.eu-west-1.amazonaws.com") == true)
    #expect(error?.advice.contains("s3://logs") == true)
  }

  @Test func `an invalid provider table is an error`() {
    for text in ["[]", "{}", #"[{"id": "a", "name": "a", "hosts": [], "sources": ["s"]}]"#] {
      #expect(throws: (any Error).self) { try S3Provider.read(Data(text.utf8)) }
    }
  }
}
