import GRDB
import Platform
import Replica
import SessionLog

/// Opens the databases below `cache/`, which may be lost or garbled at any time.
enum CacheDatabase {
  /// Opens one, makes it where it is missing, and starts afresh where it is garbage or not a regular
  /// file.
  ///
  /// Where there is no room or no right to write it, it is kept in memory.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - name: the file's, without `.sqlite`.
  ///   - schema: its tables and indexes.
  /// - Throws: GRDB's errors when the file can neither be read nor replaced.
  static func open(_ home: Home, name: String, _ schema: CacheSchema) throws -> DatabaseQueue {
    let path = "\(home.cachePath)/\(name).sqlite"
    let files = ["", "-wal", "-shm", "-journal"].map { path + $0 }
    func prepared() throws -> DatabaseQueue {
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      // No table refers to another.
      configuration.foreignKeysEnabled = false
      configuration.prepareDatabase { database in
        try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
      }
      // To open it may make files, and takes over what a killed process has left.
      return try FileEffect.transaction(path) {
        try prepare(DatabaseQueue(path: path, configuration: configuration), schema)
      }
    }
    do {
      // SQLite opens whatever has the name: a pipe, a link to elsewhere.
      for file in files where isForeign(file) { try File.remove(file) }
      do {
        return try prepared()
      } catch let error as DatabaseError where isGarbage(error) {
        for file in files { try File.remove(file) }
        return try prepared()
      }
    } catch  where isWithoutRoom(error) {
      // A full disk is when uploads matter most: the cache lives in memory then, and what it would
      // have known is looked up.
      return try prepare(DatabaseQueue(), schema)
    }
  }

  private static func prepare(
    _ queue: DatabaseQueue, _ schema: CacheSchema
  ) throws -> DatabaseQueue {
    let texts = try queue.look { database in
      try String?.fetchAll(database, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    }
    if Set(texts.compactMap(\.self)) == schema.stored { return queue }
    // To make what is missing takes a write transaction.
    if texts.count != schema.stored.count { try queue.write { try $0.execute(sql: schema.text) } }
    try queue.look { database in
      // A view or a trigger would be a program of somebody else's, which need not even end.
      let foreign = "SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') LIMIT 1"
      guard try Row.fetchOne(database, sql: foreign) == nil else {
        throw DatabaseError(resultCode: .SQLITE_NOTADB)
      }
      for probe in schema.probes { _ = try Row.fetchOne(database, sql: probe) }
    }
    return queue
  }

  /// Whether something else than a regular file has a path.
  private static func isForeign(_ path: String) -> Bool {
    (try? FileStatus(path)).map { $0.kind != .file } ?? false
  }

  private static func isWithoutRoom(_ error: any Error) -> Bool {
    switch (error as? DatabaseError)?.resultCode {
    // What is in the way cannot be removed.
    case nil: error is SystemError
    case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY: true
    default: false
    }
  }

  private static func isGarbage(_ error: DatabaseError) -> Bool {
    switch error.resultCode {
    // SQLITE_ERROR: the file is a database with other tables than ours.
    case .SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR: true
    default: false
    }
  }
}
