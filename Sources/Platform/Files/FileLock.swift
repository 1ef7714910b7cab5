#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file lock that the kernel releases with its holder, so that it is never stale.
///
/// Every writer of a session shares its lock; whoever seals it holds it alone. The same kind of
/// lock, held alone, keeps a second upload away.
public final class FileLock: Sendable {
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // A child that is just being started has the descriptor too, until it executes its program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Shares a lock, waiting for nobody: nil when somebody holds it alone.
  ///
  /// - Throws: ``SystemError``.
  public static func shared(_ path: String) throws -> FileLock? {
    try take(path, LOCK_SH)
  }

  /// Takes a lock alone: nil when anybody else has it.
  ///
  /// - Throws: ``SystemError``.
  public static func tryExclusive(_ path: String) throws -> FileLock? {
    try take(path, LOCK_EX)
  }

  private static func take(_ path: String, _ kind: Int32) throws -> FileLock? {
    while true {
      let descriptor = try RegularFile.open(path, O_RDWR | O_CREAT)
      let lock = FileLock(descriptor: descriptor)
      while flock(descriptor, kind | LOCK_NB) != 0 {
        if errno == EINTR { continue }
        if errno == EWOULDBLOCK { return nil }
        throw SystemError(operation: "lock", path: path, errno: errno)
      }
      // The file may have been removed between opening and locking: then it guards nothing.
      var held = stat()
      var named = stat()
      guard fstat(descriptor, &held) == 0 else {
        throw SystemError(operation: "stat", path: path, errno: errno)
      }
      if lstat(path, &named) == 0, held.st_ino == named.st_ino, held.st_dev == named.st_dev {
        return lock
      }
    }
  }
}
