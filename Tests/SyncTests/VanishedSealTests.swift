import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync
import TestSupport
import Testing

/// A home knows which sessions it sealed: without that seal, objects in the store may be another
/// writer's.
@Suite(.tags(.medium)) struct VanishedSealTests {
  private func read(
    _ site: Site, _ session: SessionID, _ mode: SessionReader.Mode, lastLines: Int? = nil
  ) async throws -> (bytes: [UInt8], isWhole: Bool, told: [String]) {
    let catalog = try site.local.catalog(site.context())
    let entry = try await catalog.entry(
      matching: session.description, devices: [site.device.deviceId])
    let told = Guarded<[String]>([])
    let reader = try SessionReader(entry, side: .remote, in: catalog) { line in
      told.withLock { $0.append(line) }
    }
    var bytes: [UInt8] = []
    let isWhole = try await reader.read(
      RecordChoice(RecordFilter(), lastLines: lastLines), mode
    ) { bytes += $0 }
    return (bytes, isWhole, told.withLock(\.self))
  }

  @Test func `a remote copy without this home's seal is not read as if it were sealed`()
    async throws
  {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    try await site.upload()
    let log = try site.local.log(session)
    #expect(try await read(site, session, .verified).bytes == log)
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    _ = try await site.store.delete([remote.folder.key + seal.fileName])
    for lines in [nil, 1] {
      await #expect(throws: ReadingError.self) {
        _ = try await read(site, session, .verified, lastLines: lines)
      }
      await #expect(throws: ReadingError.self) {
        _ = try await read(site, session, .ranged, lastLines: lines)
      }
    }
    let salvaged = try await read(site, session, .salvaged)
    #expect(salvaged.bytes == log && !salvaged.isWhole)
    #expect(salvaged.told.contains { $0.contains(seal.fileName) })
  }

  @Test func `a sealed log that lost its end is read from the store`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    try await site.upload()
    let files = site.local.home.files(for: session)
    let log = try site.local.log(session)
    try File.remove(files.log)
    try AtomicFile.write(Array(log.dropLast(5)), to: files.log)
    let catalog = try site.local.catalog(site.context())
    let entry = try await catalog.entry(
      matching: session.description, devices: [site.device.deviceId])
    let reader = try SessionReader(entry, side: .any, in: catalog) { _ in }
    var bytes: [UInt8] = []
    #expect(try await reader.read(RecordChoice(RecordFilter()), .verified) { bytes += $0 })
    #expect(bytes == log)
  }
}
