import Platform
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Turns signals into bytes of a pipe, so that a poll loop handles them in order with everything
/// else.
struct ForwardedSignals: ~Copyable {
  /// Signals that people or supervisors send to a program.
  private static let forwarded = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP]
  /// Signals that concern both the program and us.
  private static let observed = [SIGCHLD, SIGCONT, SIGWINCH]

  /// Signals that this process ignores, but the program must not.
  static let survived = [SIGPIPE, SIGXFSZ, SIGTTOU]

  /// The read end of the pipe.
  let descriptor: Int32

  /// Signals that concern us.
  struct Arrived {
    /// This process continues after a stop.
    var continues = false
    /// The window of our terminal may have another size.
    var isResized = false
  }

  /// Starts to catch signals, for the rest of the process.
  init() throws {
    let ends = try PipeEnds()
    for end in [ends.read, ends.write] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    descriptor = ends.read
    signalPipe.store(ends.write, ordering: .releasing)
    for number in Self.forwarded + Self.observed { Self.catchSignal(number) }
    // A lost console, a file at its size limit or a terminal of another job is a write error, not
    // our end.
    for number in Self.survived { signal(number, SIG_IGN) }
  }

  private static func catchSignal(_ number: Int32) {
    var action = sigaction()
    action.__sigaction_handler.sa_sigaction = { number, info, _ in
      let saved = errno
      // The terminal has signalled the whole process group: do not send it to the program again.
      let isFromTerminal = info?.pointee.si_code == 0x80
      var byte = UInt8(truncatingIfNeeded: number) | (isFromTerminal ? 0x80 : 0)
      _ = write(signalPipe.load(ordering: .acquiring), &byte, 1)
      errno = saved
    }
    action.sa_flags = SA_SIGINFO | SA_RESTART
    sigaction(number, &action, nil)
  }

  /// Forwards signals to a program.
  borrowing func forward(to program: borrowing Program) -> Arrived {
    var arrived = Arrived()
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      switch Int32(byte & 0x7f) {
      case SIGCHLD: break
      case SIGWINCH: arrived.isResized = true
      case SIGCONT:
        arrived.continues = true
        program.send(SIGCONT)
      case let number where byte & 0x80 == 0 || !program.sharesTerminal: program.send(number)
      default: break
      }
    }
    return arrived
  }

  /// Stops this process like the program, so that its shell gets the terminal back.
  ///
  /// Returns when it continues; immediately if no process could continue it.
  borrowing func stop() {
    var stop = sigset_t()
    var before = sigset_t()
    sigemptyset(&stop)
    sigaddset(&stop, SIGTSTP)
    pthread_sigmask(SIG_BLOCK, &stop, &before)
    #if !canImport(Darwin)
      // A signal that the terminal sent to us as well may still be pending, and would stop us
      // twice.
      var atOnce = timespec()
      _ = sigtimedwait(&stop, nil, &atOnce)
    #endif
    signal(SIGTSTP, SIG_DFL)
    // Directed at this thread, which must receive it: when this returns, the stop is over.
    pthread_sigmask(SIG_UNBLOCK, &stop, nil)
    raise(SIGTSTP)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    Self.catchSignal(SIGTSTP)
  }
}

/// The descriptor for the handler, which cannot capture anything.
private let signalPipe = Atomic<Int32>(-1)
