import Foundation
import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

/// Odd answers, well-formed or not, and their correct interpretation.
@Suite(.tags(.medium)) struct WebDAVAnswerTests {
  private func store(_ server: ScriptedServer, _ path: String = "/dav") -> WebDAVStore {
    WebDAVStore(url: server.url + path, login: nil, transport: .patient())
  }

  private func multiStatus(_ responses: String) -> String {
    ScriptedServer.answer(
      "207 Multi-Status", body: "<multistatus xmlns=\"DAV:\">\(responses)</multistatus>")
  }

  private func file(_ href: String, size: String = "<getcontentlength>3</getcontentlength>")
    -> String
  {
    "<response><href>\(href)</href><propstat><prop>\(size)<resourcetype/></prop>"
      + "<status>HTTP/1.1 200 OK</status></propstat></response>"
  }

  private static let folder =
    "<response><href>/dav/</href><propstat><prop><resourcetype><collection/></resourcetype></prop>"
    + "<status>HTTP/1.1 200 OK</status></propstat></response>"

  // MARK: References

  @Test(arguments: [
    "/dav/a.log", "http://127.0.0.1/dav/a.log", "https://elsewhere.invalid:8443/dav/a.log", "a.log",
    "./a.log", "/d%61v/%61.log", "/dav/%61%2elog", "/dav/%61%2Elog", "//dav//a.log", "/dav/a%2Elog",
  ])
  func `hrefs are compared decoded`(_ href: String) async throws {
    let server = try ScriptedServer([multiStatus(Self.folder + file(href))])
    #expect(try await store(server).list("", after: nil).objects.map(\.key) == ["a.log"])
  }

  @Test(arguments: ["/dav/b%2Fa.log", "/dav/a+b.log", "/dav/%E9.log", "/dav/%zz", "/dav/a/b.log"])
  func `foreign or invalid hrefs are left out`(_ href: String) async throws {
    let server = try ScriptedServer([multiStatus(Self.folder + file(href) + file("/dav/x"))])
    #expect(try await store(server).list("", after: nil).objects.map(\.key) == ["x"])
  }

  @Test func `one name under several encodings is listed once`() async throws {
    let server = try ScriptedServer([
      multiStatus(file("/dav/x") + file("/dav/%78") + "<response><href>/dav/d/</href></response>")
    ])
    let page = try await store(server).list("", after: nil)
    #expect(page.objects.map(\.key) == ["x"])
    #expect(page.directories == ["d/"])
  }

  // MARK: Missing properties

  @Test func `a missing length is requested by HEAD`() async throws {
    let server = try ScriptedServer([
      multiStatus(Self.folder + file("/dav/a", size: "") + file("/dav/gone", size: "")),
      "HTTP/1.1 200 OK\nContent-Length: 77\nConnection: close\n\n",
      ScriptedServer.answer("404 Not Found"),
    ])
    let page = try await store(server).list("", after: nil)
    #expect(page.objects.map(\.key) == ["a"])
    #expect(page.objects.map(\.size) == [77])
  }

  @Test(arguments: [
    ("404 Not Found", nil), ("403 Forbidden", nil),
    ("507 Insufficient Storage", StoreError.Code.full),
    ("500 Oops", .transient), ("423 Locked", .transient),
  ])
  func `a child's own status skips it or fails the listing`(
    _ status: String, code: StoreError.Code?
  ) async throws {
    let child = "<response><href>/dav/a</href><status>HTTP/1.1 \(status)</status></response>"
    let server = try ScriptedServer([multiStatus(Self.folder + child + file("/dav/b"))])
    guard let code else {
      #expect(try await store(server).list("", after: nil).objects.map(\.key) == ["b"])
      return
    }
    let error = await #expect(throws: StoreError.self) {
      try await store(server).list("", after: nil)
    }
    #expect(error?.code == code)
  }

  @Test func `a folder reported as 404 lists as empty`() async throws {
    let answer = "<response><href>/dav/</href><status>HTTP/1.1 404 Not Found</status></response>"
    let server = try ScriptedServer([multiStatus(answer)])
    #expect(try await store(server).list("", after: nil).objects.isEmpty)
  }

  // MARK: Answers other than listings

  @Test(arguments: [
    ("200 OK", [], "<!DOCTYPE html><html>login</html>"),
    ("207 Multi-Status", [], ""), ("207 Multi-Status", [], "<multistatus/>"),
    (
      "207 Multi-Status", [],
      "<!DOCTYPE x [<!ENTITY a 'b'>]><multistatus xmlns='DAV:'></multistatus>"
    ),
    ("207 Multi-Status", [], "<multistatus xmlns='DAV:'><response><href>&a;</href></response>"),
    ("207 Multi-Status", ["Content-Encoding: gzip"], "<multistatus xmlns='DAV:'/>"),
    (
      "207 Multi-Status", [],
      "<?xml version='1.0' encoding='iso-8859-1'?><multistatus xmlns='DAV:'><a>é</a></multistatus>"
    ),
  ])
  func `an invalid listing is never taken for empty`(
    _ status: String, headers: [String], body: String
  ) async throws {
    let server = try ScriptedServer([ScriptedServer.answer(status, headers: headers, body: body)])
    let error = await #expect(throws: StoreError.self) {
      try await store(server).list("", after: nil)
    }
    #expect(error?.code == .integrity)
    #expect(error?.advice.isEmpty == false)
  }

  /// With a length that fits, or none, only the missing end shows that an answer was cut.
  @Test(arguments: [1, 40, 41, 60])
  func `a listing that was cut in transit is tried again`(_ missing: Int) async throws {
    let body = "<multistatus xmlns='DAV:'>\(Self.folder)\(file("/dav/a"))</multistatus>"
    let server = try ScriptedServer([
      ScriptedServer.answer("207 Multi-Status", body: String(body.dropLast(missing)))
    ])
    let error = await #expect(throws: StoreError.self) {
      try await store(server).list("", after: nil)
    }
    #expect(error?.code == .transient && error?.advice.hasPrefix("It was cut") == true)
  }

  @Test(arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32])
  func `XML in encodings other than UTF-8 is refused`(_ encoding: String.Encoding) throws {
    let text = "<?xml version=\"1.0\"?><multistatus xmlns=\"DAV:\"/>"
    let bytes = try #require(text.data(using: encoding))
    let error = #expect(throws: XMLError.self) { try XMLScanner.parse(Array(bytes)) }
    #expect(error?.reason == "another encoding than UTF-8")
    #expect(try XMLScanner.parse([0xEF, 0xBB, 0xBF] + Array(text.utf8)).name == "multistatus")
  }

  // MARK: Redirections

  @Test func `a redirect on the same server is followed`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("301 Moved", headers: ["Location: /elsewhere/"]),
      multiStatus(file("/elsewhere/x")),
    ])
    #expect(try await store(server).list("", after: nil).objects.map(\.key) == ["x"])
    #expect(server.received[1].head.hasPrefix("PROPFIND /elsewhere/ "))
    #expect(server.received[1].body == server.received[0].body)
  }

  @Test(arguments: [
    "https://other.invalid/login?token=secret", "//other.invalid/x", "http://u:secret@h/",
  ])
  func `a redirect elsewhere is a configuration error without secrets`(
    _ location: String
  ) async throws {
    let answer = ScriptedServer.answer("302 Found", headers: ["Location: \(location)"])
    let server = try ScriptedServer([answer, answer])
    let errors = [
      await #expect(throws: StoreError.self) { try await store(server).list("", after: nil) },
      await #expect(throws: StoreError.self) { try await store(server).put("a", [1]) },
    ]
    for error in errors {
      #expect(error?.code == .configuration)
      #expect(error?.description.contains("secret") == false)
      #expect(error?.response.hasPrefix("302 to ") == true)
    }
    #expect(server.received.count == 2)
  }

  // MARK: Refusals

  @Test func `a 405 to PUT where PROPFIND works means a full disk`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("405 Method Not Allowed"), multiStatus(Self.folder),
      ScriptedServer.answer("404 Not Found"),
    ])
    let error = await #expect(throws: StoreError.self) { try await store(server).put("a", [1]) }
    #expect(error?.code == .full)
  }

  @Test func `a 405 to every method means a wrong URL`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("405 Method Not Allowed"),
      ScriptedServer.answer("405 Method Not Allowed"),
    ])
    let error = await #expect(throws: StoreError.self) {
      try await store(server, "/index.php/apps/files").put("a", [1])
    }
    #expect(error?.code == .unsupported)
    #expect(error?.advice.contains("/remote.php/dav/files/USER") == true)
  }

  @Test func `an error message from SabreDAV is reported`() async throws {
    let body = """
      <?xml version="1.0"?><d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">
      <s:exception>OCA</s:exception><s:message>Quota is used up</s:message></d:error>
      """
    let server = try ScriptedServer([ScriptedServer.answer("507 Insufficient Storage", body: body)])
    let error = await #expect(throws: StoreError.self) { try await store(server).put("a", [1]) }
    #expect(error?.response == "507 Quota is used up")
  }

  @Test func `a Retry-After date is converted to a duration`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "503 Busy",
        headers: [
          "Date: Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After: Sun, 06 Nov 1994 08:50:07 GMT",
        ])
    ])
    let error = await #expect(throws: StoreError.self) { try await store(server).put("a", [1]) }
    #expect(error?.retryAfter == .seconds(30))
  }

  @Test func `a multistatus response to DELETE is checked for refusals`() async throws {
    let locked = "<response><href>/dav/a</href><status>HTTP/1.1 423 Locked</status></response>"
    let server = try ScriptedServer([multiStatus(locked), multiStatus("")])
    let outcomes = try await store(server).delete(["a", "b"])
    #expect(outcomes.map { $0.error?.code } == [.transient, .integrity])
  }

  @Test func `a page in response to DELETE counts if the object is gone`() async throws {
    let page = ScriptedServer.answer(
      "200 OK", headers: ["Content-Type: text/html"], body: "<html>Deleted</html>")
    let server = try ScriptedServer([page, ScriptedServer.answer("404 Not Found")])
    #expect(try await store(server).delete(["a"]).map { $0.error == nil } == [true])
  }

  @Test func `an object with a foreign Content-Encoding is refused`() async throws {
    let answers = [("gzip", "x"), ("zstd", "y")].map {
      ScriptedServer.answer("200 OK", headers: ["Content-Encoding: \($0)"], body: $1)
    }
    let server = try ScriptedServer(answers)
    let store = store(server)
    let error = await #expect(throws: StoreError.self) { try await store.get("a.log.zst") }
    #expect(error?.code == .integrity)
    // Only the name's extension, reported as an encoding.
    #expect(try await store.get("a.log.zst") == Array("y".utf8))
  }

  // MARK: Addresses

  @Test(arguments: [
    "https://cloud.example/index.php/apps/files/?dir=/Logs&fileid=12",
    "https://cloud.example/apps/files/files/12?dir=/Logs",
    "https://cloud.example/files/spaces/personal/me?fileId=1",
  ])
  func `a Nextcloud browser address is refused with the WebDAV URL`(_ text: String) {
    let error = #expect(throws: StoreError.self) { try StoreURL(text) }
    #expect(error?.advice.contains("https://cloud.example/remote.php/dav/files/USER") == true)
  }

  @Test(arguments: [
    ("https://cloud.example/remote.php/dav/files/me/Logs", true), ("http://nas.lan/dav", false),
    ("http://127.0.0.1/dav", true), ("http://10.0.0.1:8080/dav", false),
  ])
  func `plain HTTP needs permission except to localhost`(_ text: String, isFree: Bool) throws {
    _ = try StoreURL(text, allowsPlaintext: true)
    guard !isFree else {
      _ = try StoreURL(text)
      return
    }
    let error = #expect(throws: StoreError.self) { try StoreURL(text) }
    #expect(error?.advice.contains("--allow-plaintext") == true)
    let endpoint = ["AWS_ENDPOINT_URL": text]
    let refusal = #expect(throws: StoreError.self) {
      try S3Service.resolve(environment: endpoint, settings: .init())
    }
    #expect(refusal?.advice.contains("--allow-plaintext") == true)
    let service = try S3Service.resolve(
      environment: endpoint, settings: .init(), allowsPlaintext: true)
    #expect(service.endpoint == text)
  }
}
