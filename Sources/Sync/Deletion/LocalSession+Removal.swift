import Platform
import Replica
import SessionLog

extension LocalSession {
  /// Removes all files of the session, what a killed process left of them too.
  ///
  /// The sidecar goes last: as long as it stands, so does the record of what was there. Only
  /// ``Deleter`` may call it for a session that has bytes of a log.
  ///
  /// - Throws: ``Platform/SystemError``.
  func removeFiles() throws {
    let beside = try [home.cachePath, files.directory].flatMap { directory in
      try Directory.names(in: directory)
        .filter { $0.hasPrefix("\(session).") }
        .map { "\(directory)/\($0)" }
    }
    for path in beside.filter({ $0 != files.sidecar }) + [files.marker, files.sidecar] {
      try File.remove(path)
    }
    Directory.removeIfEmpty(files.directory)
  }
}
