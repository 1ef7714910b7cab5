import GRDB
import Platform
import Replica
import SessionLog

/// Opens the databases below `cache/`, which may be lost or corrupted at any time.
enum CacheDatabase {
  /// The path of a home's database.
  static func path(of name: String, in home: Home) -> String {
    "\(home.cachePath)/\(name).sqlite"
  }

  /// Opens a database; creates it if missing, and replaces it if it is corrupt or not a regular
  /// file.
  ///
  /// Without space or permission to write, it is kept in memory.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - name: the file's name without `.sqlite`.
  ///   - schema: its tables and indexes.
  /// - Throws: ``CacheError`` when the file can neither be read nor replaced.
  static func open(_ home: Home, name: String, _ schema: CacheSchema) throws -> DatabaseQueue {
    let path = path(of: name, in: home)
    let files = files(of: path)
    func prepared() throws -> DatabaseQueue {
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      // No table refers to another.
      configuration.foreignKeysEnabled = false
      configuration.prepareDatabase { database in
        try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
      }
      // Opening may create files, and recovers a killed process's transaction.
      return try CacheError.wrapping {
        try FileEffect.transaction(path) {
          try prepare(DatabaseQueue(path: path, configuration: configuration), schema)
        }
      }
    }
    do {
      // SQLite would open anything with that name, even a pipe or a link.
      for file in files where isForeign(file) { try File.remove(file) }
      if try FileStatus(path + damageSuffix) != nil {
        for file in files { try? File.remove(file) }
      }
      do {
        return try prepared()
      } catch let error as CacheError where isGarbage(error) {
        for file in files { try? File.remove(file) }
        return try prepared()
      }
    } catch  where isWithoutRoom(error) {
      // Uploads matter most when the disk is full: keep the cache in memory, and list the store for
      // its content.
      return try CacheError.wrapping { try prepare(DatabaseQueue(), schema) }
    }
  }

  /// Marks a database to be replaced when it is opened next: those that have it open would remove
  /// the files of a new one.
  private static let damageSuffix = "-damaged"

  private static func files(of path: String) -> [String] {
    ["", "-wal", "-shm", "-journal", damageSuffix].map { path + $0 }
  }

  /// Prevents the next process from taking a database for up to date that this one keeps in memory.
  ///
  /// - Throws: ``Platform/SystemError``.
  static func outdate(_ path: String) throws {
    do {
      try note(damageSuffix, beside: path)
    } catch is SystemError {
      for file in files(of: path) { try File.remove(file) }
    }
  }

  /// Notes something about a database while another one in memory takes its place.
  ///
  /// One that is not there, or that this user may not write, such as another user's, was never up
  /// to date, and needs no note.
  ///
  /// - Parameters:
  ///   - suffix: the note: what an empty file's name adds to the database's.
  ///   - path: the database's path.
  /// - Returns: whether there is a note.
  /// - Throws: ``Platform/SystemError``.
  @discardableResult
  static func note(_ suffix: String, beside path: String) throws -> Bool {
    guard !FileStatus.isAbsent(path) else { return false }
    do {
      try AtomicFile.write([], to: path + suffix)
      return true
    } catch let error as SystemError where error.isDenied {
      return false
    }
  }

  /// Reads or writes a database, and marks it for replacement if it proves damaged.
  ///
  /// Opening checks the first rows only.
  ///
  /// - Throws: ``CacheError``; errors of `body`.
  static func recordingDamage<Value>(of path: String, _ body: () throws -> Value) throws -> Value {
    do {
      return try CacheError.wrapping(body)
    } catch let error as CacheError where error.code == .damaged {
      if path.hasSuffix(".sqlite") { try? AtomicFile.write([], to: path + damageSuffix) }
      throw error
    }
  }

  private static func prepare(
    _ queue: DatabaseQueue, _ schema: CacheSchema
  ) throws -> DatabaseQueue {
    let texts = try queue.query { database in
      try String?.fetchAll(database, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    }
    if Set(texts.compactMap(\.self)) == schema.stored { return queue }
    try queue.query { try refuseCode(in: $0, schema.tables) }
    // Creating missing tables needs a write transaction.
    if texts.count != schema.stored.count { try queue.write { try $0.execute(sql: schema.text) } }
    try queue.query { database in
      for probe in schema.probes { _ = try Row.fetchOne(database, sql: probe) }
    }
    return queue
  }

  /// Reads a database as it is: makes, changes and replaces nothing.
  ///
  /// - Parameters:
  ///   - path: the path of an existing regular file.
  ///   - table: the table that `body` reads.
  /// - Throws: ``CacheError``; errors of `body`.
  static func read<Value>(
    _ path: String, _ table: String, _ body: (Database) throws -> Value
  ) throws -> Value {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    return try CacheError.wrapping {
      try DatabaseQueue(path: path, configuration: configuration).read { database in
        try refuseCode(in: database, [table])
        return try body(database)
      }
    }
  }

  /// Refuses a view, a trigger, a virtual table and a computed column: that is code, which need not
  /// even terminate.
  private static func refuseCode(in database: Database, _ tables: [String]) throws {
    let foreign = """
      SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') OR NOT (
        sql IS NULL OR sql LIKE 'CREATE TABLE %' OR sql LIKE 'CREATE INDEX %') LIMIT 1
      """
    guard try Row.fetchOne(database, sql: foreign) == nil,
      try !tables.contains(where: { table in
        try Row.fetchAll(database, sql: "PRAGMA table_xinfo(\(table))").contains { row in
          row["hidden"] != 0
        }
      })
    else { throw DatabaseError(resultCode: .SQLITE_NOTADB) }
  }

  /// Whether a path names something other than a regular file.
  private static func isForeign(_ path: String) -> Bool {
    (try? FileStatus(path)).map { $0.kind != .file } ?? false
  }

  private static func isWithoutRoom(_ error: any Error) -> Bool {
    switch (error as? CacheError)?.result {
    // The obstacle cannot be removed.
    case nil: error is SystemError
    case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY: true
    default: false
    }
  }

  private static func isGarbage(_ error: CacheError) -> Bool {
    switch error.result {
    // SQLITE_ERROR: a database with other tables than ours.
    case .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR: true
    default: false
    }
  }
}
