import LogRecords
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

  /// Whether the home holds an unpacked copy of a compressed file that still exists.
  package func hasUnpackedCopy(of source: Sidecar.Source) throws -> Bool {
    guard source.length == .zero, !source.isGone else { return false }
    return try apparentLogBytes() > 0
  }

  /// Whether nothing of an attached file's stream is left here but the line that reports its loss.
  package func hasOnlyGap(of source: Sidecar.Source) -> Bool {
    guard source.isGone, source.length != nil,
      let start = try? AtomicFile.readStart(files.log, count: GapLine.startOfLog.count)
    else { return false }
    return start == GapLine.startOfLog
  }
}
