#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Operations on the content and status of an open file.
extension Descriptor {
  /// Its present status.
  package func status() throws(SystemError) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else {
      throw SystemError(operation: "stat", path: path, errno: errno)
    }
    return FileStatus(status)
  }

  /// Reads at an offset.
  ///
  /// - Returns: fewer bytes than requested only at the end of the file.
  package func read(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
    var bytes = BufferPool.acquire(count)
    var filled = 0
    while filled < count {
      let result = bytes.withUnsafeMutableBytes {
        systemResult(
          pread(
            number, $0.baseAddress.map { $0 + filled }, count - filled,
            off_t(offset) + off_t(filled)))
      }
      if result == -Int(EINTR) { continue }
      guard result >= 0 else {
        throw SystemError(operation: "read", path: path, errno: Int32(-result))
      }
      guard result > 0 else { break }
      filled += result
    }
    bytes.removeLast(count - filled)
    return bytes
  }

  /// Writes all of some bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = write(rest, by: systemWrite)
      if count == -Int(EINTR) { continue }
      guard count > 0 else {
        throw SystemError(
          operation: "write", path: path, errno: count < 0 ? Int32(-count) : ENOSPC)
      }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Writes all of some bytes.
  package func write(_ bytes: [UInt8]) throws(SystemError) {
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try write(bytes) }
    }.get()
  }

  /// Writes some of the bytes with a replacement for `write(2)`.
  ///
  /// - Returns: the count, or the negated error number.
  package func write(
    _ bytes: UnsafeRawBufferPointer, by call: (Int32, UnsafeRawBufferPointer) -> Int
  ) -> Int {
    FileEffect.perform(FileEffect(.write(bytes.count), path, number: number)) {
      call(number, bytes)
    }
  }

  /// Truncates or extends the file to a length; without ``Mode/append``, the write position does
  /// not change.
  package func truncate(to length: Int64) throws(SystemError) {
    try perform(.truncate(length), "truncate") { Int(ftruncate(number, off_t(length))) }
  }

  /// Moves the write position to an offset.
  package func seek(to offset: Int64) throws(SystemError) {
    guard lseek(number, off_t(offset), SEEK_SET) >= 0 else {
      throw SystemError(operation: "seek in", path: path, errno: errno)
    }
  }

  /// Allocates disk space for an empty file.
  package func allocate(_ length: Int64) throws(SystemError) {
    try FileEffect.perform(
      FileEffect(.allocate(length), path, number: number), "make room for", path
    ) {
      #if canImport(Darwin)
        systemResult(Int(ftruncate(number, off_t(length))))
      #else
        -Int(posix_fallocate(number, 0, off_t(length)))
      #endif
    }
  }

  /// Makes content and status durable.
  package func synchronize() throws(SystemError) {
    try perform(.synchronize, "sync") { Int(fsync(number)) }
  }

  /// Makes the content durable, and the part of the status needed to read it.
  package func synchronizeContent() throws(SystemError) {
    try perform(.synchronize, "sync") {
      #if canImport(Darwin)
        Int(fsync(number))
      #else
        Int(fdatasync(number))
      #endif
    }
  }

  /// Sets the permissions, ignoring the process's umask.
  package func setMode(_ mode: UInt32) throws(SystemError) {
    try perform(.setMode(mode), "set the rights of") { Int(fchmod(number, mode_t(mode))) }
  }

  /// Sets the modification time.
  package func setModified(_ time: FileTime) throws(SystemError) {
    let time = time.timespec
    try perform(.setModified, "set the time of") { Int(futimens(number, [time, time])) }
  }

  /// Sets the modification time of a lock file to the file system's present one.
  ///
  /// Nothing is lost without it: this is no change that a hook sees, or that can fail.
  func recordLocking() { _ = futimens(number, nil) }

  /// A shared lock admits other shared locks, an exclusive one none.
  package enum Lock { case shared, exclusive }

  /// Locks the file.
  ///
  /// - Parameter waits: whether to wait until a conflicting lock is released.
  /// - Returns: false if another process holds a conflicting lock.
  package func lock(_ kind: Lock, waits: Bool) throws(SystemError) -> Bool {
    let flag = kind == .shared ? LOCK_SH : LOCK_EX
    while flock(number, waits ? flag : flag | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      if errno == EWOULDBLOCK { return false }
      throw SystemError(operation: "lock", path: path, errno: errno)
    }
    return true
  }

  /// Releases the lock.
  package func unlock() { flock(number, LOCK_UN) }

  private func perform(
    _ kind: FileEffect.Kind, _ operation: String, _ call: () -> Int
  ) throws(SystemError) {
    try FileEffect.perform(FileEffect(kind, path, number: number), operation, path) {
      systemResult(call())
    }
  }
}
