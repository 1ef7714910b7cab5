/// A lock on a file, shared or exclusive.
///
/// The kernel releases it with its holder, so that it is never stale.
public final class FileLock: Sendable {
  private let file: Descriptor

  private init(_ file: consuming Descriptor) { self.file = file }

  // A child that is just being started has the descriptor too, until it executes its program.
  deinit { file.unlock() }

  /// Shares a lock, waiting for nobody: nil when somebody holds it alone.
  ///
  /// - Throws: ``SystemError``.
  public static func shared(_ path: String) throws -> FileLock? {
    try take(path, .shared)
  }

  /// Takes a lock alone: nil when anybody else has it.
  ///
  /// - Throws: ``SystemError``.
  public static func tryExclusive(_ path: String) throws -> FileLock? {
    try take(path, .exclusive)
  }

  private static func take(_ path: String, _ kind: Descriptor.Lock) throws -> FileLock? {
    while true {
      let lock = FileLock(try Descriptor(opening: path, [.readWrite, .create]))
      guard try lock.file.lock(kind, waits: false) else { return nil }
      // The file may have been removed between opening and locking: then it guards nothing.
      let held = try lock.file.status()
      if let named = try FileStatus(path), named.isSameFile(as: held) { return lock }
    }
  }
}
