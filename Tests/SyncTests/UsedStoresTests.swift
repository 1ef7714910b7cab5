import Foundation
import ObjectStore
import SessionLog
import Sync
import TestSupport
import Testing

/// Which stores a home has used, as far as known.
@Suite(.tags(.medium)) struct UsedStoresTests {
  private func file(_ home: Home) -> String { home.path + "/stores.json" }

  @Test func `a new home has used no store`() throws {
    let local = try TestHome()
    let used = try UsedStores.load(local.home)
    #expect(used.isEmpty && !used.contains("s3://b"))
  }

  @Test func `used stores are kept sorted, once each`() throws {
    let home = try TestHome()
    for location in ["s3://b/x", "file:///srv/logs", "s3://b/x"] {
      try UsedStores.record(location, in: home.home)
    }
    let text = try String(contentsOfFile: file(home.home), encoding: .utf8)
    #expect(
      try JSONDecoder().decode([String].self, from: Data(text.utf8)) == [
        "file:///srv/logs", "s3://b/x",
      ])
    #expect(text.hasSuffix("]\n"))
    let used = try UsedStores.load(home.home)
    #expect(used.contains("s3://b/x") && !used.contains("s3://b") && !used.isEmpty)
  }

  @Test(arguments: ["", "[", "{}", "[1]"])
  func `a damaged list may contain any store and is not overwritten`(_ garbage: String) throws {
    let home = try TestHome()
    try Data(garbage.utf8).write(to: URL(filePath: file(home.home)))
    let used = try UsedStores.load(home.home)
    #expect(!used.isEmpty && used.contains("s3://b"))
    try UsedStores.record("s3://b", in: home.home)
    #expect(FileManager.default.contents(atPath: file(home.home)) == Data(garbage.utf8))
  }

  @Test func `an earlier version's manifest proves that a store was used`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let home = site.local.home
    #expect(FileManager.default.fileExists(atPath: file(home)))
    try FileManager.default.removeItem(atPath: file(home))
    var used = try UsedStores.load(home)
    #expect(!used.isEmpty && used.contains(site.store.location) && !used.contains("s3://b"))
    // Stores known only to the manifest are not forgotten with the first entry.
    try UsedStores.record("s3://b", in: home)
    used = try UsedStores.load(home)
    #expect(used.contains(site.store.location) && used.contains("s3://b"))
    // Opening the manifest may recreate it: what it knows is recorded before.
    try FileManager.default.removeItem(atPath: file(home))
    _ = try site.context()
    try FileManager.default.removeItem(atPath: home.cachePath)
    #expect(try UsedStores.load(home).contains(site.store.location))
  }

  @Test func `a store is recorded as used before the first put`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    site.store.plan(.die, on: "PUT")
    await #expect(throws: CancellationError.self) { try await site.upload() }
    #expect(try UsedStores.load(site.local.home).contains(site.store.location))
  }
}
