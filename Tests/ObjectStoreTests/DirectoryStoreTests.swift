import Foundation
import ObjectStore
import TestServers
import Testing

/// What is a folder's alone.
@Suite struct DirectoryStoreTests {
  @Test func whatKilledPutsLeaveGoesAfterADay() async throws {
    let folder = try TemporaryDirectory()
    let store = DirectoryStore(path: folder.path)
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
