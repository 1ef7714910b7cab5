import CTerminal
import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Starts programs in three ways.
extension Program {
  /// Starts a program whose output goes to two pipes.
  ///
  /// - Parameter supervisor: receives its changes, and determines its job; nil to run it in ours.
  /// - Throws: ``CannotStart``.
  static func start(
    _ command: [String], environment: [String: String], output: Int32, errors: Int32,
    supervisor: Supervisor? = nil
  ) throws(CannotStart) -> Program {
    var child = ChildProcess(command, environment: environment)
    child.descriptors = [(output, STDOUT_FILENO), (errors, STDERR_FILENO)]
    child.defaultSignals = ForwardedSignals.survived
    child.group = supervisor?.job
    let process = child.start()
    guard process > 0 else {
      supervisor.map { tell($0.descriptor, CTERMINAL_FAILED, -process) }
      throw CannotStart(command[0], errno: -process)
    }
    supervisor.map { tell($0.descriptor, CTERMINAL_STARTED, process) }
    return Program(
      process: process, sharesTerminal: true, reports: -1, supervisor: supervisor?.descriptor ?? -1)
  }

  /// The process that waits for a program started by a separate recorder.
  struct Supervisor {
    /// The descriptor for messages.
    let descriptor: Int32
    /// The program's process group.
    let job: pid_t
  }

  /// The descriptor on which a separate recorder finds the pipe for its messages.
  static let messageDescriptor: Int32 = 3

  /// Starts a separate recorder, in a job of its own, that starts the program in ours.
  ///
  /// - Parameters:
  ///   - program: the program's name, for messages.
  ///   - recorder: the recorder's command line, to which its descriptor for messages and our job's
  ///     number are appended.
  /// - Throws: ``CannotStart``.
  static func start(
    _ program: String, by recorder: [String], environment: [String: String]
  ) throws(CannotStart) -> Program {
    try started(program, sharesTerminal: true) { reports in
      var child = ChildProcess(recorder, environment: environment)
      child.descriptors = [(reports, messageDescriptor)]
      child.group = 0
      return child.start()
    }
  }

  /// Starts a program on a terminal, as a job that can be stopped.
  ///
  /// - Throws: ``CannotStart``.
  static func start(
    _ command: [String], environment: [String: String], on terminal: borrowing PseudoTerminal
  ) throws(CannotStart) -> Program {
    let programEnd = terminal.programEnd
    return try started(command[0], sharesTerminal: false) { reports in
      ChildProcess(command, environment: environment).withCStrings { arguments, variables in
        cterminal_start(programEnd, arguments, variables, reports)
      }
    }
  }

  /// The program that a monitor starts and reports on.
  ///
  /// - Parameter start: starts the monitor, given its descriptor for messages, and returns its
  ///   process id, or the negated error number.
  private static func started(
    _ program: String, sharesTerminal: Bool, _ start: (Int32) -> pid_t
  ) throws(CannotStart) -> Program {
    let ends: PipeEnds
    do {
      ends = try PipeEnds()
    } catch {
      throw CannotStart(program, errno: error.errno)
    }
    let monitor = start(ends.write)
    close(ends.write)
    var failure = -monitor
    if monitor > 0 {
      switch message(from: ends.read) {
      case .message(let first) where first.kind == CTERMINAL_STARTED:
        _ = fcntl(ends.read, F_SETFL, O_NONBLOCK)
        return Program(
          process: first.value, sharesTerminal: sharesTerminal, reports: ends.read, supervisor: -1)
      case .message(let first): failure = first.value
      case .nothing, .end: failure = EAGAIN
      }
    }
    close(ends.read)
    throw CannotStart(program, errno: failure)
  }
}
