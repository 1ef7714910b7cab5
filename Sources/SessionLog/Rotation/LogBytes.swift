package import Platform

/// Bytes of a log in one or more files, read by position.
package protocol LogBytes: Sendable {
  /// Where they end, and when they last changed.
  ///
  /// - Throws: ``SystemError``.
  func extent() throws -> (end: Int64, modified: Timestamp)

  /// Reads at a position.
  ///
  /// - Returns: fewer bytes than asked for only where they end, or where some are missing.
  /// - Throws: ``SystemError``.
  func read(at position: Int64, count: Int) throws -> [UInt8]

  /// Makes what was written durable.
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
