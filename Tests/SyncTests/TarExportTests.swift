import Foundation
import LogRecords
import Platform
import Replica
import SessionLog
import SessionReading
import Synchronization
import TestSupport
import Testing

@testable import Sync

@Suite(.tags(.medium)) struct TarExportTests {
  /// Makes an archive; returns whether it is whole, its bytes, and the sessions left out.
  private func archive(
    _ readers: [SessionReader], at path: String, omitting omits: Bool = true
  ) async throws -> (isWhole: Bool, bytes: [UInt8], omitted: [SessionID]) {
    let omitted = Mutex<[SessionID]>([])
    let tar = TarExport(readers, RecordChoice(RecordFilter()), .verified) { session, _ in
      omitted.withLock { $0.append(session) }
      return omits
    }
    let isWhole = try await ExportFile.with(ExportFile(path, promising: 0)) {
      try await tar.write(to: $0)
    }
    let bytes = Array(try Data(contentsOf: URL(filePath: path)))
    return (isWhole, bytes, omitted.withLock { $0 })
  }

  @Test func `a session whose sidecar cannot be decoded is left out of an archive`() async throws {
    let site = try Site()
    var sessions: [SessionID] = []
    for number in 0..<3 { sessions.append(try site.local.session("\(number)\n".utf8)) }
    try await site.upload()
    let remote = try await site.remote(sessions[1])
    let json = Array("{".utf8)
    let name = RevisionName(
      session: sessions[1], number: 99, status: .terminated,
      length: try #require(remote.seal).length, json: json)
    _ = try await site.store.put(remote.folder.key + name.fileName, json)
    try FileManager.default.removeItem(atPath: site.local.home.path + "/sessions")
    let catalog = try site.local.catalog(site.context())
    let ids = sessions.map(\.description)
    let readers = try await catalog.entries(matching: ids, devices: [site.device.deviceId])
      .map { try SessionReader($0, side: .any, in: catalog) { _ in } }

    let path = site.local.folder + "/sessions.tar"
    let made = try await archive(readers, at: path)
    #expect(!made.isWhole && made.omitted == [sessions[1]])
    let whole = try await archive([readers[0], readers[2]], at: path)
    #expect(whole.isWhole && whole.omitted.isEmpty && made.bytes == whole.bytes)

    // Without anything that can be read, and where nothing may be left out, the old file stays.
    for (wanted, omits) in [([1], true), ([1, 1], true), ([0, 1], false)] {
      await #expect(throws: (any Error).self) {
        try await archive(wanted.map { readers[$0] }, at: path, omitting: omits)
      }
      #expect(try Data(contentsOf: URL(filePath: path)) == Data(whole.bytes))
    }
  }

  @Test func `an export takes back a part that does not become whole`() throws {
    let home = try TestHome()
    let path = home.folder + "/export"
    func piece(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 3 << 19) }
    let file = try ExportFile(path, promising: 0)
    try file.write(piece(1))
    let mark = try file.mark()
    for size in [1, 3 << 19] {
      try file.write(piece(2).prefix(size))
      #expect(try file.takeBack(to: mark))
    }
    try file.write([3])
    try file.commit()
    #expect(Array(try Data(contentsOf: URL(filePath: path))) == piece(1) + [3])

    // What was printed cannot be taken back.
    let printed = Mutex<Int>(0)
    let output = ExportFile { bytes in printed.withLock { $0 += bytes.count } }
    try output.write([1])
    let start = try output.mark()
    try output.write([2])
    #expect(try output.takeBack(to: start))
    try output.write(piece(2))
    #expect(try !output.takeBack(to: start))
    #expect(printed.withLock { $0 } == 1 + piece(2).count)
  }
}
