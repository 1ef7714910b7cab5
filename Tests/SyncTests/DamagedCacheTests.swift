import Foundation
import GRDB
import LogRecords
import Platform
import Replica
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// Caches that no version of this program wrote: their content is dropped, and determined again.
@Suite(.tags(.medium)) struct DamagedCacheTests {
  private static func change(_ name: String, in home: Home, _ sql: String) throws {
    let database = try DatabaseQueue(path: "\(home.cachePath)/\(name).sqlite")
    try database.write { try $0.execute(sql: sql) }
    try database.close()
  }

  /// An open session with one tick sent.
  private func siteWithTick() async throws -> (Site, SessionWriter) {
    let site = try Site()
    let writer = try site.local.writer()
    Array("one\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try await site.upload()
    #expect(try site.context().manifest.entry(writer.session) != nil)
    return (site, writer)
  }

  @Test(arguments: [
    "generation = 'x'", "generation = 0", "generation = 1000000", "sent = 'x'", "sent = -1",
    "sent = 9223372036854775807", "sent = x'00'", "merged = -1", "signed = 9223372036854775807",
    "link = 5", "link = x'00'", "revision = -1", "revision = 9223372036854775807", "boot = x'ff'",
    "dirty = 'x'", "attempts = 9223372036854775807", "attempts = -1", "passing = 'x'",
    "nextAttempt = -9223372036854775808", "nextAttempt = 'x'",
  ])
  func `a damaged session row of the cache is dropped`(assignment: String) async throws {
    let (site, writer) = try await siteWithTick()
    try Self.change("manifest", in: site.local.home, "UPDATE session SET \(assignment)")
    #expect(try site.context().manifest.entry(writer.session) == nil)
    Array("two\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try writer.end(.exit(0))
    let report = try await site.upload()
    #expect(report.failures.isEmpty && report.stoppedBy == nil)
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test(arguments: [
    "name = 5", "name = x'ff'", "proven = 'x'", "name = replace(name, id, 'OTHER')",
  ])
  func `a damaged segment row of the cache is dropped`(assignment: String) async throws {
    let (site, writer) = try await siteWithTick()
    let other = SessionID.make(at: site.local.clock.now(), by: site.local.clock.machine)
    try Self.change(
      "manifest", in: site.local.home,
      "UPDATE segment SET \(assignment.replacing("OTHER", with: "\(other)"))")
    #expect(try site.context().manifest.entry(writer.session) == nil)
    try writer.end(.exit(0))
    #expect(try await site.upload().failures.isEmpty)
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test(arguments: [
    "checkedAt = 'x'", "lastSuccess = -9223372036854775808", "failingSince = 9223372036854775807",
    "attempts = 'x'", "attempts = 9223372036854775807", "objectLimit = 'x'", "objectLimit = -1",
    "device = x'ff'", "nextAttempt = 'x'",
  ])
  func `a damaged store row of the cache is dropped`(assignment: String) async throws {
    let (site, writer) = try await siteWithTick()
    try Self.change("manifest", in: site.local.home, "UPDATE store SET \(assignment)")
    #expect(try site.context().manifest.storeEntry() == StoreState())
    try writer.end(.exit(0))
    let report = try await site.upload()
    #expect(report.failures.isEmpty && report.stoppedBy == nil)
    try await site.expectSealedAndEqual(writer.session)
  }

  /// Opening the cache checks the first rows only.
  @Test func `damage found in the middle of the cache is gone in the next pass`() async throws {
    let (site, writer) = try await siteWithTick()
    let path = site.local.home.cachePath + "/manifest.sqlite"
    // Other stores' rows before and after ours, and nothing but ours damaged.
    try Self.change(
      "manifest", in: site.local.home,
      """
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 500)
      INSERT INTO session SELECT CASE WHEN n % 2 THEN '' ELSE '~' END || n, id, generation, sent,
        merged, signed, link, revision, boot, dirty, attempts, hex(zeroblob(200)), passing,
        nextAttempt, owner FROM session, number;
      """)
    var bytes = try Data(contentsOf: URL(filePath: path))
    let pages = Set(
      stride(from: 8192, to: bytes.count, by: 4096).filter {
        let page = bytes[$0..<$0 + 4096]
        return ["\(site.store.location)", "00000000"].allSatisfy {
          page.range(of: Data($0.utf8)) != nil
        }
      })
    #expect(!pages.isEmpty)
    for page in pages { bytes.replaceSubrange(page..<page + 4096, with: Data(count: 4096)) }
    try bytes.write(to: URL(filePath: path))
    try writer.end(.exit(0))
    await #expect(throws: CacheError.self) { try await site.upload() }
    #expect(try await site.upload().failures.isEmpty)
    try await site.expectSealedAndEqual(writer.session)
  }

  @Test func `a view planted in the cache is not queried`() async throws {
    let (site, writer) = try await siteWithTick()
    try Self.change(
      "manifest", in: site.local.home,
      """
      ALTER TABLE remains RENAME TO kept;
      CREATE VIEW remains(store, id, due) AS
        WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)
        SELECT 's', n, n FROM endless WHERE n < 0;
      """)
    try writer.end(.exit(0))
    #expect(try await site.upload().failures.isEmpty)
    try await site.expectSealedAndEqual(writer.session)
  }

  /// Readers of other users' homes read it before any upload does.
  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      "CREATE VIEW store(url, lastSuccess) AS SELECT n, n FROM endless",
      "CREATE TABLE store(url, lastSuccess AS (url || 'x'))",
    ])
  func `code planted in the table of stores is not run`(_ store: String) async throws {
    let (site, _) = try await siteWithTick()
    try File.remove(site.local.home.path + "/stores.json")
    try Self.change(
      "manifest", in: site.local.home,
      """
      DROP TABLE store;
      CREATE TABLE kept(n);
      INSERT INTO kept VALUES (1);
      CREATE VIEW endless AS
        WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)
        SELECT n FROM endless WHERE n < 0;
      \(store);
      \(store.hasPrefix("CREATE TABLE") ? "DROP VIEW endless; INSERT INTO store VALUES ('s')" : "")
      """)
    #expect(try !UsedStores.load(site.local.home).isKnown)
    #expect(UnreadableCache.problem(of: site.local.home) != nil)
  }

  @Test(arguments: ["", "-wal", "-shm", "-journal"], HostileThing.allCases)
  func `a cache file that is not regular is not opened`(
    suffix: String, thing: HostileThing
  ) async throws {
    let (site, writer) = try await siteWithTick()
    let path = site.local.home.cachePath + "/manifest.sqlite" + suffix
    unlink(path)
    try thing.put(at: path)
    try writer.end(.exit(0))
    let report = try await site.upload()
    #expect(report.failures.isEmpty && report.stoppedBy == nil)
    try await site.expectSealedAndEqual(writer.session)
  }

  enum HostileThing: CaseIterable {
    case pipe, link, folder

    func put(at path: String) throws {
      switch self {
      case .pipe: #expect(mkfifo(path, 0o600) == 0)
      case .link: #expect(symlink("/etc/hostname", path) == 0)
      case .folder: #expect(mkdir(path, 0o700) == 0)
      }
    }
  }

  @Test(
    .shiftedTime,
    arguments: [
      "file SET base = 'x'", "file SET headLength = -1", "file SET length = 'x'",
      "file SET seen = 9223372036854775807", "file SET path = x'ff'", "file SET inode = 'x'",
      "pass SET since = 'x'", "pass SET fullAt = -9223372036854775808", "pass SET dirty = 'x'",
    ])
  func `a damaged cache of attached files is rebuilt`(change: String) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try Self.change("attached", in: folder.site.local.home, "UPDATE \(change)")
    try folder.append(10..<20, to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    #expect(try await folder.gaps().isEmpty)
  }

  @Test(.shiftedTime, arguments: HostileThing.allCases)
  func `a signature that is not a regular file is replaced`(thing: HostileThing) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<2000, to: "app.log")
    try await folder.tick()
    let home = folder.site.local.home
    let session = try #require(try folder.sidecars().first).sessionId
    let path = "\(home.cachePath)/\(session).g1.sig"
    unlink(path)
    try thing.put(at: path)
    try folder.append(2000..<4000, to: "app.log")
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<4000)])
  }

  @Test(arguments: [
    #"{"redaction":[{"from":-1,"rules":"x"}]}"#,
    #"{"redaction":[{"from":9223372036854775807,"rules":"x"}]}"#, #"{"generation":0}"#,
    #"{"generation":9223372036854775807}"#,
  ])
  func `an upload note with invalid numbers is ignored`(json: String) async throws {
    let (site, writer) = try await siteWithTick()
    let local = LocalSession(site.local.home, writer.session)
    try Data(json.utf8).write(to: URL(filePath: local.files.uploadState))
    #expect(try local.loadUploadState() == nil)
  }
}
