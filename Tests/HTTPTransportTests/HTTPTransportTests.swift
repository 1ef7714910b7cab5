import Foundation
import HTTPTransport
import TestServers
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.tags(.medium)) struct HTTPTransportTests {
  @Test func `a request is sent with its length, and the response is read`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("201 Created", headers: ["ETag:  \"x\" ", "A: 1", "a: 2"], body: "ok")
    ])
    let body = [UInt8](repeating: 7, count: 300_000)
    let response = try await HTTPTransport.patient().send(
      HTTPRequest(method: "PUT", url: server.url + "/a/../b//c", headers: [("X-E", "")], body: body)
    )
    #expect(response.status == 201)
    #expect(response.header("etag") == "\"x\"")
    #expect(response.headers.filter { $0.name.lowercased() == "a" }.map(\.value) == ["1", "2"])
    #expect(response.body == Array("ok".utf8))
    let request = try #require(server.received.first)
    #expect(request.body == body)
    #expect(request.head.hasPrefix("PUT /a/../b//c HTTP/1.1\r\n"))
    #expect(request.head.contains("Content-Length: 300000"))
    #expect(request.head.contains("X-E:"))
    #expect(!request.head.contains("Expect"))
    #expect(!request.head.lowercased().contains("transfer-encoding"))
  }

  @Test func `a HEAD response has headers and no body`() async throws {
    let server = try ScriptedServer(["HTTP/1.1 200 OK\nContent-Length: 5\nConnection: close\n\n"])
    let transport = HTTPTransport.patient()
    let response = try await transport.send(HTTPRequest(method: "HEAD", url: server.url))
    #expect(response.header("Content-Length") == "5")
    #expect(response.body.isEmpty)
    #expect(transport.reachesThisMachine)
  }

  @Test func `cancelling a stalled request ends it at once`() async throws {
    let server = try ScriptedServer()
    let transport = HTTPTransport.patient()
    let task = Task {
      try await transport.send(HTTPRequest(method: "GET", url: server.url))
    }
    #expect(await server.waitForConnection())
    task.cancel()
    let error = await #expect(throws: TransportError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  /// A child that inherits a connection keeps it open after we have closed it.
  @Test func `child processes inherit no connection`() async throws {
    let server = try ScriptedServer()
    let transport = HTTPTransport.patient()
    let request = Task { try await transport.send(HTTPRequest(method: "GET", url: server.url)) }
    #expect(await server.waitForConnection())
    let connections = (0..<CInt(4096)).filter { Self.peer(of: $0) == server.url }
    #expect(connections.count == 1)
    #expect(connections.allSatisfy { fcntl($0, F_GETFD) == FD_CLOEXEC })
    transport.shutdown()
    await #expect(throws: TransportError.self) { try await request.value }
  }

  /// The URL of a descriptor's peer; nil if it is not a connection.
  private static func peer(of descriptor: CInt) -> String? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
    }
    return result == 0 ? "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))" : nil
  }

  @Test func `cancelling a queued request does not affect others`() async throws {
    let server = try ScriptedServer()
    let transport = HTTPTransport.patient(workers: 1)
    let first = Task { try await transport.send(HTTPRequest(method: "GET", url: server.url)) }
    #expect(await server.waitForConnection())
    let second = Task { try await transport.send(HTTPRequest(method: "GET", url: server.url)) }
    second.cancel()
    let error = await #expect(throws: TransportError.self) { try await second.value }
    #expect(error?.code == .cancelled)
    transport.shutdown()
    let ended = await #expect(throws: TransportError.self) { try await first.value }
    #expect(ended?.code == .cancelled)
    let late = await #expect(throws: TransportError.self) {
      try await transport.send(HTTPRequest(method: "GET", url: server.url))
    }
    #expect(late?.code == .cancelled)
  }

  @Test(arguments: [
    ("http://name.invalid/", TransportError.Code.unresolvable),
    ("http://127.0.0.1:1/", .unreachable),
    ("ftp://127.0.0.1/", .invalidURL), ("http://127.0.0.1:1/\u{0}", .invalidURL),
  ])
  func `each failure to connect has its own code`(
    url: String, code: TransportError.Code
  ) async throws {
    let error = await #expect(throws: TransportError.self) {
      try await HTTPTransport.patient().send(HTTPRequest(method: "GET", url: url))
    }
    #expect(error?.code == code, "\(String(describing: error))")
  }

  @Test func `a response beyond the size limit is an error`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("200 OK", body: String(repeating: "x", count: 100_000))
    ])
    let error = await #expect(throws: TransportError.self) {
      try await HTTPTransport.patient().send(
        HTTPRequest(method: "GET", url: server.url, maximumResponseBytes: 1000))
    }
    #expect(error?.code == .tooLarge)
  }

  /// libcurl takes no line beyond 100 KiB, and spoke of a lack of memory.
  @Test(arguments: [(90_000, false), (110_000, true), (200_000, true)])
  func `a response with a header that is too long is an error`(
    length: Int, isTooLong: Bool
  ) async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(
        "401 Unauthorized",
        headers: ["X-Long: " + String(repeating: "x", count: length)])
    ])
    let request = HTTPRequest(method: "GET", url: server.url)
    do {
      let response = try await HTTPTransport.patient().send(request)
      #expect(!isTooLong && response.status == 401)
    } catch let error as TransportError {
      #expect(isTooLong && error.code == .tooLarge, "\(error)")
    }
  }

  @Test func `a truncated response is an error`() async throws {
    let server = try ScriptedServer(["HTTP/1.1 200 OK\nContent-Length: 50\n\nshort"])
    let error = await #expect(throws: TransportError.self) {
      try await HTTPTransport.patient().send(HTTPRequest(method: "GET", url: server.url))
    }
    #expect(error?.code == .interrupted)
  }

  @Test func `a header value with a line break is refused`() async throws {
    let error = await #expect(throws: TransportError.self) {
      try await HTTPTransport.patient().send(
        HTTPRequest(method: "GET", url: "http://127.0.0.1:1/", headers: [("A", "b\r\nC: d")]))
    }
    #expect(error?.code == .invalidHeader)
  }
}
