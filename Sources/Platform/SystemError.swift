#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A system call that failed: what was tried, on what, and why.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The call, as a verb: `open`.
  public let operation: String
  /// The file.
  public let path: String
  /// The error number.
  public let errno: Int32

  /// Makes an error.
  public init(operation: String, path: String, errno: Int32) {
    self.operation = operation
    self.path = path
    self.errno = errno
  }

  /// Nothing is there.
  public var isNotFound: Bool { errno == ENOENT || errno == ENOTDIR }

  /// No room: disk, quota or file size limit.
  public var isDiskFull: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }

  /// One line for a person.
  public var description: String {
    let hint = isDiskFull ? "; make room, nothing that was recorded is lost" : ""
    return "cannot \(operation) \(path): \(String(cString: strerror(errno)))\(hint)"
  }
}
