import Platform

extension Home {
  /// Names of the folders that a home may have.
  private static let folders: Set<String> = [
    "sessions", "open", "cache", "rules", "quarantine", "keep", "trash", "deletions",
    "control", "operator",
  ]

  /// Whether a path is that of another's folder, or of one with more in it than a home: a shared one
  /// would be shut to those who share it.
  private func isHomeAlone(_ status: FileStatus) throws -> Bool {
    guard status.kind == .directory, status.owner == Account.effective else { return false }
    return try Directory.names(in: path).allSatisfy { name in
      let isFolder = try FileStatus("\(path)/\(name)")?.kind == .directory
      return !isFolder || Self.folders.contains(name)
    }
  }

  /// Takes the rights of group and others from a home that was made with them.
  ///
  /// - Throws: ``SystemError``.
  func closeToOthers() throws {
    guard let status = try FileStatus(path), status.rights & 0o077 != 0, try isHomeAlone(status)
    else { return }
    try File.setMode(0o700, of: path)
  }
}
