import HTTPTransport
import TestServers
import TestSupport
import Testing

@Suite(.tags(.medium)) struct ProxyTests {
  private func transport(_ proxy: String) -> HTTPTransport {
    var options = HTTPTransport.Options()
    options.proxy = proxy
    return HTTPTransport(options)
  }

  private func withLogin(_ url: String) -> String {
    url.replacing("http://", with: "http://user:pa%40ss@")
  }

  @Test func `a plain HTTP proxy request has the full URL and the proxy login`() async throws {
    let proxy = try ScriptedServer([ScriptedServer.answer("200 OK", body: "x")])
    let response = try await transport(withLogin(proxy.url)).send(
      HTTPRequest(method: "GET", url: "http://store.invalid/dav/a%20b"))
    #expect(response.body == Array("x".utf8))
    let head = try #require(proxy.received.first?.head)
    #expect(head.hasPrefix("GET http://store.invalid/dav/a%20b HTTP/1.1\r\n"))
    // user:pa@ss
    #expect(head.contains("Proxy-Authorization: Basic dXNlcjpwYUBzcw=="))
  }

  @Test func `a tunnel request gives the proxy only the proxy's login`() async throws {
    let proxy = try ScriptedServer([
      ScriptedServer.answer("407 Proxy Authentication Required", body: "no")
    ])
    let error = await #expect(throws: TransportError.self) {
      try await transport(withLogin(proxy.url)).send(
        HTTPRequest(
          method: "GET", url: "https://store.invalid/x",
          headers: [("Authorization", "Basic c3RvcmU=")])
      )
    }
    #expect(error?.code == .proxy)
    #expect(error?.message.contains("407") == true)
    #expect(error?.message.contains("ss@") == false)
    let head = try #require(proxy.received.first?.head)
    #expect(head.hasPrefix("CONNECT store.invalid:443 HTTP/1.1\r\n"))
    #expect(head.contains("Proxy-Authorization: Basic dXNlcjpwYUBzcw=="))
    #expect(!head.contains("c3RvcmU="))
  }

  @Test(arguments: [
    "http://user:secret@proxy.invalid:3128", "http://user:secret@host:notaport",
    "strange://user:secret@host", "http://user:sec ret@host", "http://user:secret@",
  ])
  func `proxy errors never show the password`(_ proxy: String) async throws {
    let error = await #expect(throws: TransportError.self) {
      try await transport(proxy).send(HTTPRequest(method: "GET", url: "http://store.invalid/"))
    }
    #expect(error?.message.contains("sec") == false, "\(String(describing: error))")
  }

  @Test func `requests to loopback bypass the proxy`() async throws {
    let proxy = try ScriptedServer([ScriptedServer.answer("500 No")])
    let server = try ScriptedServer([ScriptedServer.answer("200 OK")])
    let response = try await transport(proxy.url).send(HTTPRequest(method: "GET", url: server.url))
    #expect(response.status == 200)
    #expect(proxy.received.isEmpty)
  }
}
