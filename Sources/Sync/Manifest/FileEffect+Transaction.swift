import GRDB
import Platform

extension FileEffect {
  /// Changes a database, as one effect: SQLite's own calls are not seen.
  ///
  /// - Throws: what `body` throws; GRDB's error of a failing disk where the effect is refused: then
  ///   `body` has not run.
  static func transaction<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    guard hook != nil else { return try body() }
    var outcome: Result<Value, any Error>?
    let result = perform(FileEffect(.transaction, path)) {
      outcome = Result { try body() }
      return 0
    }
    guard result >= 0, let outcome else {
      throw DatabaseError(resultCode: .SQLITE_IOERR, message: "cannot write \(path)")
    }
    return try outcome.get()
  }
}

extension DatabaseQueue {
  /// Reads outside a transaction.
  ///
  /// GRDB's `read` sets a pragma before and after, at which SQLite compiles every statement anew.
  ///
  /// - Throws: GRDB's errors; what `body` throws.
  func look<Value>(_ body: (Database) throws -> Value) throws -> Value { try inDatabase(body) }

  /// Writes in one transaction, which is one ``Platform/FileEffect``.
  ///
  /// - Throws: GRDB's errors; what `body` throws.
  func change<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try FileEffect.transaction(path) { try write(body) }
  }
}
