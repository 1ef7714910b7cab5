import GRDB

/// An error of a database below `cache/`, in terms of what to do about it.
package struct CacheError: Error, CustomStringConvertible {
  /// The kinds of errors.
  package enum Code: Sendable {
    /// It is corrupt; the next opening replaces it.
    case damaged
    /// There is no room to write it.
    case diskFull
    /// It can be neither read nor written for another reason.
    case unusable
  }

  /// The kind.
  package let code: Code
  /// SQLite's result.
  let result: ResultCode
  /// What a person reads.
  package let description: String

  /// Why nothing is sent from a home on a full disk.
  package static let fullDisk =
    "the disk is full: what is sent cannot be recorded; make room, nothing that was recorded is lost"

  init(_ error: DatabaseError) {
    result = error.resultCode
    let reason = error.message ?? "SQLite error \(error.resultCode)"
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB:
      code = .damaged
      description =
        "the cache is damaged (\(reason)); the next upload makes a new one: nothing is lost"
    case .SQLITE_FULL: (code, description) = (.diskFull, Self.fullDisk)
    default:
      code = .unusable
      description =
        "the cache cannot be used: \(reason); make room, or delete the home's cache folder: nothing "
        + "else is lost by it"
    }
  }

  /// Runs an operation on a database.
  ///
  /// - Throws: ``CacheError`` instead of the library's error; other errors as they are.
  static func wrapping<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw CacheError(error)
    }
  }
}
