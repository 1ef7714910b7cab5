import Foundation
import Platform
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.medium)) struct MultiStatusTests {
  struct Answer: Decodable {
    struct Entry: Decodable {
      let href: String
      let path: String?
      let status: Int?
      let collection: Bool
      let size: ByteCount?
      let mtime: Double?
      let etag: String?
      let displayname: String?
    }
    struct Expected: Decodable {
      let wellFormed: Bool?
      let isMultistatus: Bool?
      let responses: [Entry]?
    }
    let expected: Expected
  }

  @Test(arguments: Fixtures.names("webdav"))
  func `multistatus responses of known servers are parsed`(_ name: String) throws {
    let expected = try Fixtures.json("webdav/\(name).json", as: Answer.self).expected
    let bytes = try Fixtures.bytes("webdav/\(name).xml")
    guard expected.wellFormed != false, expected.isMultistatus == true else {
      #expect(throws: XMLError.self) { try MultiStatus(bytes) }
      return
    }
    let read = try MultiStatus(bytes).responses
    let wanted = try #require(expected.responses)
    try #require(read.count == wanted.count)
    for (made, entry) in zip(read, wanted) {
      #expect(made.href == entry.href)
      #expect(made.path == entry.path)
      #expect(made.status == entry.status)
      #expect(made.isCollection == entry.collection)
      if !entry.collection { #expect(made.size == entry.size) }
      #expect(made.modified.map { Double($0.milliseconds) / 1000 } == entry.mtime)
      #expect(made.etag == entry.etag)
      #expect(made.displayName == entry.displayname)
    }
  }
}
