import Delta
import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync
import TestSupport
import Testing

/// A seal names the index of each object that this home made.
@Suite(.tags(.medium)) struct SealedIndexTests {
  private func write(_ writer: SessionWriter, _ lines: Range<Int>) {
    for number in lines {
      Array("line \(number) of the program\n".utf8).withUnsafeBytes {
        writer.capture($0, from: .standardOutput)
      }
    }
  }

  private func seal(_ site: Site, _ session: SessionID) async throws -> Sidecar {
    let remote = try await site.remote(session)
    return try await RemoteReader(site.store, knowing: nil)
      .read(try #require(remote.seal), in: remote.folder)
  }

  /// Expects that each hash in a seal is that of its object's index.
  private func expectIndexes(
    _ site: Site, _ session: SessionID, known: (Int) -> Bool = { _ in true }
  ) async throws {
    let sidecar = try await seal(site, session)
    let names = (sidecar.objects ?? []) + (sidecar.basis ?? [])
    let hashes = try #require(sidecar.indexes)
    try #require(hashes.count == names.count && !names.isEmpty)
    let folder = SessionFolder(device: site.device.deviceId, session: session)
    for (number, name) in names.enumerated() {
      let object = try await site.store.get(folder.key + name)
      let hash = try SegmentIndex.hash(endOf: object[...]).text
      #expect(hashes[number] == (known(number) ? hash : nil))
    }
  }

  @Test func `objects of several passes and of the sealing one are named`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for tick in 0..<3 {
      write(writer, tick * 10..<tick * 10 + 10)
      try await site.reopened().upload()
    }
    write(writer, 30..<20_000)
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    try await expectIndexes(site, writer.session)
  }

  @Test func `a pass that died between a PUT and its answer loses no index`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    write(writer, 0..<10)
    try await site.upload()
    write(writer, 10..<20)
    site.store.plan(.failAfter, on: "PUT", keyContaining: ".log.zst", times: 10)
    try await site.upload()
    site.store.forgetPlans()
    try writer.end(.exit(0))
    try await site.upload(.all)
    try await site.expectSealedAndEqual(writer.session)
    try await expectIndexes(site, writer.session)
  }

  @Test func `an object that a lost cache knew is named without its index`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    write(writer, 0..<10)
    try writer.end(.exit(0))
    site.store.plan(.die, on: "PUT", keyContaining: ".terminated.")
    await #expect(throws: CancellationError.self) { try await site.upload() }
    site.store.revive()
    try FileManager.default.removeItem(atPath: site.local.home.cachePath)
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    try await expectIndexes(site, writer.session) { _ in false }
  }

  @Test(.shiftedTime) func `a rewritten file's deltas and their basis are named`() async throws {
    let folder = try AttachedFolder("a.log")
    func lines(_ numbers: Range<Int>) -> String { numbers.map { "line \($0)\n" }.joined() }
    try folder.append(lines(0..<40_000), to: "a.log")
    try await folder.tick()
    try folder.rename("a.log", to: "old")
    try folder.append(lines(3..<40_000) + "more\n", to: "a.log")
    try FileManager.default.removeItem(atPath: folder.file("old"))
    try await folder.tick()
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
    let session = try #require(try folder.sidecars().first?.sessionId)
    #expect(try await seal(folder.site, session).basis?.isEmpty == false)
    try await expectIndexes(folder.site, session)
  }
}
