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

  /// Something is there already.
  package var isTaken: Bool { errno == EEXIST }

  /// Nothing is there.
  public var isNotFound: Bool { errno == ENOENT || errno == ENOTDIR }

  /// The rights do not suffice, or the file system cannot be written to.
  public var isDenied: Bool { errno == EACCES || errno == EPERM || errno == EROFS }

  /// No room: disk, quota or file size limit.
  public var isDiskFull: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }

  /// Error numbers that are made, or looked for, without a failed system call.
  package enum Number {
    package static let notFound = ENOENT
    package static let notFolder = ENOTDIR
    package static let taken = EEXIST
    package static let again = EAGAIN
    package static let denied = EPERM
    package static let damaged = EIO
    package static let malformed = EILSEQ
    package static let unsupported = ENOTSUP
    package static let noMemory = ENOMEM
    package static let tooManyLinks = ELOOP
    package static let interrupted = EINTR
    package static let overQuota = EDQUOT
    package static let tooLarge = EFBIG
    package static let overflow = EOVERFLOW
    package static let full = ENOSPC
  }

  /// The reason alone.
  package var explanation: String { String(cString: strerror(errno)) }

  /// One line for a person.
  public var description: String {
    let hint = isDiskFull ? "; make room, nothing that was recorded is lost" : ""
    return "cannot \(operation) \(path): \(explanation)\(hint)"
  }
}
