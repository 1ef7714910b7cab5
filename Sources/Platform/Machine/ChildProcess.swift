#if canImport(Darwin)
  package import Darwin
#else
  package import Glibc
#endif

/// A process to be started: its command line, and what it inherits.
package struct ChildProcess {
  private let command: [String]
  private let environment: [String: String]
  /// Our descriptors and their numbers in the child, in addition to those without close-on-exec.
  package var descriptors: [(ours: Int32, its: Int32)] = []
  /// Its process group; 0 for a new one, nil for ours.
  package var group: pid_t?
  /// Whether it has a session of its own, without our terminal, and none of our descriptors but
  /// those named here and standard input, output and error.
  ///
  /// For every program that has, or may get, another user's rights: with our terminal its user could
  /// type into it, and with our descriptors use what we have opened or inherited.
  package var isIsolated = false
  /// Signals reset to their default action, with none blocked; nil to inherit actions and blocked
  /// signals.
  package var defaultSignals: [Int32]?

  /// Describes a process.
  ///
  /// - Parameters:
  ///   - command: the program, searched along the search path if it contains no slash, and its
  ///     arguments.
  ///   - environment: all of its variables.
  package init(_ command: [String], environment: [String: String]) {
    self.command = command
    self.environment = environment
  }

  /// Starts it.
  ///
  /// - Returns: its process id, or the negated error number.
  package func start() -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (ours, its) in descriptors { posix_spawn_file_actions_adddup2(&actions, ours, its) }
    if isIsolated { Self.closeOnExec() }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var flags: Int32 = 0
    if isIsolated {
      flags |= Self.newSession
    } else if let group {
      posix_spawnattr_setpgroup(&attributes, group)
      flags |= Int32(POSIX_SPAWN_SETPGROUP)
    }
    if let defaultSignals {
      var defaults = sigset_t()
      sigemptyset(&defaults)
      for number in defaultSignals { sigaddset(&defaults, number) }
      posix_spawnattr_setsigdefault(&attributes, &defaults)
      // Threads of this process may block signals that the child needs.
      var unblocked = sigset_t()
      sigemptyset(&unblocked)
      posix_spawnattr_setsigmask(&attributes, &unblocked)
      flags |= Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var process: pid_t = 0
    let result = withCStrings { arguments, variables in
      posix_spawnp(&process, command[0], &actions, &attributes, arguments, variables)
    }
    return result == 0 ? process : -result
  }

  /// `POSIX_SPAWN_SETSID` of spawn.h, which Glibc declares for GNU sources only.
  #if canImport(Darwin)
    private static let newSession: Int32 = 0x400
  #else
    private static let newSession: Int32 = 0x80
  #endif

  /// Keeps descriptors that this process has inherited from its children.
  private static func closeOnExec() {
    let numbers = (try? Directory.names(in: "/dev/fd"))?.compactMap { Int32($0) } ?? []
    for number in numbers where number > STDERR_FILENO {
      let flags = fcntl(number, F_GETFD)
      if flags >= 0 { _ = fcntl(number, F_SETFD, flags | FD_CLOEXEC) }
    }
  }

  /// Replaces this process by it.
  ///
  /// - Returns: the error number; returns only on failure.
  package func replaceOwn() -> Int32 {
    withCStrings { arguments, variables in
      guard let program = arguments.pointee else { return EINVAL }
      execve(program, arguments, variables)
      return errno
    }
  }

  /// Provides the command line and the environment as C strings.
  package func withCStrings<Result>(
    _ body: (
      UnsafePointer<UnsafeMutablePointer<CChar>?>, UnsafePointer<UnsafeMutablePointer<CChar>?>
    ) -> Result
  ) -> Result {
    let arguments = command.map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }
    return body(arguments, variables)
  }
}
