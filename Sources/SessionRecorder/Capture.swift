import LogRecords
package import Platform
package import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Runs a program, copying its output to our console and into a session.
package struct Capture {
  private let writer: SessionWriter?
  private let environment: [String: String]
  private let machine: Machine
  private let onSecond: (SessionActivity) -> Void

  /// Makes a capture.
  ///
  /// - Parameters:
  ///   - writer: the session; nil if it could not be created: the program runs nevertheless.
  ///   - environment: the program's environment; `TIDEMARK_SESSION` is added.
  ///   - machine: the machine on which it runs.
  ///   - onSecond: called about once a second with the activity since the last call.
  package init(
    into writer: SessionWriter?, environment: [String: String], on machine: Machine,
    onSecond: @escaping (SessionActivity) -> Void = { _ in }
  ) {
    self.writer = writer
    self.environment = environment
    self.machine = machine
    self.onSecond = onSecond
  }

  /// How a program ended, or why it could not be started.
  package struct Ending: Sendable, Equatable {
    /// The cause.
    package let cause: ExitCause
    /// The path of its core dump; nil if there is none.
    package var core: String?
    /// Why it could not be started, for a person; nil if it ran.
    package var problem: String?
    /// Whether a process that it started still had its output open: nothing of that is read any more.
    package var leavesOutputOpen = false

    /// The status that a shell would return: 128 + signal if a signal killed it.
    package var status: Int32 {
      switch cause {
      case .exit(let status): status
      case .signal(let number): 128 + number
      case .outOfMemory: 128 + SIGKILL
      default: 1
      }
    }
  }

  private static let bufferLength = 65_536

  // MARK: Programs

  /// Runs a program to its end, with its output on two pipes.
  ///
  /// Signals that ask this process to end are forwarded to the program. If the program is stopped
  /// by its terminal, so are we.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments.
  ///   - job: our supervisor's process group, in which the program runs; nil without a supervisor.
  /// - Returns: how it ended; 127 for a missing program, 126 for one that cannot be run.
  /// - Throws: ``SystemError`` if no pipe can be created.
  package func run(_ command: [String], inJob job: Int32? = nil) throws -> Ending {
    // Neither the program nor an upload may inherit it.
    if job != nil { _ = fcntl(Program.messageDescriptor, F_SETFD, FD_CLOEXEC) }
    let signals = try ForwardedSignals()
    var output = try OutputTee(.standardOutput, console: STDOUT_FILENO)
    var errors = try OutputTee(.standardError, console: STDERR_FILENO)
    var life: ProgramLife
    do throws(CannotStart) {
      life = ProgramLife(
        try Program.start(
          command, environment: programEnvironment, output: output.writeEnd,
          errors: errors.writeEnd,
          supervisor: job.map { .init(descriptor: Program.messageDescriptor, job: $0) }),
        on: machine)
    } catch {
      return Ending(cause: .exit(error.status), problem: error.description)
    }
    output.closeWriteEnd()
    errors.closeWriteEnd()

    var periodic = PeriodicWork(of: writer, on: machine, onSecond)
    var buffer = [UInt8](repeating: 0, count: Self.bufferLength)
    while life.continues || output.isOpen || errors.isOpen {
      guard let wait = life.wait(upTo: periodic.wait) else { break }
      let ready = try Self.poll(
        [
          (output.readEnd, POLLIN), (errors.readEnd, POLLIN), (signals.descriptor, POLLIN),
        ], wait)
      if ready[0] { output.pump(&buffer, into: writer) }
      if ready[1] { errors.pump(&buffer, into: writer) }
      _ = signals.forward(to: life.program)
      while let event = life.next() {
        periodic.record(event)
        if life.isStoppedByTerminal, job == nil { signals.stop() }
      }
      periodic.pass()
    }
    life.reportEnd()
    var ending = life.ending
    ending.leavesOutputOpen = output.isOpen || errors.isOpen
    if ending.leavesOutputOpen {
      writer?.record(
        .warning, category: "Output",
        "a process that the program started still has its output open: the rest of that is not recorded"
      )
    }
    return ending
  }

  /// Waits for a program that a separate recorder runs in our job and records.
  ///
  /// If we are killed, the recorder and the program continue. If the recorder is killed, the
  /// program's end is unknown.
  ///
  /// - Parameters:
  ///   - program: the program's name, for messages.
  ///   - recorder: the recorder's command line, without the number of our job.
  /// - Returns: how the program ended.
  /// - Throws: ``SystemError``.
  package func supervise(_ program: String, recorder: [String]) throws -> Ending {
    let signals = try ForwardedSignals()
    var life: ProgramLife
    do throws(CannotStart) {
      life = ProgramLife(
        try Program.start(program, by: recorder, environment: environment), on: machine)
    } catch {
      return Ending(cause: .exit(error.status), problem: error.description)
    }
    while life.continues {
      _ = try Self.poll(
        [(signals.descriptor, POLLIN), (life.program.descriptor, POLLIN)], .seconds(60))
      _ = signals.forward(to: life.program)
      while life.next() != nil {
        if life.isStoppedByTerminal { signals.stop() }
      }
    }
    return life.ending
  }

  /// Runs a program to its end on a terminal of its own.
  ///
  /// Keys are passed to the program unchanged; its output goes to standard output and into the
  /// session, with the time of each piece, so that it can be replayed.
  ///
  /// - Parameter command: the program and its arguments.
  /// - Returns: like ``run(_:)``.
  /// - Throws: ``SystemError`` if no terminal can be created.
  package func runOnTerminal(_ command: [String]) throws -> Ending {
    let signals = try ForwardedSignals()
    var outer = OuterTerminal()
    var terminal = try PseudoTerminal(like: outer)
    recordWindow(outer)
    var life: ProgramLife
    do throws(CannotStart) {
      life = ProgramLife(
        try Program.start(command, environment: programEnvironment, on: terminal), on: machine)
    } catch {
      return Ending(cause: .exit(error.status), problem: error.description)
    }
    terminal.closeProgramEnd()
    outer.makeRaw()

    var output = OutputTee(
      .standardOutput, readEnd: terminal.controller, console: STDOUT_FILENO, isDrained: true)
    var keyboard = Keyboard()
    var periodic = PeriodicWork(of: writer, on: machine, onSecond)
    var buffer = [UInt8](repeating: 0, count: Self.bufferLength)
    while life.continues || output.isOpen {
      guard let wait = life.wait(upTo: periodic.wait) else { break }
      let ready = try Self.poll(
        [
          (output.readEnd, POLLIN), (signals.descriptor, POLLIN),
          (life.program.descriptor, POLLIN),
          (keyboard.wantsInput && life.continues ? STDIN_FILENO : -1, POLLIN),
          (keyboard.hasOutput ? terminal.controller : -1, POLLOUT),
        ], wait)
      if ready[0] { output.pump(&buffer, into: writer) }
      if ready[3] { keyboard.read(for: terminal) }
      if ready[4] { keyboard.write(to: terminal) }
      let arrived = signals.forward(to: life.program)
      if arrived.isResized {
        terminal.resize(like: outer)
        recordWindow(outer)
      }
      while let event = life.next() {
        periodic.record(event)
        guard life.isStoppedByTerminal else { continue }
        outer.restore()
        signals.stop()
        outer.makeRaw()
        life.program.send(SIGCONT)
      }
      periodic.pass()
    }
    return life.ending
  }

  /// Copies standard input to standard output and into the session, until it ends.
  ///
  /// - Throws: ``SystemError`` if standard input cannot be read.
  package func copyStandardInput() throws {
    for number in ForwardedSignals.survived { signal(number, SIG_IGN) }
    var input = OutputTee(.standardOutput, readEnd: STDIN_FILENO, console: STDOUT_FILENO)
    var periodic = PeriodicWork(of: writer, on: machine, onSecond)
    var buffer = [UInt8](repeating: 0, count: Self.bufferLength)
    while input.isOpen {
      if try Self.poll([(STDIN_FILENO, POLLIN)], periodic.wait)[0] {
        input.pump(&buffer, into: writer)
      }
      periodic.pass()
    }
  }

  private var programEnvironment: [String: String] {
    var environment = environment
    if let writer { environment["TIDEMARK_SESSION"] = writer.session.description }
    return environment
  }

  private func recordWindow(_ outer: borrowing OuterTerminal) {
    let (columns, rows) = outer.size
    writer?.record(.window(columns: columns, rows: rows, terminal: environment["TERM"]))
  }

  // MARK: Waiting

  /// Waits for descriptors, up to a time limit; -1 is never ready.
  private static func poll(
    _ wanted: [(descriptor: Int32, events: Int32)], _ wait: Duration
  ) throws -> [Bool] {
    var polled = wanted.map { pollfd(fd: $0.descriptor, events: Int16($0.events), revents: 0) }
    let ready = waitFor(&polled, Int32(clamping: wait.milliseconds))
    guard ready >= 0 || errno == EINTR else {
      throw SystemError(operation: "poll", path: "the program's output", errno: errno)
    }
    return polled.map { ready > 0 && $0.revents != 0 }
  }
}

/// The system's `poll`, under a name that the method above does not hide.
private func waitFor(_ polled: inout [pollfd], _ milliseconds: Int32) -> Int32 {
  poll(&polled, nfds_t(polled.count), milliseconds)
}
