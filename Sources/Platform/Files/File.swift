#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Operations on files by name.
package enum File {
  /// Whether a path exists; follows links.
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Permissions of the file at a path, such as `0o644`, following links; nil if there is none.
  package static func mode(of path: String) -> UInt32? {
    var status = stat()
    return stat(path, &status) == 0 ? UInt32(status.st_mode) & 0o7777 : nil
  }

  /// Removes a file; succeeds if it is missing.
  package static func remove(_ path: String) throws(SystemError) {
    do {
      try perform(.remove, path, "remove") { Int(unlink(path)) }
    } catch  where error.isNotFound {
      return
    }
  }

  /// Renames a file, replacing an existing one.
  package static func rename(_ path: String, to new: String) throws(SystemError) {
    try perform(.rename(to: new), path, "rename") { renameFile(path, new) }
  }

  /// Sets the permissions of a file or folder.
  package static func setMode(_ mode: UInt32, of path: String) throws(SystemError) {
    try perform(.setMode(mode), path, "set the rights of") { Int(chmod(path, mode_t(mode))) }
  }

  /// The path with links resolved; nil if it does not exist.
  package static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  static func perform(
    _ kind: FileEffect.Kind, _ path: String, _ operation: String, _ call: () -> Int
  ) throws(SystemError) {
    try FileEffect.perform(FileEffect(kind, path), operation, path) { systemResult(call()) }
  }
}

// The system's function, under a name that the method above does not hide.
private func renameFile(_ old: String, _ new: String) -> Int { Int(rename(old, new)) }
