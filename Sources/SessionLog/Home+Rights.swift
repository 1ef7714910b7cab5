import Platform

extension Home {
  /// Names of the folders in a home.
  private static let folders: Set<String> = [
    "sessions", "open", "cache", "rules", "quarantine", "keep", "trash", "deletions",
    "control", "operator",
  ]

  /// Whether a folder is ours and contains only a home: closing a shared folder would lock its
  /// other users out.
  private func isHomeAlone(_ status: FileStatus) throws -> Bool {
    guard status.kind == .directory, status.owner == Account.effective else { return false }
    return try Directory.names(in: path).allSatisfy { name in
      let isFolder = try FileStatus("\(path)/\(name)")?.kind == .directory
      return !isFolder || Self.folders.contains(name)
    }
  }

  /// Removes the permissions of group and others from a home.
  ///
  /// - Throws: ``SystemError``.
  func closeToOthers() throws {
    guard let status = try FileStatus(path), status.rights & 0o077 != 0, try isHomeAlone(status)
    else { return }
    try File.setMode(0o700, of: path)
  }
}
