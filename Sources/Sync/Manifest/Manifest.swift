import Delta
import Foundation
import GRDB
import ObjectStore
import Platform
import Replica
package import SessionLog

/// The local cache of how far each session has been sent, one row per session, store and device.
///
/// It may be lost or corrupted at any time: then the first tick of each session lists its folder
/// and reads the offset from the names.
package final class Manifest: Sendable {
  private let queue: DatabaseQueue
  /// The path of the database, which may be kept in memory.
  private let path: String
  /// The store and the device; another device id has no rows yet.
  private let store: String

  /// Opens the cache of a home, after recording the stores that must outlive it.
  ///
  /// - Throws: like ``init(home:store:device:)``.
  package static func open(home: Home, store: String, device: String) throws -> Manifest {
    // If this cannot be written, the manifest cannot be recreated either.
    try? UsedStores.adoptManifest(of: home)
    return try Manifest(home: home, store: store, device: device)
  }

  /// Opens the cache; creates it if missing, and replaces it if corrupt.
  ///
  /// Without space or permission to write, it is kept in memory.
  ///
  /// - Parameters:
  ///   - home: the home; the file is `cache/manifest.sqlite`.
  ///   - store: the store's location.
  ///   - device: id of the sending device.
  /// - Throws: ``CacheError`` when the file can neither be read nor replaced.
  package init(home: Home, store: String, device: String) throws {
    self.store = Self.key(store, device)
    path = Self.path(in: home)
    queue = try CacheDatabase.open(home, name: Self.name, Self.schema)
    try Self.adoptRows(of: store, as: self.store, device: device, in: queue)
  }

  private static let name = "manifest"

  /// The path of a home's manifest.
  static func path(in home: Home) -> String { CacheDatabase.path(of: name, in: home) }

  private static let columns =
    "store, id, generation, sent, merged, signed, link, revision, boot, dirty, attempts, lastError, "
    + "passing, nextAttempt, owner"
  private static let storeColumns =
    "checkedBoot, checkedAt, lastSuccess, failingSince, lastTold, device, remoteReapAt, attempts, "
    + "lastError, nextAttempt, objectLimit"

  static let schema = CacheSchema(
    """
    CREATE TABLE session(
      store TEXT NOT NULL, id TEXT NOT NULL, generation INTEGER NOT NULL,
      sent INTEGER NOT NULL, merged INTEGER NOT NULL, signed INTEGER NOT NULL,
      link BLOB NOT NULL, revision INTEGER NOT NULL, boot TEXT NOT NULL,
      dirty INTEGER NOT NULL, attempts INTEGER NOT NULL, lastError TEXT, passing INTEGER NOT NULL, nextAttempt INTEGER,
      owner BLOB, PRIMARY KEY(store, id)) WITHOUT ROWID;
    CREATE TABLE segment(
      store TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, proven INTEGER NOT NULL,
      own INTEGER NOT NULL, PRIMARY KEY(store, id, name)) WITHOUT ROWID;
    CREATE TABLE remains(
      store TEXT NOT NULL, id TEXT NOT NULL, due INTEGER NOT NULL,
      PRIMARY KEY(store, id)) WITHOUT ROWID;
    CREATE TABLE put(
      store TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
      PRIMARY KEY(store, id, name)) WITHOUT ROWID;
    CREATE TABLE segmentIndex(
      store TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, hash TEXT NOT NULL,
      PRIMARY KEY(store, id, name)) WITHOUT ROWID;
    CREATE TABLE store(
      url TEXT PRIMARY KEY, checkedBoot TEXT, checkedAt INTEGER, lastSuccess INTEGER,
      failingSince INTEGER, lastTold INTEGER, device TEXT, remoteReapAt INTEGER,
      attempts INTEGER NOT NULL, lastError BLOB, nextAttempt INTEGER, objectLimit INTEGER)
      WITHOUT ROWID;
    CREATE TABLE review(
      store TEXT PRIMARY KEY, boot TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
    """,
    probes: [
      "SELECT \(columns) FROM session LIMIT 1",
      "SELECT store, id, name, proven, own FROM segment LIMIT 1",
      "SELECT store, id, due FROM remains LIMIT 1",
      "SELECT store, id, name FROM put LIMIT 1",
      "SELECT store, id, name, hash FROM segmentIndex LIMIT 1",
      "SELECT url, \(storeColumns) FROM store LIMIT 1",
      "SELECT store, boot, at FROM review LIMIT 1",
    ])

  // MARK: Sessions

  /// Stream bytes of a session known to be in the store; nil if unknown.
  ///
  /// - Throws: ``CacheError``.
  package func sentBytes(of session: SessionID) throws -> StreamOffset? { try entry(session)?.sent }

  /// The entry of a session; nil if there is none.
  ///
  /// Unreadable rows are dropped, as if nothing were known.
  func entry(_ id: SessionID) throws -> UploadCheckpoint? {
    do {
      return try queue.query { try entry(id, in: $0) }
    } catch is DamagedRow {
      try forget(id)
      return nil
    }
  }

  private func entry(_ id: SessionID, in database: Database) throws -> UploadCheckpoint? {
    guard
      let row = try database.cachedStatement(
        sql: "SELECT \(Self.columns) FROM session WHERE store = ? AND id = ?"
      ).fetchRow([store, id.description])
    else { return nil }
    let names = try Row.fetchAll(
      database.cachedStatement(
        sql: "SELECT name, proven, own FROM segment WHERE store = ? AND id = ?"),
      arguments: [store, id.description])
    let (segments, own, read) = try segments(names, of: id)
    let begun = try String.fetchAll(
      database.cachedStatement(sql: "SELECT name FROM put WHERE store = ? AND id = ?"),
      arguments: [store, id.description])
    let hashes = try Row.fetchAll(
      database.cachedStatement(
        sql: "SELECT name, hash FROM segmentIndex WHERE store = ? AND id = ?"),
      arguments: [store, id.description])
    var indexes: [SegmentName: String] = [:]
    var next = 0
    for row in hashes {
      let text = try row.value("name") as String
      // Both tables are in the order of names, and most names are in both.
      while next < read.count, read[next].text < text { next += 1 }
      let isRead = next < read.count && read[next].text == text
      guard let name = isRead ? read[next].name : SegmentName(text), name.session == id else {
        continue
      }
      indexes[name] = try row.value("hash")
    }
    var entry = try Self.entry(
      row,
      UploadCheckpoint(
        boot: "", segments: segments,
        intended: Set(begun.compactMap(SegmentName.init).filter { $0.session == id }),
        revisions: begun.compactMap(RevisionName.init).filter { $0.session == id },
        indexes: indexes))
    entry.own = own
    return entry
  }

  /// - Returns: also the names as they are written, in the order of the rows.
  private func segments(
    _ rows: [Row], of id: SessionID
  ) throws -> (
    all: [SegmentName: Bool], own: Set<SegmentName>, read: [(text: String, name: SegmentName)]
  ) {
    var segments: [SegmentName: Bool] = [:]
    var own: Set<SegmentName> = []
    var read: [(text: String, name: SegmentName)] = []
    for row in rows {
      let text = try row.value("name") as String
      // Never count or delete another session's objects.
      guard let name = SegmentName(text), name.session == id else { throw DamagedRow() }
      read.append((text, name))
      segments[name] = try row.value("proven")
      if try row.value("own") { own.insert(name) }
    }
    return (segments, own, read)
  }

  private static func entry(
    _ row: Row, _ names: UploadCheckpoint
  ) throws -> UploadCheckpoint {
    guard let link = try? Link(encoded: Array(try row.value("link") as Data)[...]) else {
      throw DamagedRow()
    }
    var entry = names
    entry.boot = try row.value("boot")
    entry.generation = try row.value("generation", in: 1...DeltaInstructions.highestGeneration)
    entry.sent = StreamOffset(try row.value("sent", in: offsets))
    entry.merged = StreamOffset(try row.value("merged", in: offsets))
    entry.signed = StreamOffset(try row.value("signed", in: offsets))
    entry.link = link
    entry.revision = try row.value("revision", in: 0...RevisionName.highestNumber)
    entry.isDirty = try row.value("dirty")
    entry.attempts = try row.value("attempts", in: attempts)
    entry.lastError = try row.value("lastError")
    entry.isTransient = try row.value("passing")
    entry.nextAttempt = try row.time("nextAttempt")
    entry.owner = (try row.value("owner") as Data?).map(Array.init)
    return entry
  }

  /// Stream offsets that a name can express.
  private static let offsets = 0...DeltaInstructions.highestOffset
  /// Plausible numbers of attempts: more would take decades.
  private static let attempts = 0...1_000_000

  /// Saves a session's entry; of its segments only the changes are written.
  func save(_ entry: inout UploadCheckpoint, of id: SessionID) throws {
    guard entry.isKept else { return }
    try queue.change { [entry] in try save(entry, of: id, in: $0) }
    entry.markSaved()
  }

  private func save(
    _ entry: UploadCheckpoint, of id: SessionID, in database: Database
  ) throws {
    try database.cachedStatement(
      sql:
        "INSERT OR REPLACE INTO session(\(Self.columns)) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
    ).execute(arguments: [
      store, id.description, entry.generation, Int64(entry.sent), Int64(entry.merged),
      Int64(entry.signed), Data(entry.link.encoded), entry.revision,
      entry.boot, entry.isDirty, entry.attempts, entry.lastError, entry.isTransient,
      entry.nextAttempt?.milliseconds, entry.owner.map { Data($0) },
    ])
    let insert = try database.cachedStatement(
      sql: "INSERT OR REPLACE INTO segment(store, id, name, proven, own) VALUES (?,?,?,?,?)")
    for name in entry.unsaved {
      if let proven = entry.segments[name] {
        try insert.execute(
          arguments: [
            store, id.description, name.fileName, proven, entry.own.contains(name),
          ])
      } else {
        for table in ["segment", "segmentIndex"] {
          try database.cachedStatement(
            sql: "DELETE FROM \(table) WHERE store = ? AND id = ? AND name = ?"
          ).execute(arguments: [store, id.description, name.fileName])
        }
      }
    }
    for name in entry.unsavedIndexes {
      try database.cachedStatement(
        sql: "INSERT OR REPLACE INTO segmentIndex(store, id, name, hash) VALUES (?,?,?,?)"
      ).execute(arguments: [store, id.description, name.fileName, entry.indexes[name]])
    }
    for name in entry.unsavedRevisions {
      try database.cachedStatement(
        sql: "INSERT OR IGNORE INTO put(store, id, name) VALUES (?,?,?)"
      ).execute(arguments: [store, id.description, name.fileName])
    }
    for name in entry.unsavedIntentions {
      try database.cachedStatement(
        sql: entry.intended.contains(name)
          ? "INSERT OR IGNORE INTO put(store, id, name) VALUES (?,?,?)"
          : "DELETE FROM put WHERE store = ? AND id = ? AND name = ?"
      ).execute(arguments: [store, id.description, name.fileName])
    }
  }

  /// Prepares for requests that change the store: while they are recorded in memory only, the file
  /// must not count as up to date.
  ///
  /// - Throws: ``Platform/SystemError``.
  func prepareToSend() throws {
    if queue.path != path { try CacheDatabase.outdate(path) }
  }

  /// Requires a listing to confirm each session's entry before it is trusted again.
  func distrustSessions() throws {
    try queue.change { database in
      try database.execute(sql: "UPDATE session SET dirty = 1 WHERE store = ?", arguments: [store])
    }
  }

  /// Forgets a session that is sealed, gone, or differs from its entry.
  func forget(_ id: SessionID) throws {
    try queue.change { try forget(id, in: $0) }
  }

  /// Replaces everything that is recorded of a session with an entry that was not saved before.
  func replace(_ entry: UploadCheckpoint, of id: SessionID) throws {
    try queue.change { database in
      try forget(id, in: database)
      try save(entry, of: id, in: database)
    }
  }

  private static let sessionTables = ["session", "segment", "remains", "put", "segmentIndex"]

  private func forget(
    _ id: SessionID, in database: Database, from tables: [String] = Manifest.sessionTables
  ) throws {
    for table in tables {
      try database.cachedStatement(sql: "DELETE FROM \(table) WHERE store = ? AND id = ?")
        .execute(arguments: [store, id.description])
    }
  }

  // MARK: Superseded objects

  /// Forgets a sealed session, except that it has superseded objects.
  ///
  /// - Parameter due: the earliest time to look for them.
  func forgetButSuperseded(of id: SessionID, due: Timestamp) throws {
    try queue.change { try forgetButSuperseded(of: id, due: due, in: $0) }
  }

  /// Forgets sealed sessions, except those that may have superseded objects.
  ///
  /// - Parameters:
  ///   - sessions: the sessions, and whether each may have some.
  ///   - due: the earliest time to look for objects.
  func forgetSealed(_ sessions: [SessionID: Bool], due: Timestamp) throws {
    guard !sessions.isEmpty else { return }
    try queue.change { database in
      // Of short sessions that are sealed in their first pass, most tables have no rows.
      let tables = try Self.sessionTables.filter { table in
        try database.cachedStatement(sql: "SELECT 1 FROM \(table) WHERE store = ? LIMIT 1")
          .fetchRow([store]) != nil
      }
      for (id, hasSuperseded) in sessions {
        if hasSuperseded {
          try forgetButSuperseded(of: id, due: due, in: database)
        } else {
          try forget(id, in: database, from: tables)
        }
      }
    }
  }

  private func forgetButSuperseded(
    of id: SessionID, due: Timestamp, in database: Database
  ) throws {
    // Only segments that this home put may be deleted later.
    let put = try String.fetchAll(
      database,
      sql: "SELECT name FROM segment WHERE store = ?1 AND id = ?2 AND own UNION "
        + "SELECT name FROM put WHERE store = ?1 AND id = ?2", arguments: [store, id.description])
    try forget(id, in: database)
    for name in put {
      try database.cachedStatement(sql: "INSERT INTO put(store, id, name) VALUES (?,?,?)")
        .execute(arguments: [store, id.description, name])
    }
    try database.cachedStatement(sql: "INSERT INTO remains(store, id, due) VALUES (?,?,?)")
      .execute(arguments: [store, id.description, due.milliseconds])
  }

  /// Names of the objects that this home put, of a sealed session with superseded ones.
  func putNames(of id: SessionID) throws -> Set<String> {
    let names = try queue.query { database in
      try String?.fetchAll(
        database, sql: "SELECT name FROM put WHERE store = ? AND id = ?",
        arguments: [store, id.description]
      ).compactMap(\.self)
    }
    // Never count or delete another session's objects.
    return Set(
      names.filter { SegmentName($0)?.session == id || RevisionName($0)?.session == id })
  }

  /// Sealed sessions whose superseded objects are due to be looked for.
  func superseded(due now: Timestamp) throws -> [SessionID] {
    try queue.query { database in
      try String?.fetchAll(
        database, sql: "SELECT id FROM remains WHERE store = ? AND due <= ? ORDER BY id",
        arguments: [store, now.milliseconds]
      ).compactMap { $0.flatMap(SessionID.init) }
    }
  }

  /// Looks for superseded objects of a sealed session again, as after the loss of this cache; at the
  /// earlier of both times if that is planned already.
  func recallSuperseded(of id: SessionID, due: Timestamp) throws {
    try queue.change { database in
      try database.cachedStatement(
        sql: "INSERT INTO remains(store, id, due) VALUES (?,?,?) "
          + "ON CONFLICT(store, id) DO UPDATE SET due = min(due, excluded.due)"
      ).execute(arguments: [store, id.description, due.milliseconds])
    }
  }

  // MARK: Reviews

  /// When and in which boot the home's sessions were last reviewed; nil if another store or device was
  /// configured then, or this cache is new.
  func lastReview() throws -> (boot: String, at: Timestamp)? {
    do {
      return try queue.query { database in
        guard
          let row = try Row.fetchOne(
            database, sql: "SELECT boot, at FROM review WHERE store = ?", arguments: [store]),
          let at = try row.time("at")
        else { return nil }
        return (try row.value("boot"), at)
      }
    } catch is DamagedRow {
      return nil
    }
  }

  /// Records a review.
  func saveReview(boot: String, at: Timestamp) throws {
    try queue.change { database in
      try database.execute(sql: "DELETE FROM review")
      try database.execute(
        sql: "INSERT INTO review(store, boot, at) VALUES (?,?,?)",
        arguments: [store, boot, at.milliseconds])
    }
  }

  // MARK: The store

  /// The state of the store itself.
  ///
  /// An unreadable row is dropped, as if nothing were known.
  package func storeEntry() throws -> StoreState {
    do {
      return try queue.query { database in
        let statement = try database.cachedStatement(
          sql: "SELECT \(Self.storeColumns) FROM store WHERE url = ?")
        let row = try Row.fetchOne(statement, arguments: [store])
        return try row.map(Self.storeEntry) ?? StoreState()
      }
    } catch is DamagedRow {
      try queue.change { database in
        try database.execute(sql: "DELETE FROM store WHERE url = ?", arguments: [store])
      }
      return StoreState()
    }
  }

  private static func storeEntry(_ row: Row) throws -> StoreState {
    var entry = StoreState()
    entry.checkedBoot = try row.value("checkedBoot")
    entry.checkedAt = try row.time("checkedAt")
    entry.lastSuccess = try row.time("lastSuccess")
    entry.failingSince = try row.time("failingSince")
    entry.lastTold = try row.time("lastTold")
    entry.device = try row.value("device")
    entry.remoteReapAt = try row.time("remoteReapAt")
    entry.attempts = try row.value("attempts", in: attempts)
    entry.lastError = (try row.value("lastError") as Data?).flatMap {
      try? JSONDecoder().decode(StoreError.self, from: $0)
    }
    entry.nextAttempt = try row.time("nextAttempt")
    entry.objectLimit = try row.value("objectLimit", in: 0...Int.max)
    return entry
  }

  /// Saves the state of the store itself.
  package func save(_ entry: StoreState) throws {
    try queue.change { database in
      try database.execute(
        sql: """
          INSERT OR REPLACE INTO store(url, \(Self.storeColumns))
          VALUES (?,?,?,?,?,?,?,?,?,?,?,?)
          """,
        arguments: [
          store, entry.checkedBoot, entry.checkedAt?.milliseconds,
          entry.lastSuccess?.milliseconds, entry.failingSince?.milliseconds,
          entry.lastTold?.milliseconds, entry.device, entry.remoteReapAt?.milliseconds,
          entry.attempts, entry.lastError.map(JSONEncoder().encode),
          entry.nextAttempt?.milliseconds, entry.objectLimit,
        ])
    }
  }
}

extension Statement {
  fileprivate func fetchRow(_ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(self, arguments: arguments)
  }
}
