import Foundation
import GRDB
import LogRecords
import Logging
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

@Suite(.tags(.medium)) struct UploadTests {
  private static let text = Array("one\ntwo\nthree\n".utf8)

  @Test func `an ended session costs two puts and then no requests`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    try await site.upload()
    let puts = site.store.takeRequests().filter { $0.hasPrefix("PUT") && $0.contains("\(session)") }
    #expect(puts.count == 2)
    try await site.expectSealedAndEqual(session)
    _ = site.store.takeRequests()
    try await site.upload()
    #expect(site.store.takeRequests() == [])
  }

  /// With fewer concurrent requests than wait for each other here, it would not end.
  @Test(
    .timeLimit(.minutes(60)),
    arguments: [(10, nil, 32), (70_000, nil, 12), (10, 3, 3), (70_000, 3, 3)] as [(Int, Int?, Int)])
  func `the number of concurrent uploads follows segment size and settings`(
    length: Int, transfers: Int?, most: Int
  ) async throws {
    var site = try Site()
    site.transfers = transfers
    let text = Array("\(String(repeating: "a", count: length))\n".utf8)
    for _ in 0..<40 { _ = try site.local.session(text) }
    site.store.gather(most)
    let report = try await site.upload()
    #expect(report.failures.isEmpty && report.stoppedBy == nil)
    #expect(site.store.mostUnderWay == most)
  }

  /// It has the number that the seal gets.
  @Test func `a truncated first revision is removed after the seal`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    Self.text.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    site.store.plan(.truncate, on: "PUT", keyContaining: ".active.")
    try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    try writer.end(.exit(0))
    try await site.upload(.transient)
    try await site.expectSealedAndEqual(writer.session)
    try await site.upload()
    #expect(try await site.remote(writer.session).keys.count == 2)
    _ = site.store.takeRequests()
    try await site.upload()
    #expect(site.store.takeRequests() == [])
  }

  /// A pass that cannot read back its seal leaves the next one to put another with the same number.
  @Test(arguments: [
    (false, false, false), (true, false, false), (true, true, false), (true, true, true),
  ])
  func `a seal with the number of the next one is removed if it is truncated or this home's`(
    isWhole: Bool, isOwn: Bool, isReaped: Bool
  ) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    try await site.upload()
    try writer.end(.exit(0))
    try await site.upload()
    let remote = try await site.remote(writer.session)
    let seal = try #require(remote.seal)
    let json = try await site.store.get(remote.folder.key + seal.fileName) + [0x0A]
    let other = RevisionName(
      session: writer.session, number: seal.number, status: seal.status,
      generation: seal.generation, length: 0, json: json)
    let key = remote.folder.key + other.fileName
    _ = try await site.store.put(key, isWhole ? json : Array(json.dropLast(100)))
    if isOwn {
      var entry = UploadCheckpoint(boot: "")
      entry.intend(other)
      let manifest = try site.context().manifest
      try manifest.save(&entry, of: writer.session)
      try manifest.forgetButSuperseded(of: writer.session, due: site.local.clock.now())
    }
    if isReaped {
      site.local.clock.advance(seconds: 8 * 86_400)
      try await site.reap()
      #expect(!FileManager.default.fileExists(atPath: writer.files.sidecar))
    }
    try await site.upload()
    let stays = isWhole && !isOwn
    #expect(try await site.remote(writer.session).keys.contains(key) == stays)
    #expect(try await site.remote(writer.session).keys.count == (stays ? 3 : 2))
    #expect(try await site.remote(writer.session).isWhole)
    if !isReaped { try await site.expectSealedAndEqual(writer.session) }
  }

  @Test func `an upload of new bytes is one put, and an idle one no request`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    try await site.upload()
    _ = site.store.takeRequests()
    for _ in 0..<3 {
      Self.text.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      try await site.upload()
      let requests = site.store.takeRequests()
      #expect(requests.count == 1 && requests[0].hasPrefix("PUT"), "\(requests)")
      try await site.upload()
      #expect(site.store.takeRequests() == [])
    }
    #expect(try await site.remote(writer.session).revision?.status == .active)
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    #expect(try await site.remote(writer.session).seal?.status == .terminated)
  }

  @Test func `an unfinished record waits for its end, for at most a minute`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let log = try #require(FileHandle(forWritingAtPath: writer.files.log))
    try log.seekToEnd()
    try log.write(contentsOf: Data("2026-01-22T14:30:05.123Z [INFO] [x] torn".utf8))
    // The record's age follows the test's clock.
    try FileManager.default.setAttributes(
      [.modificationDate: site.local.clock.now().date], ofItemAtPath: writer.files.log)
    try await site.upload()
    let mark = try await site.remote(writer.session).mark
    #expect(mark == StreamOffset(try site.local.log(writer.session).count - 40))
    site.local.clock.advance(seconds: 61)
    try await site.upload()
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }

  /// Otherwise it waits for years where a clock began in a wrong one.
  @Test func `an unfinished record of a future time is sent a minute later`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let log = try #require(FileHandle(forWritingAtPath: writer.files.log))
    try log.seekToEnd()
    try log.write(contentsOf: Data("2026-01-22T14:30:05.123Z [INFO] [x] torn".utf8))
    let later = site.local.clock.now() + .days(3650)
    try FileManager.default.setAttributes(
      [.modificationDate: later.date], ofItemAtPath: writer.files.log)
    try await site.upload()
    #expect(
      try await site.remote(writer.session).mark
        == StreamOffset(try site.local.log(writer.session).count - 40))
    site.local.clock.advance(seconds: 61)
    try await site.upload()
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }

  @Test(arguments: ["lost", "garbage", "another database"])
  func `a lost or damaged manifest loses nothing and resends no log`(how: String) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    let ended = try site.local.session(Self.text)
    try await site.upload()
    _ = site.store.takeRequests()
    let path = site.local.home.cachePath + "/manifest.sqlite"
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    if how == "garbage" { try Data((0..<9000).map { _ in 7 }).write(to: URL(filePath: path)) }
    if how == "another database" {
      try Data("SQLite format 3\0xyz".utf8).write(to: URL(filePath: path))
    }
    try await site.upload()
    let puts = site.store.takeRequests().filter { $0.hasPrefix("PUT") && $0.contains(".log.zst") }
    #expect(puts == [])
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    try await site.expectSealedAndEqual(ended)
  }

  /// Rows as keyed by version 0.1.0, written by this device or by a former one.
  @Test(arguments: [true, false])
  func `rows of an earlier version are taken over or dropped`(isOwn: Bool) async throws {
    let site = try Site()
    let writer = try site.local.writer()
    try await site.upload()
    let path = site.local.home.cachePath + "/manifest.sqlite"
    let (key, device) = (site.store.location, site.device.deviceId)
    let former = isOwn ? device : "former0000000000"
    let tables = [
      ("session", "store"), ("segment", "store"), ("remains", "store"), ("store", "url"),
    ]
    try await DatabaseQueue(path: path).write { database in
      for (table, column) in tables {
        try database.execute(sql: "UPDATE \(table) SET \(column) = '\(key)'")
      }
      try database.execute(
        sql: "UPDATE store SET device = replace(device, '\(device)', '\(former)')")
    }
    Self.text.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    _ = site.store.takeRequests()
    try await site.upload()
    let lists = site.store.takeRequests().filter { $0.hasPrefix("LIST") }
    #expect(lists.isEmpty == isOwn)
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
    let left = try await DatabaseQueue(path: path).read { database in
      try tables.reduce(0) { count, table in
        try count
          + (Int.fetchOne(
            database, sql: "SELECT count(*) FROM \(table.0) WHERE \(table.1) = '\(key)'") ?? 0)
      }
    }
    #expect(left == 0)
  }

  @Test func `sessions are sent even if the manifest cannot be written`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    let path = site.local.home.cachePath
    try FileManager.default.removeItem(atPath: path)
    try Data().write(to: URL(filePath: path))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }

  @Test(arguments: [FaultyStore.Fault.failBefore(.transient), .failAfter, .truncate, .flip])
  func `a faulty put is repaired by the next pass`(fault: FaultyStore.Fault) async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    site.store.plan(fault, on: "PUT", keyContaining: ".log.zst")
    try await site.upload()
    site.local.clock.advance(seconds: 120)
    try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    try await site.expectSealedAndEqual(session)
    #expect(try await site.remote(session).segments.count == 1)
  }

  @Test func `a process that dies at any request loses and repeats nothing`() async throws {
    // As many requests as an undisturbed run needs, plus one, after each of which the process dies.
    var deaths: Set<String> = []
    for death in 1...12 {
      let site = try Site()
      let writer = try site.local.writer()
      Self.text.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      let ended = try site.local.session(Self.text, cause: .signal(9))
      for operation in ["PUT", "GET", "LIST"] {
        site.store.plan(death % 2 == 0 ? .die : .failAfter, on: operation, times: 1)
        _ = try? await site.upload()
        // Not every pass makes every request, but some pass dies at each.
        if site.store.forgetPlans().isEmpty { deaths.insert("\(operation) \(death % 2)") }
        site.store.revive()
        site.local.clock.advance(seconds: 7200)
      }
      try writer.end(.exit(0))
      for _ in 0..<death {
        _ = try? await site.upload()
        site.store.revive()
        site.local.clock.advance(seconds: 7200)
      }
      try await site.upload()
      try await site.expectSealedAndEqual(writer.session)
      try await site.expectSealedAndEqual(ended)
      #expect(try await site.remote(ended).seal?.status == .crashed)
    }
    // A death causes a listing only of what it made doubtful.
    #expect(deaths.isSuperset(of: ["PUT 0", "PUT 1", "GET 0", "GET 1", "LIST 0"]), "\(deaths)")
  }

  @Test func `a seal whose pass died is adopted by the next`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    // The directory proves nothing by itself: the seal is read back, and there the process dies.
    site.store.plan(.die, on: "GET", keyContaining: ".terminated.")
    await #expect(throws: CancellationError.self) { try await site.upload() }
    site.store.revive()
    try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    try await site.expectSealedAndEqual(session)
    #expect(try await site.remote(session).revisions.count == 1)
  }

  @Test func `a local log that differs from the bytes sent is quarantined`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    Self.text.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try await site.upload()
    let before = try await site.remoteBytes(writer.session)
    let log = try #require(FileHandle(forWritingAtPath: writer.files.log))
    try log.truncate(atOffset: 20)
    try log.seekToEnd()
    try log.write(contentsOf: Data(repeating: 0x78, count: 300) + [0x0a])
    let report = try await site.upload()
    #expect((report.failures.first?.error as? ReplicaError)?.code == .localLogChanged)
    #expect(try await site.remoteBytes(writer.session) == before)
    #expect(try Quarantine(site.local.home).sessions().map(\.session) == [writer.session])
  }

  @Test func `a damaged sidecar loses details but no bytes of the log`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    let path = site.local.home.files(for: session).sidecar
    try Data("{\"sessionId\":".utf8).write(to: URL(filePath: path))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
    let kept = "\(site.local.home.quarantinePath)/\(session).json"
    #expect(FileManager.default.fileExists(atPath: kept))
    #expect(try Sidecar.load(path).status == .terminated)
  }

  @Test func `a seal counts records in foreign forms`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    let files = site.local.home.files(for: session)
    var sidecar = try Sidecar.load(files.sidecar)
    sidecar.format = .asIs
    try sidecar.save(files.sidecar)
    let log = """
      2026-01-22 14:30:05,000 ERROR [main] org.acme.Net: refused
      java.io.IOException: closed
      \tat org.acme.Net.read(Net.java:40)
      2026-01-22 14:30:06,000 INFO [main] org.acme.Net: up

      """
    try Data(log.utf8).write(to: URL(filePath: files.log))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
    let remote = try await site.remote(session)
    let seal = try #require(remote.seal)
    let folder = SessionFolder(device: site.local.device.deviceId, session: session)
    let sealed = try Sidecar(json: try await site.store.get(folder.key + seal.fileName))
    #expect(sealed.levels == ["ERROR": 1, "INFO": 1])
    #expect(sealed.categories == ["org.acme.Net"])
  }

  @Test func `an empty session is sealed`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    try writer.end(.exit(0))
    try Data().write(to: URL(filePath: writer.files.log))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test(arguments: [
    "", "{\"format\":1,", "{\"format\":1,\"name\":\"tidemirk\"}\n",
    "{\"format\":q,\"name\":\"tidemark\"}\n",
  ]) func `a damaged marker is repaired`(_ remains: String) async throws {
    let site = try Site()
    try site.local.session(Self.text)
    _ = try await site.store.put("tidemark.json", Array(remains.utf8))
    try await site.upload()
    #expect(try await site.store.get("tidemark.json") == FormatMarker.content)
  }

  @Test func `a marker that was stored wrongly is put again`() async throws {
    let site = try Site()
    try site.local.session(Self.text)
    _ = try await site.store.put("tidemark.json", [])
    site.store.plan(.flip, on: "PUT", keyContaining: "tidemark.json", times: 2)
    try await site.upload()
    #expect(site.store.unexercised.isEmpty)
    #expect(try await site.store.get("tidemark.json") == FormatMarker.content)
  }

  @Test func `a later format is refused before anything is written`() async throws {
    let site = try Site()
    try site.local.session(Self.text)
    _ = try await site.store.put("tidemark.json", Array("{\"format\":2}\n".utf8))
    _ = site.store.takeRequests()
    let report = try await site.upload()
    #expect((report.stoppedBy as? ReplicaError)?.code == .unsupportedFormat)
    #expect(site.store.takeRequests().isEmpty && site.store.takeMarkerReads() == 1)
  }

  @Test func `large logs and arbitrary bytes are read back unchanged`() async throws {
    var generator = SeededGenerator(case: 3)
    let site = try Site()
    let long = [UInt8](repeating: 0x61, count: 9 << 20)
    let sessions = [
      try site.local.session(long), try site.local.session(NastyText.make(3000, &generator)),
    ]
    try await site.upload()
    for session in sessions { try await site.expectSealedAndEqual(session) }
  }

  @Test func `verify finds a damaged object, and repair sends it again`() async throws {
    let site = try Site()
    let session = try site.local.session(Self.text)
    try await site.upload()
    let remote = try await site.remote(session)
    let key = remote.folder.key + (try #require(remote.segments.first).fileName)
    let object = try await site.store.get(key)
    _ = try await site.store.put(key, Array(object.prefix(object.count / 2)))
    let verifier = Verifier(try site.context())
    #expect(try await verifier.verify(site.remote(session)).problem?.contains("not there") == true)
    var flipped = object
    flipped[10] ^= 1
    _ = try await site.store.put(key, flipped)
    #expect(try await verifier.verify(site.remote(session)).problem != nil)
    #expect(try verifier.reopen(session))
    try await site.upload()
    #expect(try await verifier.verify(site.remote(session)).problem == nil)
    try await site.expectSealedAndEqual(session)
  }
}
