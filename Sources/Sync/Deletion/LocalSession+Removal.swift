import Platform
import Replica
import SessionLog

extension LocalSession {
  /// Removes what is here of a session that has no bytes of a log here.
  ///
  /// What has any only ``Deleter`` removes.
  ///
  /// - Throws: ``Platform/SystemError``, also where there are bytes of a log.
  func removeTraces() throws {
    guard try logBytes() == 0 else {
      throw SystemError(
        operation: "remove the traces of the session that has",
        path: files.log, errno: SystemError.Number.taken)
    }
    for path in try [files.log] + traces() + [files.sidecar] { try File.remove(path) }
    Directory.removeIfEmpty(files.directory)
  }

  /// Its marker and its files but for log and sidecar, those that a killed process left too.
  func traces() throws -> [String] {
    let own = Set(
      try [files.log, files.sidecar] + files.parts().flatMap { [$0.plain, $0.compressed] })
    return try [home.cachePath, files.directory].flatMap { directory in
      try Directory.names(in: directory)
        .filter { $0.hasPrefix("\(session).") }
        .map { "\(directory)/\($0)" }
    }.filter { !own.contains($0) } + [files.declared, files.marker]
  }
}
