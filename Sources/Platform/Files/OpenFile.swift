#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A regular file open for reading by position.
package final class OpenFile: Sendable {
  /// Where it was.
  package let path: String
  private let descriptor: Int32

  /// Opens a file.
  ///
  /// - Parameter followsLinks: whether a link at the path is followed.
  package init(_ path: String, followsLinks: Bool = false) throws {
    self.path = path
    descriptor = try RegularFile.open(path, O_RDONLY, followsLinks: followsLinks)
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
