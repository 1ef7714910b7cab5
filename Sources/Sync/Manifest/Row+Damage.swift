import GRDB
import Platform

/// A cache row that no version of this program wrote: the cache is corrupt, or someone else's.
struct DamagedRow: Error {}

/// Reads rows of the databases below `cache/` as untrusted input.
///
/// GRDB's own subscripts end the process at a value of another type.
extension Row {
  /// A column's value.
  ///
  /// - Throws: ``DamagedRow`` for a value of another type.
  func value<Value: DatabaseValueConvertible>(_ column: String) throws(DamagedRow) -> Value {
    guard let value = Value.fromDatabaseValue(self[column]) else { throw DamagedRow() }
    return value
  }

  /// A number within a range.
  ///
  /// - Throws: ``DamagedRow`` also for a number out of range.
  func value<Value: DatabaseValueConvertible & Comparable>(
    _ column: String, in range: ClosedRange<Value>
  ) throws(DamagedRow) -> Value {
    let value: Value = try value(column)
    guard range.contains(value) else { throw DamagedRow() }
    return value
  }

  /// An optional number within a range.
  ///
  /// - Throws: ``DamagedRow`` also for a number out of range.
  func value<Value: DatabaseValueConvertible & Comparable>(
    _ column: String, in range: ClosedRange<Value>
  ) throws(DamagedRow) -> Value? {
    let value: Value? = try value(column)
    if let value, !range.contains(value) { throw DamagedRow() }
    return value
  }

  /// A time in milliseconds since 1970, within the years that can be written.
  ///
  /// - Throws: ``DamagedRow`` also for a time out of range.
  func time(_ column: String) throws(DamagedRow) -> Timestamp? {
    let time: Int64? = try value(column, in: Timestamp.writable)
    return time.map(Timestamp.init(milliseconds:))
  }
}
