import GRDB
import Platform

extension FileEffect {
  /// Changes a database as one effect; SQLite's own calls are not visible to
  /// ``Platform/FileEffect``.
  ///
  /// - Throws: errors of `body`; GRDB's error for a full or failing disk if the effect is refused:
  ///   then `body` has not run.
  static func transaction<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    guard hook != nil else { return try body() }
    var outcome: Result<Value, any Error>?
    let result = perform(FileEffect(.transaction, path)) {
      outcome = Result { try body() }
      return 0
    }
    guard result >= 0, let outcome else {
      let isFull = result == -Int(SystemError.Number.full)
      throw DatabaseError(
        resultCode: isFull ? .SQLITE_FULL : .SQLITE_IOERR, message: "cannot write \(path)")
    }
    return try outcome.get()
  }
}

extension DatabaseQueue {
  /// Reads outside a transaction.
  ///
  /// GRDB's `read` sets a pragma before and after, which makes SQLite recompile every statement.
  ///
  /// - Throws: ``CacheError``; errors of `body`.
  func query<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try CacheDatabase.recordingDamage(of: path) { try inDatabase(body) }
  }

  /// Writes in one transaction, which is one ``Platform/FileEffect``.
  ///
  /// - Throws: ``CacheError``; errors of `body`.
  func change<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try CacheDatabase.recordingDamage(of: path) {
      try FileEffect.transaction(path) { try write(body) }
    }
  }
}
