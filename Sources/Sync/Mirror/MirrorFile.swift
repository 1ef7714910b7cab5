import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A log in a mirror, which grows at its end.
struct MirrorFile: ~Copyable {
  private let path: String
  private let file: Descriptor

  /// Opens a file, or makes it.
  init(_ path: String) throws {
    self.path = path
    file = try Descriptor(opening: path, flags: O_RDWR | O_CREAT | O_APPEND)
  }

  /// Its length in bytes.
  func length() throws -> Int64 {
    var status = stat()
    guard fstat(file.number, &status) == 0 else {
      throw SystemError(operation: "stat", path: path, errno: errno)
    }
    return Int64(status.st_size)
  }

  func truncate(to length: Int64) throws {
    guard ftruncate(file.number, off_t(length)) == 0 else {
      throw SystemError(operation: "truncate", path: path, errno: errno)
    }
  }

  /// Takes back what was appended; a log that was begun by that is gone.
  func undo(to length: Int64) throws {
    try truncate(to: length)
    if length == 0 { unlink(path) }
  }

  /// The last bytes before an offset, `count` at most.
  func bytes(before offset: Int64, count: Int) throws -> [UInt8] {
    let start = max(0, offset - Int64(count))
    return try OpenFile(path).read(at: start, count: Int(offset - start))
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws {
    try Descriptor.writeAll(bytes, to: file.number, path: path)
  }

  func synchronize() throws {
    guard fsync(file.number) == 0 else {
      throw SystemError(operation: "sync", path: path, errno: errno)
    }
  }
}
