#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An open file that closes itself.
package struct Descriptor: ~Copyable {
  /// Its number.
  package let number: Int32

  /// Opens a regular file without following a link.
  package init(opening path: String, flags: Int32, mode: UInt32 = 0o600) throws {
    number = try RegularFile.open(path, flags, mode: mode)
  }

  /// Opens a directory.
  package init(openingDirectory path: String) throws {
    number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else { throw SystemError(operation: "open", path: path, errno: errno) }
  }

  deinit { close(number) }

  /// Writes all of some bytes.
  package static func writeAll(
    _ bytes: UnsafeRawBufferPointer, to number: Int32, path: String
  ) throws {
    var rest = bytes
    while !rest.isEmpty {
      let count = write(number, rest.baseAddress, rest.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        throw SystemError(operation: "write", path: path, errno: count < 0 ? errno : ENOSPC)
      }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }
}

/// `write(2)` with the error number as a negative count.
package func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  let count = write(descriptor, bytes.baseAddress, bytes.count)
  return count < 0 ? -Int(errno) : count
}
