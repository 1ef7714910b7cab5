#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Resource limits for a process that works on someone else's files.
///
/// The kernel ends a process that exceeds them: its work must be safe to interrupt at any moment.
/// A user whose rights the process has can raise them, as for a process of their own; but not that
/// of core files, which would show what the process knows.
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
  package func impose() throws(SystemError) -> ImposedBudget {
    let seconds = UInt64(max(1, time.seconds))
    let former = [
      try Resource.time.limit(to: seconds),
      try Resource.memory.limit(to: UInt64(max(1, memory.bytes))),
      try Resource.core.limit(to: 0, isFinal: true),
    ]
    alarm(UInt32(clamping: seconds))
    return ImposedBudget(former: former)
  }

  fileprivate enum Resource: String {
    case time = "processor time"
    case memory
    case core = "core files"

    private var number: Int32 {
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

    /// Sets the limit, as far as the hard one allows it.
    ///
    /// - Parameter isFinal: whether to lower the hard one, too; else that stays.
    /// - Returns: the former limit.
    @discardableResult
    func limit(
      to value: UInt64, isFinal: Bool = false
    ) throws(SystemError) -> ImposedBudget.Limit {
      var limit = rlimit()
      guard getrlimit(number, &limit) == 0 else {
        throw SystemError(operation: "limit", path: rawValue, errno: errno)
      }
      let former = UInt64(limit.rlim_cur)
      limit.rlim_cur = min(rlim_t(value), limit.rlim_max)
      if isFinal { limit.rlim_max = limit.rlim_cur }
      guard setrlimit(number, &limit) == 0 else {
        throw SystemError(operation: "limit", path: rawValue, errno: errno)
      }
      return ImposedBudget.Limit(resource: self, value: former)
    }
  }
}

/// A budget imposed on this process.
package struct ImposedBudget: Sendable {
  fileprivate struct Limit: Sendable {
    let resource: ProcessBudget.Resource
    let value: UInt64
  }

  fileprivate let former: [Limit]

  /// Runs `body`, which starts a program and waits for it, without the budget.
  ///
  /// The program inherits none of its limits but that of core files, and the time that it takes does
  /// not count.
  ///
  /// - Throws: ``SystemError``.
  package func suspended<Result>(_ body: () async -> Result) async throws -> Result {
    let time = alarm(0)
    defer { if time > 0 { alarm(time) } }
    let own = try former.map { try $0.resource.limit(to: $0.value) }
    let result = await body()
    for limit in own { try limit.resource.limit(to: limit.value) }
    return result
  }
}
