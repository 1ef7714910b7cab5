import Foundation
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// Properties of folder stores only.
@Suite(.tags(.medium)) struct DirectoryStoreTests {
  @Test func `a folder is removed with its last object`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(path: folder.path, machine: .current)
    for key in ["a/b/x", "a/b/y", "a/z"] { _ = try await store.put(key, [1]) }
    #expect(try await store.delete(["a/b/x"]).map(\.error) == [nil])
    #expect(try await store.listAll("a/").directories == ["a/b/"])
    #expect(try await store.delete(["a/b/y"]).map(\.error) == [nil])
    #expect(try await store.listAll("a/").directories.isEmpty)
    #expect(try await store.delete(["a/z"]).map(\.error) == [nil])
    #expect(try await store.listAll("").directories.isEmpty)
    #expect(FileManager.default.fileExists(atPath: folder.path))
  }

  /// Half of the tasks keep emptying the folder that the others put into.
  @Test func `a put succeeds while deletions empty its folder`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(path: folder.path, machine: .current)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for round in 0..<300 {
            let body = [UInt8](repeating: UInt8(task), count: 10)
            _ = try await store.put("day/\(task)", body)
            #expect(try await store.get("day/\(task)") == body, "round \(round)")
            #expect(try await store.delete(["day/\(task)"]).map(\.error) == [nil])
          }
        }
        group.addTask {
          for _ in 0..<300 {
            _ = try await store.put("day/other\(task)", [1])
            #expect(try await store.delete(["day/other\(task)"]).map(\.error) == [nil])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func `temporary files of killed puts are removed after a day`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(path: folder.path, machine: .current)
    _ = try await store.put("a/b", [1])
    for (name, age) in [("old", 90_000.0), ("new", 80_000)] {
      let path = folder.path + "/a/.tidemark-" + name
      try Data().write(to: URL(filePath: path))
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
    }
    #expect(try await store.list("a/", after: nil).objects.map(\.key) == ["a/b"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path + "/a").sorted()
        == [".tidemark-new", "b"])
  }
}
