import Foundation
import HTTPTransport
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync
import TestSupport
import Testing

/// A store is recognized by its marker: consequences of a missing one.
@Suite(.tags(.medium)) struct StoreMarkerTests {
  private static let text = Array("one\ntwo\n".utf8)

  private func names(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path)
  }

  private func code(_ report: UploadReport) -> StoreError.Code? {
    (report.stoppedBy as? StoreError)?.code
  }

  /// An empty mount point, or none at all, in place of a share.
  @Test(arguments: [true, false])
  func `an unmounted folder is not taken for the store`(_ isThere: Bool) async throws {
    let site = try Site()
    let first = try site.local.session(Self.text)
    try await site.upload()
    let root = site.local.folder + "/store"
    try FileManager.default.moveItem(atPath: root, toPath: root + "-away")
    if isThere {
      try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    }
    let later = try site.reopened()
    // A pass with nothing to send must not allow a caller to reap either.
    #expect(code(try await later.upload()) == .configuration)
    try later.local.session(Self.text)
    let report = try await later.upload()
    #expect(code(report) == .configuration)
    let text = "\(report.stoppedBy.map { "\($0)" } ?? "")"
    #expect(text.contains(isThere ? "--restore-marker" : "does not exist"), "\(text)")
    await #expect(throws: StoreError.self) { try await later.context().checkFolder() }
    if isThere {
      #expect(try names(root).isEmpty)
      try FileManager.default.removeItem(atPath: root)
    } else {
      #expect(!FileManager.default.fileExists(atPath: root))
    }
    try FileManager.default.moveItem(atPath: root + "-away", toPath: root)
    let back = try site.reopened()
    #expect(try await back.upload().stoppedBy == nil)
    #expect(try back.local.home.openSessions().isEmpty)
    try await back.expectSealedAndEqual(first)
  }

  @Test func `a folder without a marker is not used as a store`() async throws {
    let site = try Site()
    let root = site.local.folder + "/store"
    try FileManager.default.removeItem(atPath: root + "/tidemark.json")
    try site.local.session(Self.text)
    let report = try await site.upload()
    #expect(code(report) == .configuration)
    #expect("\(report.stoppedBy.map { "\($0)" } ?? "")".contains("run 'tidemark init file://"))
    #expect(try names(root).isEmpty)
    #expect(try UsedStores.load(site.local.home).contains(site.store.location) == false)
  }

  @Test func `every pass reads a folder's marker once`() async throws {
    let site = try Site()
    try site.local.session(Self.text)
    try await site.upload()
    #expect(site.store.takeMarkerReads() == 1)
    try await site.upload()
    #expect(site.store.takeMarkerReads() == 1)
    try site.local.session(Self.text)
    try await site.upload()
    #expect(site.store.takeMarkerReads() == 1)
  }

  @Test func `a share that is replaced by another stops the pass`() async throws {
    let site = try Site()
    try site.local.session(Self.text)
    #expect(try await site.upload().stoppedBy == nil)
    let root = site.local.folder + "/store"
    try FileManager.default.moveItem(atPath: root, toPath: root + "-away")
    try DirectoryStore.prepared(at: root)
    try site.local.session(Self.text)
    // The same store object as in the previous pass, which has seen the other folder.
    #expect(code(try await site.upload()) == .configuration)
    #expect(try names(root) == ["tidemark.json"])
  }

  // MARK: Over HTTP

  private func check(
    _ store: any ObjectStore, isUsed: Bool, create: Bool = true
  ) async -> (hasMarker: Bool?, error: StoreError?) {
    do {
      return (try await FormatMarker.check(store, isUsed: isUsed, create: create), nil)
    } catch {
      return (nil, error as? StoreError)
    }
  }

  @Test func `a new store gets its marker`() async throws {
    let store = MemoryStore()
    #expect(await check(store, isUsed: false, create: false).hasMarker == false)
    #expect(store.keys.isEmpty)
    #expect(await check(store, isUsed: false).hasMarker == true)
    #expect(store["tidemark.json"] == FormatMarker.content)
    #expect(await check(store, isUsed: true).hasMarker == true)
  }

  @Test(arguments: [true, false])
  func `a used store without its marker is a configuration error`(_ isEmpty: Bool) async throws {
    let store = MemoryStore()
    if !isEmpty { store["devices/a/device.json"] = [1] }
    let keys = store.keys
    let error = try #require(await check(store, isUsed: true).error)
    #expect(error.code == .configuration && error.description.contains("--restore-marker"))
    #expect(store.keys == keys)
  }

  @Test func `a place with foreign objects gets no marker`() async throws {
    let store = MemoryStore()
    store["photo.jpg"] = [1]
    let error = try #require(await check(store, isUsed: false).error)
    #expect(error.code == .configuration && error.description.contains("tidemark init"))
    #expect(store.keys == ["photo.jpg"])
  }

  @Test(arguments: [true, false])
  func `a truncated marker is repaired`(_ isUsed: Bool) async throws {
    let store = MemoryStore()
    store["tidemark.json"] = Array(FormatMarker.content.prefix(9))
    store["devices/a/device.json"] = [1]
    #expect(await check(store, isUsed: isUsed).hasMarker == true)
    #expect(store["tidemark.json"] == FormatMarker.content)
  }

  @Test(arguments: [true, false])
  func `a refused read is not taken for a missing marker`(_ isUsed: Bool) async throws {
    let store = FaultyStore(MemoryStore())
    store.plan(.failBefore(.authentication), on: "GET")
    #expect(await check(store, isUsed: isUsed).error?.code == .authentication)
    #expect(store.takeRequests() == ["GET tidemark.json"])
  }

  /// Another device creates the same store at the same time.
  @Test func `a marker created meanwhile by another device is accepted`() async throws {
    let store = MemoryStore()
    store["devices/a/device.json"] = [1]
    let reads = Guarded(0)
    store.beforeGet { _ in
      let count = reads.withLock { reads in
        reads += 1
        return reads
      }
      if count == 2 { store["tidemark.json"] = FormatMarker.content }
    }
    #expect(await check(store, isUsed: false).hasMarker == true)
  }
}
