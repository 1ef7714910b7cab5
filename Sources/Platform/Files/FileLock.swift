/// A lock on a file, shared or exclusive.
///
/// The kernel releases it when its holder dies, so that it is never stale.
public final class FileLock: Sendable {
  private let file: Descriptor

  private init(_ file: consuming Descriptor) { self.file = file }

  // A child being started has the descriptor too, until it executes its program.
  deinit { file.unlock() }

  /// Whether its path still names the locked file.
  ///
  /// - Throws: ``SystemError`` when that cannot be found out.
  package func isInPlace() throws -> Bool {
    guard let named = try FileStatus(file.path) else { return false }
    // A server of files may have forgotten a deleted one.
    guard let held = try? file.status() else { return false }
    return named.isSameFile(as: held)
  }

  /// Records in the file's modification time that it was locked now.
  package func recordTime() { file.recordLocking() }

  /// Records the same in a file that another process has locked.
  package static func recordTime(of path: String) {
    guard let file = try? Descriptor(opening: path, [.readWrite]) else { return }
    file.recordLocking()
  }

  /// Acquires a shared lock without waiting; nil if another process holds it exclusively.
  ///
  /// - Throws: ``SystemError``.
  public static func shared(_ path: String) throws -> FileLock? {
    try acquire(path, .shared)
  }

  /// Acquires an exclusive lock without waiting; nil if another process holds it.
  ///
  /// - Throws: ``SystemError``.
  public static func tryExclusive(_ path: String) throws -> FileLock? {
    try acquire(path, .exclusive)
  }

  /// Acquires an exclusive lock on an open folder without waiting; nil if another process holds it.
  ///
  /// Where the file system locks no folders, as NFS does not, the result protects nothing.
  ///
  package static func tryExclusive(_ folder: consuming Descriptor) -> FileLock? {
    let lock = FileLock(folder)
    return (try? lock.file.lock(.exclusive, waits: false)) ?? true ? lock : nil
  }

  private static func acquire(_ path: String, _ kind: Descriptor.Lock) throws -> FileLock? {
    while true {
      let lock = FileLock(try Descriptor(opening: path, [.readWrite, .create]))
      guard try lock.file.lock(kind, waits: false) else { return nil }
      // The file may have been removed between opening and locking: then the lock protects nothing.
      let held = try lock.file.status()
      if let named = try FileStatus(path), named.isSameFile(as: held) { return lock }
    }
  }
}
