#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A failed system call: the operation, its target, and the reason.
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

  /// The name is taken.
  package var isTaken: Bool { errno == EEXIST }

  /// The path does not exist.
  public var isNotFound: Bool { errno == ENOENT || errno == ENOTDIR }

  /// Permission is missing, or the file system is read-only.
  public var isDenied: Bool { errno == EACCES || errno == EPERM || errno == EROFS }

  /// The file is damaged, or permission is missing: trying again is of no use.
  package var isUnreadable: Bool { errno == Number.damaged || isDenied }

  /// No space: disk, quota or file size limit.
  public var isDiskFull: Bool { errno == ENOSPC || errno == EDQUOT || errno == EFBIG }

  /// A file cannot be renamed to where another file system is mounted.
  package var isAcrossFileSystems: Bool { errno == EXDEV }

  /// Error numbers that callers compare with, or raise without a failed system call.
  package enum Number {
    package static let notFound = ENOENT
    package static let taken = EEXIST
    package static let again = EAGAIN
    package static let notPermitted = EPERM
    package static let accessDenied = EACCES
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
    package static let nameTooLong = ENAMETOOLONG
    package static let notAFolder = ENOTDIR
    package static let invalid = EINVAL
  }

  /// The reason alone.
  package var explanation: String { String(cString: strerror(errno)) }

  /// The operation of an error about a folder, a pipe or a device at a regular file's path.
  static let openingRegularFile = "open as a regular file"

  /// One line for a person.
  public var description: String {
    if operation == Self.openingRegularFile { return "\(path) is not a regular file" }
    let hint = isDiskFull ? "; make room, nothing that was recorded is lost" : ""
    return "cannot \(operation) \(path): \(explanation)\(hint)"
  }
}
