#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Opens regular files and nothing else.
///
/// A home's user may put anything in the place of a file, and root opens it in machine-wide mode: a
/// pipe blocks whoever opens it, a link leads elsewhere, a device acts when it is opened.
package enum RegularFile {
  /// Opens a file, or makes it where `flags` say so.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - flags: those of open(2); `O_CLOEXEC` and `O_NONBLOCK` are added.
  ///   - mode: the rights of a file that is made.
  ///   - followsLinks: whether a link at the path is followed, as for a file that a person wrote.
  /// - Returns: its descriptor, which the caller closes.
  /// - Throws: ``SystemError`` when it cannot be opened, or is not a regular file.
  package static func open(
    _ path: String, _ flags: Int32, mode: UInt32 = 0o600, followsLinks: Bool = false
  ) throws(SystemError) -> Int32 {
    // Without O_NONBLOCK a pipe is waited for until somebody opens its other end.
    let flags = flags | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
    let descriptor = openFile(path, flags, mode_t(mode))
    guard descriptor >= 0 else {
      let reason = errno
      // A link, a folder opened for writing and a pipe without a reader fail with numbers of their
      // own.
      if let status = try? FileStatus(path), status.kind != .file, reason != EEXIST {
        throw refusal(path, reason)
      }
      throw SystemError(operation: "open", path: path, errno: reason)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw refusal(path, EINVAL)
    }
    return descriptor
  }

  private static func refusal(_ path: String, _ reason: Int32) -> SystemError {
    SystemError(operation: "open, as it is not a regular file,", path: path, errno: reason)
  }
}

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}
