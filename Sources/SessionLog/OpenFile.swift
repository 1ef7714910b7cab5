import Delta

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A regular file open for reading by position.
///
/// No link is followed to it, and what is no regular file, such as a pipe that would never answer, is
/// refused.
package final class OpenFile: Sendable {
  /// Where it was.
  package let path: String
  private let descriptor: Int32

  /// Opens a file.
  package init(_ path: String) throws {
    self.path = path
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError(operation: "open", path: path, errno: errno) }
    guard try status().kind == .file else {
      throw SystemError(operation: "read, as it is no regular file,", path: path, errno: EINVAL)
    }
  }

  deinit { close(descriptor) }

  /// Its status now.
  package func status() throws -> FileStatus {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw SystemError(operation: "stat", path: path, errno: errno)
    }
    return FileStatus(status)
  }

  /// Makes what was written durable.
  package func synchronize() throws {
    #if canImport(Darwin)
      let result = fsync(descriptor)
    #else
      let result = fdatasync(descriptor)
    #endif
    // What only root may write can lie on a file system that is not ours to sync.
    guard result == 0 || errno == EROFS || errno == EINVAL else {
      throw SystemError(operation: "sync", path: path, errno: errno)
    }
  }

  /// Reads at an offset.
  ///
  /// - Returns: fewer bytes than asked for only where the file ends.
  package func read(at offset: Int64, count: Int) throws -> [UInt8] {
    var bytes = BufferPool.take(count)
    var filled = 0
    while filled < count {
      let result = bytes.withUnsafeMutableBytes {
        pread(
          descriptor, $0.baseAddress.map { $0 + filled }, count - filled,
          off_t(offset) + off_t(filled))
      }
      if result < 0 && errno == EINTR { continue }
      guard result >= 0 else { throw SystemError(operation: "read", path: path, errno: errno) }
      guard result > 0 else { break }
      filled += result
    }
    bytes.removeLast(count - filled)
    return bytes
  }
}
