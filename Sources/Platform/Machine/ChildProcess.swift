#if canImport(Darwin)
  package import Darwin
#else
  package import Glibc
#endif

/// A process that is about to be started: its command line, and what it has of this one.
package struct ChildProcess {
  private let command: [String]
  private let environment: [String: String]
  /// Which of our descriptors it gets as which of its own, beside those that have no close-on-exec.
  package var descriptors: [(ours: Int32, its: Int32)] = []
  /// The process group that it joins; 0 for one of its own, nil for ours.
  package var group: pid_t?
  /// Signals that it meets as any program does, whatever we do about them; nil when it is to inherit
  /// that, and the signals that are blocked.
  package var defaultSignals: [Int32]?

  /// Describes one.
  ///
  /// - Parameters:
  ///   - command: the program, looked for along the search path where it has no slash, and its
  ///     arguments.
  ///   - environment: all of its variables.
  package init(_ command: [String], environment: [String: String]) {
    self.command = command
    self.environment = environment
  }

  /// Starts it.
  ///
  /// - Returns: its process id, or the error number as a negative.
  package func start() -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (ours, its) in descriptors { posix_spawn_file_actions_adddup2(&actions, ours, its) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var flags: Int32 = 0
    if let group {
      posix_spawnattr_setpgroup(&attributes, group)
      flags |= Int32(POSIX_SPAWN_SETPGROUP)
    }
    if let defaultSignals {
      var defaults = sigset_t()
      sigemptyset(&defaults)
      for number in defaultSignals { sigaddset(&defaults, number) }
      posix_spawnattr_setsigdefault(&attributes, &defaults)
      // The threads of this process may block signals that it is to hear.
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

  /// Executes it in the place of this process.
  ///
  /// - Returns: the error number; it returns only when that fails.
  package func replaceOwn() -> Int32 {
    withCStrings { arguments, variables in
      guard let program = arguments.pointee else { return EINVAL }
      execve(program, arguments, variables)
      return errno
    }
  }

  /// Lends the command line and the environment as C has them.
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
