#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The two ends of a new pipe, for its maker to close.
///
/// Programs that this process starts do not inherit them.
package struct PipeEnds: Sendable {
  /// The descriptor to read from.
  package let read: Int32
  /// The descriptor to write to.
  package let write: Int32

  /// Makes a pipe.
  ///
  /// - Throws: ``SystemError``.
  package init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw SystemError(operation: "make", path: "a pipe", errno: errno)
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    read = ends[0]
    write = ends[1]
  }
}
