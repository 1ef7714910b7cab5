import Platform
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Turns signals into bytes of a pipe, so that a poll loop sees them in order with everything else.
struct ForwardedSignals: ~Copyable {
  /// Signals that a person or a supervisor sends to a program.
  private static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP]
  /// What concerns both the program and us.
  private static let observed = [SIGCHLD, SIGCONT, SIGWINCH]

  /// Signals that this process ignores, and the program must not.
  static let survived = [SIGPIPE, SIGXFSZ, SIGTTOU]

  /// The pipe's end to poll and read.
  let descriptor: Int32

  /// What came, besides signals that are for the program alone.
  struct Arrived {
    /// This process goes on after a stop.
    var goesOn = false
    /// The window of our terminal may have another size.
    var isResized = false
  }

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
    for number in Self.forwarded + Self.observed { Self.catchSignal(number) }
    // A console that is gone, a file that may not grow or a terminal that belongs to another job is
    // an error of a write, not our end.
    for number in Self.survived { signal(number, SIG_IGN) }
  }

  private static func catchSignal(_ number: Int32) {
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
    sigaction(number, &action, nil)
  }

  /// Passes on to a program what came for it.
  borrowing func forward(to program: borrowing Program) -> Arrived {
    var arrived = Arrived()
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      switch Int32(byte & 0x7f) {
      case SIGCHLD: break
      case SIGWINCH: arrived.isResized = true
      case SIGCONT:
        arrived.goesOn = true
        program.send(SIGCONT)
      case let number where byte & 0x80 == 0 || !program.sharesTerminal: program.send(number)
      default: break
      }
    }
    return arrived
  }

  /// Stops this process as the program was stopped, so that its shell gets the terminal back.
  ///
  /// Returns when it goes on; at once where nobody could make it go on.
  borrowing func stop() {
    var stop = sigset_t()
    var before = sigset_t()
    sigemptyset(&stop)
    sigaddset(&stop, SIGTSTP)
    pthread_sigmask(SIG_BLOCK, &stop, &before)
    #if !canImport(Darwin)
      // What the terminal sent to us as well may not have arrived yet, and would stop us twice.
      var atOnce = timespec()
      _ = sigtimedwait(&stop, nil, &atOnce)
    #endif
    signal(SIGTSTP, SIG_DFL)
    // Sent to this thread, which must hear it: then the stop is over when this returns.
    pthread_sigmask(SIG_UNBLOCK, &stop, nil)
    raise(SIGTSTP)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    Self.catchSignal(SIGTSTP)
  }
}

/// Where the handler writes: a handler can capture nothing.
private let signalPipe = Atomic<Int32>(-1)
