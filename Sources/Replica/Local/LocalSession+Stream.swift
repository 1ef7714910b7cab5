import Platform
package import SessionLog

/// The stream of a session, as far as it is on this machine.
extension LocalSession {
  /// Opens the local part of the stream; nil if there is none.
  ///
  /// - Parameter source: the file of an attached session.
  package func openLog(_ source: Sidecar.Source?) throws -> LocalStream? {
    do {
      guard let source else { return try LocalStream(files) }
      return try LocalStream(source, rest: files.log)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }
}
