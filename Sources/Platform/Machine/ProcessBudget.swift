#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Resource limits for a process that works on someone else's files.
///
/// The kernel ends a process that exceeds them: its work must be safe to interrupt at any moment.
package struct ProcessBudget: Sendable {
  /// Limit of elapsed time, and of processor time.
  package let time: Duration
  /// Limit of memory in bytes: everything writable, whether or not it was written.
  package let memory: ByteCount

  /// Describes a budget.
  package init(time: Duration, memory: ByteCount) { (self.time, self.memory) = (time, memory) }

  /// Imposes the budget on this process.
  ///
  /// - Throws: ``SystemError``.
  package func impose() throws(SystemError) {
    let seconds = UInt64(max(1, time.seconds))
    try Self.limit(.time, to: seconds, "processor time")
    try Self.limit(.memory, to: UInt64(max(1, memory.bytes)), "memory")
    try Self.limit(.core, to: 0, "core files")
    alarm(UInt32(clamping: seconds))
  }

  private enum Resource {
    case time, memory, core

    var number: Int32 {
      #if canImport(Darwin)
        switch self {
        case .time: RLIMIT_CPU
        case .memory: RLIMIT_DATA
        case .core: RLIMIT_CORE
        }
      #else
        switch self {
        case .time: Int32(bitPattern: RLIMIT_CPU.rawValue)
        case .memory: Int32(bitPattern: RLIMIT_DATA.rawValue)
        case .core: Int32(bitPattern: RLIMIT_CORE.rawValue)
        }
      #endif
    }
  }

  private static func limit(
    _ resource: Resource, to value: UInt64, _ name: String
  ) throws(SystemError) {
    var limit = rlimit()
    guard getrlimit(resource.number, &limit) == 0 else {
      throw SystemError(operation: "limit", path: name, errno: errno)
    }
    let value = min(rlim_t(value), limit.rlim_max)
    limit = rlimit(rlim_cur: value, rlim_max: value)
    guard setrlimit(resource.number, &limit) == 0 else {
      throw SystemError(operation: "limit", path: name, errno: errno)
    }
  }
}
