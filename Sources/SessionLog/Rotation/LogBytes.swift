package import Platform

/// Bytes of a log in one or more files, read by position.
package protocol LogBytes: Sendable {
  /// The end position and the time of the last change.
  ///
  /// - Throws: ``SystemError``.
  func extent() throws -> (end: Int64, modified: Timestamp)

  /// Reads at a position.
  ///
  /// - Returns: fewer bytes than requested only at the end, or if some are missing.
  /// - Throws: ``SystemError``.
  func read(at position: Int64, count: Int) throws -> [UInt8]

  /// Makes the written bytes durable.
  ///
  /// - Throws: ``SystemError``.
  func synchronize() throws
}

extension OpenFile: LogBytes {
  package func extent() throws -> (end: Int64, modified: Timestamp) {
    let status = try status()
    return (status.length, status.modifiedAt)
  }
}
