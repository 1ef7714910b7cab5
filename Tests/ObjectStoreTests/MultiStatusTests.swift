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

  /// The properties were read once for each of the names.
  @Test(arguments: [1, 2, 20_000])
  func `names of one response share its properties`(_ count: Int) throws {
    let hrefs = (0..<count).map { "<href>/\($0)</href>" }.joined()
    let property = """
      <propstat><prop><getcontentlength>7</getcontentlength></prop>\
      <status>HTTP/1.1 200 OK</status></propstat>
      """
    let properties = String(repeating: property, count: count)
    let answer =
      "<multistatus xmlns=\"DAV:\"><response>\(hrefs)\(properties)</response></multistatus>"
    let read = try MultiStatus(Array(answer.utf8)).responses
    #expect(read.count == count)
    #expect(read.last?.path == "/\(count - 1)")
    #expect(read.allSatisfy { $0.isFound && $0.size == 7 })
  }
}
