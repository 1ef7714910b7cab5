import Foundation
import HTTPTransport
import Platform
import TestServers
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.tags(.large)) struct WebDAVLoginTests {
  private static let digest = "WWW-Authenticate: Digest realm=\"r\", nonce=\"N\", qop=\"auth\""

  private func refusal(_ headers: String...) -> String {
    ScriptedServer.answer("401 Unauthorized", headers: headers)
  }

  private func store(_ url: String, password: String = ServerLogin.password) -> WebDAVStore {
    WebDAVStore(url: url, login: (ServerLogin.user, password), transport: .patient())
  }

  private func authorization(_ request: WireRequest) -> String? {
    request.head.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") }
      .map { String($0.dropFirst(15)) }
  }

  // MARK: Digest

  @Test(arguments: ["MD5", "SHA-256"])
  func `digest authentication works against a real server`(_ algorithm: String) async throws {
    let server = try SpecialLighttpdServer(.digest(algorithm: algorithm))
    let store = store(server.url)
    let body = [UInt8](repeating: 5, count: 500_000)
    _ = try await store.put("a/b", body)
    #expect(try await store.get("a/b") == body)
    #expect(try await store.listAll("a/").objects.map(\.size) == [500_000])
    let error = await #expect(throws: StoreError.self) {
      try await self.store(server.url, password: "not-it").put("a/c", body)
    }
    #expect(error?.code == .authentication)
    #expect(try FileManager.default.contentsOfDirectory(atPath: server.files + "/a") == ["b"])
  }

  @Test func `a challenged PUT is repeated with its body, never an empty one`() async throws {
    let server = try ScriptedServer([
      refusal(Self.digest), ScriptedServer.answer("201 Created"),
    ])
    _ = try await store(server.url).put("a", [1, 2, 3])
    #expect(server.received.map { $0.body.count } == [3, 3])
    #expect(authorization(server.received[0])?.hasPrefix("Basic ") == true)
    #expect(authorization(server.received[1])?.contains("nc=00000001") == true)
  }

  @Test func `after a broken PUT, the challenge is fetched without a body`() async throws {
    let server = try ScriptedServer([
      "", refusal(Self.digest), ScriptedServer.answer("207 Multi-Status"),
      ScriptedServer.answer("201 Created"),
    ])
    _ = try await store(server.url).put("a", [1, 2, 3])
    let lines = server.received.map { $0.head.prefix { $0 != " " } }
    #expect(lines == ["PUT", "PROPFIND", "PROPFIND", "PUT"])
    #expect(server.received[1].body.isEmpty)
    #expect(authorization(server.received[3])?.contains("nc=00000002") == true)
  }

  @Test func `a stale nonce is replaced once`() async throws {
    let stale = Self.digest.replacing("N", with: "M") + ", stale=true"
    let server = try ScriptedServer([
      refusal(Self.digest), refusal(stale), ScriptedServer.answer("201 Created"),
    ])
    _ = try await store(server.url).put("a", [1])
    #expect(authorization(server.received[2])?.contains("nonce=\"M\"") == true)
    #expect(authorization(server.received[2])?.contains("nc=00000001") == true)
  }

  @Test func `a server that calls every nonce stale is an authentication error`() async throws {
    let stale = Self.digest + ", stale=true"
    let server = try ScriptedServer([String](repeating: refusal(stale), count: 10))
    let error = await #expect(throws: StoreError.self) { try await store(server.url).put("a", [1]) }
    #expect(error?.code == .authentication)
    #expect(server.received.count == 4)
  }

  @Test func `a forgotten nonce is replaced by the new challenge`() async throws {
    let server = try ScriptedServer([
      refusal(Self.digest), ScriptedServer.answer("201 Created"),
      refusal(Self.digest.replacing("N", with: "M")), ScriptedServer.answer("201 Created"),
    ])
    let store = store(server.url)
    _ = try await store.put("a", [1])
    _ = try await store.put("b", [1])
    #expect(authorization(server.received[3])?.contains("nonce=\"M\"") == true)
  }

  /// It was a wrong URL (78).
  @Test func `a challenge with a control character is an authentication error`() async throws {
    let challenge = Self.digest.replacing("\"r\"", with: "\"\u{1}\"")
    let server = try ScriptedServer([String](repeating: refusal(challenge), count: 4))
    let error = await #expect(throws: StoreError.self) { try await store(server.url).put("a", [1]) }
    #expect(error?.code == .authentication, "\(String(describing: error))")
    #expect(server.received.count == 1)
  }

  @Test func `a user name that cannot be sent is named`() async throws {
    let server = try ScriptedServer([refusal(Self.digest), refusal(Self.digest)])
    let store = WebDAVStore(
      url: server.url, login: ("u\u{1}", "secret"), transport: .patient())
    let error = await #expect(throws: StoreError.self) { try await store.put("a", [1]) }
    #expect(error?.code == .configuration)
    #expect(error?.advice.contains("control characters") == true, "\(String(describing: error))")
  }

  @Test func `the next nonce offered by the server is used`() async throws {
    let server = try ScriptedServer([
      refusal(Self.digest),
      ScriptedServer.answer("201 Created", headers: ["Authentication-Info: nextnonce=\"M\""]),
      ScriptedServer.answer("201 Created"),
    ])
    let store = store(server.url)
    _ = try await store.put("a", [1])
    _ = try await store.put("b", [1])
    #expect(authorization(server.received[2])?.contains("nonce=\"M\"") == true)
    #expect(authorization(server.received[2])?.contains("nc=00000001") == true)
  }

  // MARK: Unencrypted connections

  @Test func `over plain HTTP, Basic is used only if nothing better is offered`() async throws {
    let proxy = try ScriptedServer([
      refusal("WWW-Authenticate: Basic realm=\"r\"", Self.digest),
      ScriptedServer.answer("207 Multi-Status"), ScriptedServer.answer("201 Created"),
    ])
    var options = HTTPTransport.Options()
    options.proxy = proxy.url
    let store = WebDAVStore(
      url: "http://store.invalid/dav", login: ("u", "secret"), transport: HTTPTransport(options))
    _ = try await store.put("a", [1, 2])
    #expect(proxy.received.map { $0.body.count } == [0, 0, 2])
    #expect(authorization(proxy.received[0]) == nil)
    #expect(authorization(proxy.received[2])?.hasPrefix("Digest ") == true)
  }

  // MARK: Tokens and credentials

  @Test func `a token is sent as a Bearer header`() async throws {
    let server = try ScriptedServer([ScriptedServer.answer("201 Created")])
    let folder = try TemporaryDirectory()
    let path = try folder.write("abc.def\n", to: "token")
    let store = try openStore(
      StoreURL(server.url), settings: StoreSettings(machine: .current),
      environment: ["TIDEMARK_WEBDAV_TOKEN_FILE": path])
    _ = try await store.put("a", [1])
    #expect(authorization(server.received[0]) == "Bearer abc.def")
  }

  @Test func `a changed password file is reread once after a refusal`() async throws {
    let server = try ScriptedServer([
      refusal("WWW-Authenticate: Basic realm=\"r\""), ScriptedServer.answer("201 Created"),
      refusal("WWW-Authenticate: Basic realm=\"r\""), ScriptedServer.answer("201 Created"),
    ])
    let folder = try TemporaryDirectory()
    let path = try folder.write("old\n", to: "password")
    let store = try openStore(
      StoreURL(server.url), settings: StoreSettings(machine: .current),
      environment: ["TIDEMARK_WEBDAV_USER": "u", "TIDEMARK_WEBDAV_PASSWORD_FILE": path])
    try folder.write("new\n", to: "password")
    _ = try await store.put("a", [1])
    #expect(
      authorization(server.received[0]) == "Basic " + Data("u:old".utf8).base64EncodedString())
    #expect(
      authorization(server.received[1]) == "Basic " + Data("u:new".utf8).base64EncodedString())
    // A second refusal of the same password is final.
    let error = await #expect(throws: StoreError.self) { try await store.put("b", [1]) }
    #expect(error?.code == .authentication)
    #expect(server.received.count == 3)
  }

  @Test(arguments: [
    ["TIDEMARK_WEBDAV_USER": "u"], ["TIDEMARK_WEBDAV_PASSWORD": "p"],
    ["TIDEMARK_WEBDAV_USER": "u:v", "TIDEMARK_WEBDAV_PASSWORD": "p"],
    ["TIDEMARK_WEBDAV_USER": "u", "TIDEMARK_WEBDAV_PASSWORD_FILE": "/nonexistent"],
    ["TIDEMARK_WEBDAV_TOKEN_FILE": "/nonexistent"], ["TIDEMARK_WEBDAV_TOKEN": "a b"],
    ["TIDEMARK_WEBDAV_TOKEN": "secret", "TIDEMARK_WEBDAV_USER": "u"],
    ["NETRC": "/nonexistent"],
  ])
  func `an incomplete or contradictory login is refused at once`(
    _ environment: [String: String]
  ) throws {
    let error = #expect(throws: StoreError.self) {
      try openStore(
        StoreURL("https://127.0.0.1:1/x"), settings: StoreSettings(machine: .current),
        environment: environment)
    }
    #expect(error?.code == .configuration)
    #expect(error?.advice.isEmpty == false)
    #expect(error?.description.contains("secret") == false)
  }

  // MARK: netrc

  @Test(arguments: [
    ("machine h login u password p", nil, "u:p"),
    (
      "machine other login x password y\nmachine H\n login u\n password \"p \\\"q\" # c", nil,
      "u:p \"q"
    ),
    ("default login d password e", nil, "d:e"),
    ("machine h login a password b machine h login u password p", "u", "u:p"),
    ("macdef init\nmachine h login no password no\n\nmachine h login u password p", nil, "u:p"),
    ("machine h login u", nil, nil), ("machine other login u password p", nil, nil),
    ("machine h account a login u password p#1", nil, "u:p#1"), ("", nil, nil),
    ("login u password p machine", nil, nil), ("machine h login x password y", "u", nil),
  ])
  func `netrc files are parsed`(_ text: String, user: String?, expected: String?) {
    let login = Netrc.login(in: text, host: "h", user: user)
    #expect(login.map { "\($0.user):\($0.password)" } == expected)
  }

  @Test(arguments: [true, false])
  func `the login is taken from the netrc file`(_ isNamed: Bool) async throws {
    let server = try LighttpdServer()
    let folder = try TemporaryDirectory()
    let path = try folder.write(
      "machine 127.0.0.1 login \(ServerLogin.user) password \(ServerLogin.password)\n",
      to: isNamed ? "logins" : ".netrc")
    let store = try openStore(
      StoreURL(server.url), settings: StoreSettings(machine: .current),
      environment: isNamed ? ["NETRC": path] : ["HOME": folder.path])
    _ = try await store.put("a", [1])
    #expect(try await store.get("a") == [1])
  }

  @Test(.enabled(if: getuid() == 0, "only root can give a file away"))
  func `a netrc file owned by another user is refused`() throws {
    let folder = try TemporaryDirectory()
    let path = try folder.write("machine 127.0.0.1 login u password secret\n", to: ".netrc")
    #expect(chown(path, 65534, 65534) == 0)
    let error = #expect(throws: StoreError.self) {
      try openStore(
        StoreURL("https://127.0.0.1:1/x"), settings: StoreSettings(machine: .current),
        environment: ["HOME": folder.path])
    }
    #expect(error?.code == .configuration)
    #expect(error?.description.contains("another user") == true)
    #expect(error?.description.contains("secret") == false)
    // Without a login for this host, its owner does not matter.
    _ = try openStore(
      StoreURL("https://h.invalid/x"), settings: StoreSettings(machine: .current),
      environment: ["HOME": folder.path]
    )
  }

  @Test func `an error has neither the password nor the login as it was sent`() async throws {
    func answer(_ echo: String) -> String {
      ScriptedServer.answer(
        "403 Forbidden",
        body: """
          <d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:message>got \(echo) from you\
          </s:message></d:error>
          """)
    }
    for login in ["hunter=22", "hunter%3D22", "dGlkZTpodW50ZXI9MjI="] {
      let server = try ScriptedServer([answer(login)])
      let store = WebDAVStore(
        url: server.url, login: ("tide", "hunter=22"), transport: .patient())
      let error = await #expect(throws: StoreError.self) { try await store.get("a") }
      #expect(error?.description.contains("got *** from you") == true, "\(error as Any)")
    }
  }
}
