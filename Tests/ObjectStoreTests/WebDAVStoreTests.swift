import Foundation
import HTTPTransport
import ObjectStore
import TestServers
import TestSupport
import Testing

@Suite(.tags(.large)) struct WebDAVStoreTests {
  private func store(_ url: String, password: String = ServerLogin.password) -> WebDAVStore {
    WebDAVStore(
      url: url, login: (ServerLogin.user, password), transport: .patient())
  }

  @Test func `a wrong password is an authentication error`() async throws {
    let server = try LighttpdServer()
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url, password: "not-it").put("a", [1])
    }
    #expect(error?.code == .authentication)
    #expect(error?.description.contains("not-it") == false)
  }

  @Test func `folders are created only if missing`() async throws {
    let server = try LighttpdServer()
    let store = store(server.url)
    _ = try await store.put("a/b/one", [1])
    _ = try await store.put("a/b/two", [2])
    let log = try server.accessLog()
    #expect(log.filter { $0.hasPrefix("MKCOL") && $0.hasSuffix("201") }.count == 2)
    #expect(log.last == "PUT /dav/a/b/two 201")
  }

  @Test func `concurrent puts create a folder once`() async throws {
    let server = try LighttpdServer()
    let store = store(server.url)
    try await withThrowingTaskGroup { group in
      for number in 0..<8 {
        group.addTask { _ = try await store.put("a/b/\(number)", [1]) }
      }
      try await group.waitForAll()
    }
    let log = try server.accessLog()
    #expect(log.filter { $0.hasPrefix("PUT") && $0.hasSuffix("201") }.count == 8)
    #expect(log.filter { $0.hasPrefix("MKCOL") && $0.hasSuffix("201") }.count == 2)
  }

  @Test func `a missing folder costs only one large body`() async throws {
    let server = try LighttpdServer()
    let store = store(server.url)
    let body = [UInt8](repeating: 1, count: 100_000)
    try await withThrowingTaskGroup { group in
      for number in 0..<8 {
        group.addTask { _ = try await store.put("a/b/\(number)", body) }
      }
      try await group.waitForAll()
    }
    let puts = try server.accessLog().filter { $0.hasPrefix("PUT") }
    #expect(puts.count == 9 && puts.filter { $0.hasSuffix("201") }.count == 8)
  }

  @Test func `a folder that a listing did not find is created before the first put`() async throws {
    let server = try LighttpdServer()
    let store = store(server.url)
    #expect(try await store.listAll("a/b/").objects.isEmpty)
    try await withThrowingTaskGroup { group in
      for number in 0..<8 { group.addTask { _ = try await store.put("a/b/\(number)", [1]) } }
      try await group.waitForAll()
    }
    let log = try server.accessLog()
    let puts = log.filter { $0.hasPrefix("PUT") }
    #expect(puts.count == 8 && puts.allSatisfy { $0.hasSuffix("201") })
    #expect(log.filter { $0.hasPrefix("MKCOL") && $0.hasSuffix("201") }.count == 2)
  }

  @Test func `a server that creates folders itself gets one MKCOL`() async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer("404 Not Found"), ScriptedServer.answer("403 Forbidden"),
      ScriptedServer.answer("201 Created"), ScriptedServer.answer("201 Created"),
    ])
    let store = store(server.url + "/dav")
    #expect(try await store.listAll("a/").objects.isEmpty)
    _ = try await store.put("a/b", [1])
    _ = try await store.put("a/c", [1])
    let methods = server.received.map { $0.head.prefix { $0 != " " } }
    #expect(methods == ["PROPFIND", "MKCOL", "PUT", "PUT"])
  }

  @Test func `a failed large body does not keep other puts waiting`() async throws {
    let server = try ScriptedServer(
      (0..<4).map { _ in ScriptedServer.answer("403 Forbidden") })
    let store = store(server.url)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          await #expect(throws: StoreError.self) {
            try await store.put("a/\(number)", [UInt8](repeating: 1, count: 100_000))
          }
        }
      }
    }
  }

  @Test func `a folder that cannot be created is a configuration error`() async throws {
    let missing = ScriptedServer.answer("404 Not Found")
    let server = try ScriptedServer([missing, missing, missing])
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url + "/dav").put("a", [1])
    }
    #expect(error?.code == .configuration)
  }

  @Test(arguments: [
    ("507 Insufficient Storage", StoreError.Code.full), ("413 Too Large", .tooLarge),
    ("423 Locked", .transient), ("503 Busy", .overloaded), ("403 Forbidden", .authentication),
    ("501 What", .unsupported), ("302 Found", .configuration),
  ])
  func `each WebDAV status has its error code and Retry-After`(
    _ status: String, _ code: StoreError.Code
  ) async throws {
    let server = try ScriptedServer([
      ScriptedServer.answer(status, headers: ["Retry-After: 7"])
    ])
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url).put("a", [1])
    }
    #expect(error?.code == code)
    #expect(error?.retryAfter == .seconds(7))
  }

  @Test func `a listing of another folder is an error`() async throws {
    let body =
      "<d:multistatus xmlns:d='DAV:'><d:response><d:href>/x/</d:href></d:response></d:multistatus>"
    let server = try ScriptedServer([ScriptedServer.answer("207 Multi-Status", body: body)])
    let error = await #expect(throws: StoreError.self) {
      try await store(server.url + "/dav").list("", after: nil)
    }
    #expect(error?.code == .integrity)
  }
}
