import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Turns signals into bytes of a pipe, so that a poll loop sees them in order with everything else.
struct ForwardedSignals: ~Copyable {
  /// Signals that a person or a supervisor sends to a program.
  private static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

  /// Signals that this process ignores, and the program must not.
  static let survived = [SIGPIPE, SIGXFSZ]

  /// The pipe's end to poll and read.
  let descriptor: Int32

  /// Starts to catch signals; they stay caught for the rest of the process.
  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw SystemError(operation: "make", path: "a pipe", errno: errno)
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    descriptor = ends[0]
    signalPipe.store(ends[1], ordering: .releasing)
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = { number, info, _ in
      let saved = errno
      // A terminal has told the whole process group already: the program must not hear it twice.
      let isFromTerminal = info?.pointee.si_code == 0x80
      var byte = UInt8(truncatingIfNeeded: number) | (isFromTerminal ? 0x80 : 0)
      _ = write(signalPipe.load(ordering: .acquiring), &byte, 1)
      errno = saved
    }
    action.sa_flags = SA_SIGINFO | SA_RESTART
    for number in Self.forwarded + [SIGCHLD] { sigaction(number, &action, nil) }
    // A console that is gone or a file that may not grow is an error of a write, not our end.
    for number in Self.survived { signal(number, SIG_IGN) }
  }

  /// Passes what came on to a process.
  ///
  /// - Returns: whether a child changed its state.
  borrowing func forward(to process: pid_t) -> Bool {
    var childChanged = false
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      let number = Int32(byte & 0x7f)
      if number == SIGCHLD {
        childChanged = true
      } else if byte & 0x80 == 0 {
        kill(process, number)
      }
    }
    return childChanged
  }
}

/// Where the handler writes: a handler can capture nothing.
private let signalPipe = Atomic<Int32>(-1)
