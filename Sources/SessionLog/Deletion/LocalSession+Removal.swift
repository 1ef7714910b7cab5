import Platform

extension LocalSession {
  /// Removes the remaining files of a session without log bytes on this machine.
  ///
  /// Only ``RecordedDeletions`` removes log bytes.
  ///
  /// - Throws: ``Platform/SystemError``, also if there are log bytes.
  package func removeTraces() throws {
    guard try logBytes() == 0 else {
      throw SystemError(
        operation: "remove the traces of the session that has",
        path: files.log, errno: SystemError.Number.taken)
    }
    for path in try [files.log] + traces() + [files.sidecar] { try File.remove(path) }
    Directory.removeIfEmpty(files.directory)
  }

  /// The marker and all files but log and sidecar, including leftovers of a killed process.
  package func traces() throws -> [String] {
    let own = Set(
      try [files.log, files.sidecar] + files.parts().flatMap { [$0.plain, $0.compressed] })
    return try [home.cachePath, files.directory].flatMap { directory in
      try Directory.names(in: directory)
        .filter { $0.hasPrefix("\(session).") }
        .map { "\(directory)/\($0)" }
    }.filter { !own.contains($0) } + [files.declared, files.marker]
  }
}
