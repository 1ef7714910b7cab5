import Foundation
import HTTPTransport
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// Listings that are well formed but cannot be true.
@Suite(.tags(.medium)) struct WrongListingTests {
  private func s3(_ server: ScriptedServer) -> S3Store {
    S3Store(
      bucket: "logs", prefix: "p", service: S3Service(endpoint: server.url),
      credentials: S3Credentials(accessKeyID: "ID", secretAccessKey: "SECRET"),
      transport: .patient(), now: Timestamp.now)
  }

  private static func page(_ contents: [(key: String, size: String)], next: String? = nil) -> String
  {
    let objects = contents.map { object in
      "<Contents><Key>\(object.key)</Key>\(object.size)</Contents>"
    }
    let end = next.map {
      "<IsTruncated>true</IsTruncated><NextContinuationToken>\($0)</NextContinuationToken>"
    }
    return ScriptedServer.answer(
      "200 OK", body: "<ListBucketResult>\(objects.joined())\(end ?? "")</ListBucketResult>")
  }

  private static func size(_ text: String) -> String { "<Size>\(text)</Size>" }

  static let pages: [String: [String]] = [
    "the same name twice": [page([("p/a", size("1")), ("p/a", size("1"))])],
    "the same name on two pages": [
      page([("p/a", size("1"))], next: "2"), page([("p/a", size("1"))]),
    ],
    "a token that comes twice": [
      page([("p/a", size("1"))], next: "2"), page([("p/b", size("1"))], next: "2"),
    ],
    "tokens in a circle": [
      page([], next: "2"), page([], next: "3"), page([], next: "2"), page([], next: "3"),
    ],
    "the same names without an end": (1...5).map {
      page([("p/a", size("1")), ("p/b", size("1"))], next: "\($0)")
    },
    "no token": [page([], next: "")],
    "a negative size": [page([("p/a", size("-1"))])],
    "a size that no sum can hold": [page([("p/a", size("9223372036854775807"))])],
    "a key outside the prefix": [page([("q/a", size("1"))])],
    "a key that only begins like the prefix": [page([("pa", size("1"))])],
  ]

  @Test(arguments: pages.keys.sorted())
  func `an inconsistent S3 listing is refused`(_ name: String) async throws {
    let server = try ScriptedServer(Self.pages[name] ?? [])
    let error = await #expect(throws: StoreError.self) { try await s3(server).listAll("") }
    #expect(error?.code == .integrity, "\(String(describing: error))")
  }

  @Test func `an S3 listing that was cut in transit is tried again`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK", body: "<ListBucketResult><Contents><Key>p/a</Key><Si")
    ])
    let error = await #expect(throws: StoreError.self) { try await s3(server).listAll("") }
    #expect(error?.code == .transient, "\(String(describing: error))")
  }

  /// Not trusted, and not listed; the others are.
  @Test(arguments: [size("99999999999999999999"), size("1e3"), size(""), ""])
  func `an S3 entry without a valid size is skipped`(_ element: String) async throws {
    let server = try ScriptedServer([Self.page([("p/a", element), ("p/b", Self.size("1"))])])
    #expect(try await s3(server).listAll("").objects.map(\.key) == ["b"])
  }

  private static func response(_ name: String, _ properties: String) -> String {
    """
    <d:response><d:href>/p/\(name)</d:href><d:propstat><d:prop>\(properties)</d:prop>\
    <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>
    """
  }

  private static func length(_ text: String) -> String {
    "<d:getcontentlength>\(text)</d:getcontentlength>"
  }

  private static func multiStatus(_ responses: String...) -> String {
    let folder = response("", "<d:resourcetype><d:collection/></d:resourcetype>")
    return ScriptedServer.answer(
      "207 Multi-Status",
      body: "<d:multistatus xmlns:d='DAV:'>\(folder)\(responses.joined())</d:multistatus>")
  }

  // If a size is missing or nonsensical, the object itself is requested.
  static let multiStatuses: [String: [String]] = [
    "a size that no sum can hold": [
      multiStatus(response("a", length("9223372036854775807"))),
      "HTTP/1.1 200 OK\nConnection: close\n\n",
      ScriptedServer.answer(
        "207 Multi-Status",
        body: "<d:multistatus xmlns:d='DAV:'>"
          + "\(response("a", length("9223372036854775807")))</d:multistatus>"),
    ],
    "no valid size in any answer": [
      multiStatus(response("a", length("-1"))), "HTTP/1.1 200 OK\nConnection: close\n\n",
      ScriptedServer.answer(
        "207 Multi-Status",
        body: "<d:multistatus xmlns:d='DAV:'>\(response("a", ""))</d:multistatus>"),
    ],
  ]

  @Test(arguments: multiStatuses.keys.sorted())
  func `an inconsistent WebDAV listing is refused`(_ name: String) async throws {
    let server = try ScriptedServer(Self.multiStatuses[name] ?? [])
    let store = WebDAVStore(url: server.url + "/p", login: nil, transport: .patient())
    let error = await #expect(throws: StoreError.self) { try await store.listAll("") }
    #expect(error?.isNotFound == false, "\(String(describing: error))")
    #expect(server.received.count == 3)
  }

  @Test func `a size missing from a WebDAV listing is requested`() async throws {
    let server = try ScriptedServer([
      Self.multiStatus(Self.response("a", "")),
      "HTTP/1.1 200 OK\nContent-Length: 7\nConnection: close\n\n",
    ])
    let store = WebDAVStore(url: server.url + "/p", login: nil, transport: .patient())
    #expect(try await store.listAll("").objects.map(\.size) == [7])
  }
}
