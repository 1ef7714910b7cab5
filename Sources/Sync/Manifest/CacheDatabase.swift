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
  ///   - schema: statements that make what is missing, one table or index each, and each ending in `;`.
  ///   - probes: queries that only a database with this schema answers.
  /// - Throws: GRDB's errors when the file can neither be read nor replaced.
  static func open(
    _ home: Home, name: String, schema: String, probes: [String]
  ) throws -> DatabaseQueue {
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
        try prepare(DatabaseQueue(path: path, configuration: configuration), schema, probes)
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
      return try prepare(DatabaseQueue(), schema, probes)
    }
  }

  private static func prepare(
    _ queue: DatabaseQueue, _ schema: String, _ probes: [String]
  ) throws -> DatabaseQueue {
    let count = try queue.look { database in
      // A view or a trigger would be a program of somebody else's, which need not even end.
      let foreign = "SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') LIMIT 1"
      guard try Row.fetchOne(database, sql: foreign) == nil else {
        throw DatabaseError(resultCode: .SQLITE_NOTADB)
      }
      return try Int.fetchOne(
        database, sql: "SELECT count(*) FROM sqlite_master WHERE sql IS NOT NULL")
    }
    // Each statement makes one table or index. To run them takes a write transaction at every open.
    if count != schema.utf8.count(where: { $0 == UInt8(ascii: ";") }) {
      try queue.write { try $0.execute(sql: schema) }
    }
    try queue.look { database in
      for probe in probes { _ = try Row.fetchOne(database, sql: probe) }
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
