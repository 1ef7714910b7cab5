import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync
import TestSupport
import Testing

/// A device's key may write each name once, and delete nothing: a failed PUT is repaired under
/// another name.
@Suite(.tags(.medium)) struct WriteOnceTests {
  private let local: TestHome
  private let faulty: FaultyStore

  init() throws {
    local = try TestHome()
    faulty = FaultyStore(
      WriteOnceStore(try DirectoryStore.prepared(at: "\(local.folder)/store")))
  }

  private func upload() async throws -> UploadReport {
    try await onePass(.all) {
      try SyncContext(
        home: local.home, device: local.device, store: faulty, machine: local.clock.machine,
        transfers: 4)
    }
  }

  /// An object that was truncated, one that was damaged, and one whose answer was lost.
  @Test(
    arguments: [".log.zst", ".terminated.", "device.json"],
    [FaultyStore.Fault.truncate, .flip, .failAfter])
  func `on a write-once store, a faulty put is repeated under another name`(
    part: String, fault: FaultyStore.Fault
  ) async throws {
    let session = try local.session(Array("one\ntwo\nthree\n".utf8))
    faulty.plan(fault, on: "PUT", keyContaining: part)
    for _ in 0..<3 {
      _ = try await upload()
      local.clock.advance(seconds: 4000)
    }
    #expect(faulty.unexercised.isEmpty)
    #expect(try await upload().failures.isEmpty)
    #expect(try local.home.openSessions().isEmpty)
    let folder = SessionFolder(device: local.device.deviceId, session: session)
    let remote = try await FolderListing(folder, in: faulty)[session, in: folder]
    #expect(remote.seal != nil)
    var read: [UInt8] = []
    try await RemoteReader(faulty, knowing: nil).read(remote, upTo: remote.end) { read += $0 }
    #expect(try read == local.log(session))
  }

  @Test func `on a write-once store, a session is sealed although its hold is there already`()
    async throws
  {
    let session = try local.session(Array("x\n".utf8))
    do {
      let lived = try LivedClock(home: local.home, machine: local.clock.machine)
      let lock = try #require(try HomeLock.acquire(local.home))
      _ = try Holds(local.home).keep(session, for: .days(90), lived, holding: lock)
    }
    faulty.plan(.failAfter, on: "PUT", keyContaining: ".keep.")
    for _ in 0..<2 { _ = try await upload() }
    #expect(faulty.unexercised.isEmpty)
    #expect(try local.home.openSessions().isEmpty)
    let folder = SessionFolder(device: local.device.deviceId, session: session)
    let remote = try await FolderListing(folder, in: faulty)[session, in: folder]
    #expect(remote.seal != nil && !remote.holds.isEmpty)
  }
}
