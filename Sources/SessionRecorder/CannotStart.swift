#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that could not be started.
struct CannotStart: Error, CustomStringConvertible {
  /// The status that a shell would return: 127 for a missing program, 126 for one that cannot be
  /// run.
  let status: Int32
  let description: String

  init(_ program: String, errno: Int32) {
    status = errno == ENOENT ? 127 : 126
    let reason = errno == ENOENT ? "command not found" : String(cString: strerror(errno))
    description = "\(program): \(reason)"
  }
}
