import Foundation
import ObjectStore
import TestSupport
import Testing

@Suite(.tags(.small)) struct NeededRightsTests {
  private func statements(_ text: String) throws -> [[String: Any]] {
    let policy = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    return try #require(policy?["Statement"] as? [[String: Any]])
  }

  @Test func `a device policy grants only the device's own prefix`() throws {
    let rights = NeededRights(try StoreURL("s3://bucket/some/prefix"))
    let grant = try #require(rights.deviceGrant("devices/abc/"))
    let found = try statements(grant)
    #expect(
      found.compactMap { $0["Resource"] as? String } == [
        "arn:aws:s3:::bucket", "arn:aws:s3:::bucket/some/prefix/tidemark.json",
        "arn:aws:s3:::bucket/some/prefix/devices/abc/*",
      ])
    let condition = found[0]["Condition"] as? [String: [String: String]]
    #expect(condition == ["StringLike": ["s3:prefix": "some/prefix/devices/abc/*"]])
    #expect(found[2]["Action"] as? [String] == ["s3:PutObject", "s3:GetObject", "s3:DeleteObject"])
    #expect(try statements(rights.grant).count == 2)
    #expect(NeededRights(try StoreURL("file:///srv/logs")).deviceGrant("devices/abc/") == nil)
  }

  @Test func `without a prefix, granted keys start at the bucket's root`() throws {
    let grant = NeededRights(try StoreURL("s3://bucket")).deviceGrant("devices/abc/")
    #expect(grant?.contains("arn:aws:s3:::bucket/devices/abc/*") == true)
    #expect(grant?.contains("arn:aws:s3:::bucket/tidemark.json") == true)
  }
}
