import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Runs a program with its output on our console as before, and in a session.
public struct Capture {
  private let writer: SessionWriter?
  private let environment: [String: String]

  /// Makes a capture.
  ///
  /// - Parameters:
  ///   - writer: the session; nil when none could be made: the program runs all the same.
  ///   - environment: the program's environment; `TIDEMARK_SESSION` is added.
  public init(into writer: SessionWriter?, environment: [String: String]) {
    self.writer = writer
    self.environment = environment
  }

  /// How a program that was started, or could not be, ended.
  public struct Ending: Sendable, Equatable {
    /// The cause.
    public let cause: ExitCause
    /// What could not be started, for a person; nil when it ran.
    public let problem: String?

    /// The status that a shell would give: 128 + signal where one killed it.
    public var status: Int32 {
      switch cause {
      case .exit(let status): status
      case .signal(let number): 128 + number
      default: 1
      }
    }
  }

  /// How long output is waited for after the program has ended, in milliseconds: something that it
  /// left in the background may keep the pipe open for ever.
  private static let drainTime: Int64 = 1000
  private static let bufferLength = 65_536

  /// Runs a program to its end.
  ///
  /// Signals that ask this process to end go to the program instead.
  ///
  /// - Parameter command: the program and its arguments.
  /// - Returns: how it ended; 127 when there is no such program, 126 when it cannot be run.
  /// - Throws: ``SystemError`` when there is no pipe to be had.
  public func run(_ command: [String]) throws -> Ending {
    let signals = try ForwardedSignals()
    var output = try Channel(.standardOutput, console: STDOUT_FILENO)
    var errors = try Channel(.standardError, console: STDERR_FILENO)
    let process: pid_t
    switch spawn(command, output.writeEnd, errors.writeEnd) {
    case .failure(let ending): return ending
    case .success(let started): process = started
    }
    output.closeWriteEnd()
    errors.closeWriteEnd()

    var buffer = [UInt8](repeating: 0, count: Self.bufferLength)
    var ended: (status: Int32, at: Int64)?
    var lastTick = Self.monotonicMilliseconds
    while ended == nil || output.isOpen || errors.isOpen {
      let now = Self.monotonicMilliseconds
      if let ended, now - ended.at >= Self.drainTime { break }
      if now - lastTick >= 1000 {
        lastTick = now
        writer?.tick()
      }
      var polled = [
        pollfd(fd: output.readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errors.readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let wait = ended.map { max(0, Self.drainTime - (now - $0.at)) } ?? 1000
      guard poll(&polled, nfds_t(polled.count), Int32(wait)) >= 0 || errno == EINTR else {
        throw SystemError(operation: "poll", path: "the program's output", errno: errno)
      }
      if polled[0].revents != 0 { output.pump(&buffer, into: writer) }
      if polled[1].revents != 0 { errors.pump(&buffer, into: writer) }
      _ = signals.forward(to: process)
      if ended == nil, let status = Self.reap(process) {
        ended = (status, Self.monotonicMilliseconds)
      }
    }
    return Ending(cause: Self.cause(ended?.status ?? 0), problem: nil)
  }

  /// Copies standard input to standard output and into the session, to its end.
  ///
  /// - Throws: ``SystemError`` when standard input cannot be read.
  public func copyStandardInput() throws {
    for number in ForwardedSignals.survived { signal(number, SIG_IGN) }
    var input = Channel(.standardOutput, readEnd: STDIN_FILENO, console: STDOUT_FILENO)
    var buffer = [UInt8](repeating: 0, count: Self.bufferLength)
    while input.isOpen {
      var polled = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
      let ready = poll(&polled, 1, 1000)
      guard ready >= 0 || errno == EINTR else {
        throw SystemError(operation: "poll", path: "standard input", errno: errno)
      }
      if ready > 0 { input.pump(&buffer, into: writer) }
      if ready == 0 { writer?.tick() }
    }
  }

  // MARK: The process

  private enum Start {
    case success(pid_t)
    case failure(Ending)
  }

  private func spawn(_ command: [String], _ output: Int32, _ errors: Int32) -> Start {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    sigemptyset(&defaults)
    for number in ForwardedSignals.survived { sigaddset(&defaults, number) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    // The threads of this process may block signals that the program is to hear.
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    posix_spawnattr_setsigmask(&attributes, &unblocked)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var environment = environment
    if let writer { environment["TIDEMARK_SESSION"] = writer.session.description }
    var arguments = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }

    var process: pid_t = 0
    let result = posix_spawnp(&process, command[0], &actions, &attributes, &arguments, &variables)
    if result == 0 { return .success(process) }
    let reason = result == ENOENT ? "command not found" : String(cString: strerror(result))
    return .failure(
      Ending(
        cause: .exit(result == ENOENT ? 127 : 126), problem: "\(command[0]): \(reason)"))
  }

  private static func reap(_ process: pid_t) -> Int32? {
    var status: Int32 = 0
    return waitpid(process, &status, WNOHANG) == process ? status : nil
  }

  /// wait(2)'s status: the low seven bits are the signal, the next byte is the exit status.
  private static func cause(_ status: Int32) -> ExitCause {
    let number = status & 0x7f
    return number == 0 ? .exit((status >> 8) & 0xff) : .signal(number)
  }

  private static var monotonicMilliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// One stream of the program: from its pipe to our console and into the session.
private struct Channel: ~Copyable {
  private let stream: CapturedStream
  private let console: Int32
  private(set) var readEnd: Int32
  private(set) var writeEnd: Int32 = -1

  init(_ stream: CapturedStream, console: Int32) throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw SystemError(operation: "make", path: "a pipe", errno: errno)
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    self.stream = stream
    self.console = console
    readEnd = ends[0]
    writeEnd = ends[1]
  }

  init(_ stream: CapturedStream, readEnd: Int32, console: Int32) {
    self.stream = stream
    self.console = console
    self.readEnd = readEnd
  }

  deinit {
    if readEnd > STDERR_FILENO { close(readEnd) }
    if writeEnd >= 0 { close(writeEnd) }
  }

  var isOpen: Bool { readEnd >= 0 }

  mutating func closeWriteEnd() {
    close(writeEnd)
    writeEnd = -1
  }

  /// Moves what is there.
  ///
  /// When the console is gone, the pipe is closed, so that the program gets the SIGPIPE that it
  /// would have got without us.
  mutating func pump(_ buffer: inout [UInt8], into writer: SessionWriter?) {
    let end = readEnd
    let count = buffer.withUnsafeMutableBytes { read(end, $0.baseAddress, $0.count) }
    if count < 0 && (errno == EINTR || errno == EAGAIN) { return }
    guard count > 0 else { return closeReadEnd() }
    let isConsoleThere = buffer.withUnsafeBytes { bytes in
      let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
      writer?.capture(piece, from: stream)
      return Self.show(piece, on: console)
    }
    if !isConsoleThere { closeReadEnd() }
  }

  private mutating func closeReadEnd() {
    if readEnd > STDERR_FILENO { close(readEnd) }
    readEnd = -1
  }

  private static func show(_ bytes: UnsafeRawBufferPointer, on console: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = systemWrite(console, rest)
      if count == -Int(EAGAIN) {
        var polled = pollfd(fd: console, events: Int16(POLLOUT), revents: 0)
        _ = poll(&polled, 1, 1000)
      } else if count < 0 && count != -Int(EINTR) {
        // Any other error (a full disk behind a redirection, say) must not cost the program more
        // than the console's bytes.
        return count != -Int(EPIPE)
      } else if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
    return true
  }
}
