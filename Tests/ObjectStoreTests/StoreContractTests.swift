import Foundation
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// The contract of every store.
@Suite(.tags(.large)) struct StoreContractTests {
  /// Whether a server's time, in whole seconds, is after the start of a test.
  private static func isNow(_ date: ServerTime, since beginning: Timestamp) -> Bool {
    (beginning - .seconds(2)...Timestamp.now() + .seconds(2))
      .contains(date.assumingSynchronizedClocks)
  }

  @Test(arguments: Backend.contracted)
  func `an object that was put is returned by get and head`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let store = opened.store
    let body = Array("hello tide".utf8)
    let before = Timestamp.now()
    for _ in 0..<2 {
      let receipt = try await store.put("devices/a/2026-01-22/x.log", body)
      #expect(receipt.provesContent == backend.traits.provesContent)
      #expect(Self.isNow(try #require(receipt.serverDate), since: before))
    }
    #expect(try await store.get("devices/a/2026-01-22/x.log") == body)
    let entry = try await store.head("devices/a/2026-01-22/x.log")
    #expect(entry.key == "devices/a/2026-01-22/x.log")
    #expect(entry.size == 10)
    #expect(Self.isNow(try #require(entry.modified), since: before))
    _ = try await store.put("devices/a/2026-01-22/x.log", [1, 2, 3])
    #expect(try await store.get("devices/a/2026-01-22/x.log") == [1, 2, 3])
    _ = try await store.put("empty", [])
    #expect(try await store.get("empty") == [])
    #expect(try await store.head("empty").size == 0)
  }

  @Test(arguments: Backend.contracted)
  func `ranges and suffixes return the requested bytes`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let store = opened.store
    _ = try await store.put("r", Array("0123456789".utf8))
    let table: [(ByteRange, String)] = [
      (.bytes(offset: 0, count: 10), "0123456789"), (.bytes(offset: 2, count: 3), "234"),
      (.bytes(offset: 8, count: 100), "89"), (.bytes(offset: 10, count: 5), ""),
      (.bytes(offset: 3, count: 0), ""), (.suffix(4), "6789"), (.suffix(100), "0123456789"),
      (.suffix(0), ""),
    ]
    for (range, expected) in table {
      let bytes = try await store.get("r", range: range)
      #expect(String(decoding: bytes, as: UTF8.self) == expected, "\(range)")
    }
  }

  @Test(arguments: Backend.contracted)
  func `an object larger than allowed is refused`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let store = opened.store
    let body = [UInt8](repeating: 7, count: 200_000)
    _ = try await store.put("large", body)
    #expect(try await store.get("large", atMost: 200_000) == body)
    for limit in [0, 10, 199_999] as [ByteCount] {
      let error = await #expect(throws: StoreError.self) {
        try await store.get("large", atMost: limit)
      }
      #expect(error?.code == .integrity, "\(String(describing: error))")
    }
    _ = try await store.put("empty", [])
    #expect(try await store.get("empty", atMost: 0) == [])
    let missing = await #expect(throws: StoreError.self) {
      try await store.get("missing", atMost: 1)
    }
    #expect(missing?.isNotFound == true)
  }

  @Test(arguments: Backend.contracted)
  func `a listing returns objects and folders of one level`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let store = opened.store
    let keys = (0..<8).map { "dir/file\($0)" } + ["dir/sub1/a", "dir/sub2/b/c", "dir2/x", "dirx"]
    for key in keys { _ = try await store.put(key, Array(key.utf8)) }
    let page = try await store.listAll("dir/")
    #expect(page.objects.map(\.key) == (0..<8).map { "dir/file\($0)" })
    #expect(page.objects.allSatisfy { $0.size == 9 && $0.modified != nil })
    #expect(page.directories == ["dir/sub1/", "dir/sub2/"])
    #expect(page.serverDate != nil)
    let top = try await store.listAll("")
    #expect(top.objects.map(\.key) == ["dirx"])
    #expect(top.directories == ["dir/", "dir2/"])
    let started = try await store.listAll("dir/sub")
    #expect(started.objects.isEmpty)
    #expect(started.directories == ["dir/sub1/", "dir/sub2/"])
    #expect(try await store.listAll("dir/file7").objects.map(\.key) == ["dir/file7"])
    let first = try await store.list("dir/", after: nil)
    #expect((first.next != nil) == backend.traits.hasPages)
  }

  @Test(arguments: Backend.contracted)
  func `a prefix lists all names that start with it`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let store = opened.store
    for key in ["d/a", "d/a.b", "d/a-b", "d/ab/c"] { _ = try await store.put(key, [1]) }
    let page = try await store.listAll("d/a")
    #expect(Set(page.objects.map(\.key)) == ["d/a", "d/a.b", "d/a-b"])
    #expect(page.directories == ["d/ab/"])
    #expect(try await store.listAll("d/a/").objects.isEmpty)
  }

  @Test(arguments: Backend.contracted)
  func `a missing object is not found and can be deleted`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let store = opened.store
    #expect(try await store.listAll("no/such/").objects.isEmpty)
    for _ in 0..<2 {
      let got = await #expect(throws: StoreError.self) { try await store.get("no/such") }
      #expect(got?.isNotFound == true)
      let looked = await #expect(throws: StoreError.self) { try await store.head("no/such") }
      #expect(looked?.isNotFound == true)
      #expect(try await store.delete(["no/such"]).map(\.error) == [nil])
      _ = try await store.put("now/there/is", [1])
    }
    let folder = await #expect(throws: StoreError.self) { try await store.head("now/there") }
    #expect(folder?.isNotFound == true)
  }

  @Test(arguments: Backend.contracted)
  func `deleting many keys returns outcomes in order`(_ backend: Backend) async throws {
    let opened = try backend.open(pageSize: 1000)
    defer { withExtendedLifetime(opened) {} }
    // More than one request's worth, with missing ones between.
    let there = (0..<max(20, backend.traits.deleteBatch * 6 / 10)).map { "many/k\($0)" }
    try await opened.plant(there, in: "many")
    _ = try await opened.store.put("many/first", [1])
    let keys = there.flatMap { [$0, $0 + "-missing"] } + ["many/first"]
    let outcomes = try await opened.store.delete(keys)
    #expect(outcomes.map(\.key) == keys)
    #expect(outcomes.allSatisfy { $0.error == nil })
    #expect(try await opened.store.listAll("many/").objects.isEmpty)
    #expect(try await opened.store.delete([]).isEmpty)
  }

  @Test(arguments: Backend.contracted)
  func `large and empty bodies are read back unchanged`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    var generator = SeededGenerator(case: 8)
    let large = EditScript.random(8 << 20, &generator)
    for (key, body) in [("l/large", large), ("l/empty", [])] {
      #expect(
        try await opened.store.put(key, body).provesContent == backend.traits.provesContent)
      let isSame = try await opened.store.get(key) == body
      #expect(isSame)
      #expect(try await opened.store.head(key).size == ByteCount(body.count))
    }
    let middle = try await opened.store.get("l/large", range: .bytes(offset: 5 << 20, count: 999))
    #expect(middle == Array(large[(5 << 20)..<(5 << 20) + 999]))
    #expect(try await opened.store.listAll("l/").objects.map(\.size) == [0, 8 << 20])
  }

  @Test(arguments: Backend.contracted)
  func `32 concurrent puts are all stored`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    // rclone occasionally answers 500 when it creates one folder for two requests at once.
    let start = ContinuousClock.now
    let store = RetryingStore(opened.store, sleep: { _ in }, random: { 1 }, now: { start })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<32 {
        group.addTask {
          _ = try await store.put(
            "c/\(number % 4)/k\(number)", [UInt8](repeating: UInt8(number), count: 1000 * number))
        }
      }
      try await group.waitForAll()
    }
    for number in 0..<32 {
      let body = try await store.get("c/\(number % 4)/k\(number)")
      #expect(body == [UInt8](repeating: UInt8(number), count: 1000 * number))
    }
  }

  @Test(arguments: Backend.contracted)
  func `a cancelled task gets a cancellation error`(_ backend: Backend) async throws {
    let opened = try backend.open()
    defer { withExtendedLifetime(opened) {} }
    let store = opened.store
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await store.put("x", [1])
    }
    let error = await #expect(throws: StoreError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test(arguments: ["", "/a", "a/", "a//b", "../a", "a/./b", "a b", "ä", "a\u{0}"])
  func `an invalid key is refused`(_ key: String) async throws {
    let error = await #expect(throws: StoreError.self) {
      try await DirectoryStore(path: "/nonexistent", machine: .current).put(key, [1])
    }
    #expect(error?.code == .unsupported)
  }
}
