import GRDB
import Platform

extension DatabaseQueue {
  /// Writes in one transaction, which is one ``Platform/FileEffect``.
  ///
  /// - Throws: GRDB's errors, also where the effect is refused: then `body` has not run; what it
  ///   throws.
  func change<Value>(_ body: (Database) throws -> Value) throws -> Value {
    guard FileEffect.hook != nil else { return try write(body) }
    var outcome: Result<Value, any Error>?
    _ = FileEffect.perform(FileEffect(.transaction, path)) {
      outcome = Result { try write(body) }
      return 0
    }
    guard let outcome else { throw DatabaseError(resultCode: .SQLITE_IOERR, message: path) }
    return try outcome.get()
  }
}
