import Foundation
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

/// A folder store whose folder is missing, or is suddenly a different one.
@Suite(.tags(.medium)) struct DirectoryRootTests {
  private typealias Operation = @Sendable (DirectoryStore) async throws -> Void

  private static let operations: [(name: String, run: Operation)] = [
    ("PUT", { _ = try await $0.put("a/b", [1]) }),
    ("PUT", { _ = try await $0.putIfAbsent("a/b", [1]) }),
    ("GET", { _ = try await $0.get("a/b") }),
    ("HEAD", { _ = try await $0.head("a/b") }),
    ("LIST", { _ = try await $0.list("", after: nil) }),
    ("LIST", { _ = try await $0.list("a/", after: nil) }),
    ("DELETE", { _ = try await $0.delete(["a/b"]) }),
  ]

  private func expectRefusals(
    by store: DirectoryStore, _ response: String, _ advice: String
  ) async throws {
    for (name, run) in Self.operations {
      let error = await #expect(throws: StoreError.self, "\(name)") { try await run(store) }
      #expect(error?.code == .configuration && error?.operation == name)
      #expect(error?.response.contains(response) == true, "\(String(describing: error))")
      #expect(error?.advice.contains(advice) == true, "\(String(describing: error))")
    }
  }

  @Test func `a missing folder is an error and is not created`() async throws {
    let folder = try TemporaryDirectory()
    let root = folder.path + "/nas/logs"
    let store = DirectoryStore(path: root, machine: .current)
    try await expectRefusals(by: store, "does not exist", "run 'tidemark init file://\(root)'")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #expect(try store.makeRoot())
    #expect(try !store.makeRoot())
    for (_, run) in Self.operations.prefix(1) + Self.operations.dropFirst(2) {
      try await run(store)
    }
  }

  @Test func `another folder in the store's place is an error`() async throws {
    let folder = try TemporaryDirectory()
    let root = folder.path + "/logs"
    let store = DirectoryStore(path: root, machine: .current)
    _ = try store.makeRoot()
    _ = try await store.put("a/b", [1])
    try FileManager.default.moveItem(atPath: root, toPath: root + "-away")
    try await expectRefusals(by: store, "does not exist", "Mount it")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    try await expectRefusals(by: store, "is not the one", "unmounted or replaced")
    #expect(try FileManager.default.contentsOfDirectory(atPath: root).isEmpty)
    try FileManager.default.removeItem(atPath: root)
    try FileManager.default.moveItem(atPath: root + "-away", toPath: root)
    #expect(try await store.get("a/b") == [1])
  }

  /// A file system may reuse the inode number of a removed folder.
  @Test func `a folder that was removed and created again is another store`() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(path: folder.path + "/logs", machine: .current)
    _ = try store.makeRoot()
    #expect(try await store.listAll("").objects.isEmpty)
    try FileManager.default.removeItem(atPath: folder.path + "/logs")
    _ = try store.makeRoot()
    try await expectRefusals(by: store, "is not the one", "replaced")
  }
}
