import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that is run with some input and a time limit.
package struct BoundedCommand: Sendable {
  /// The result of running it.
  package enum Ending: Sendable, Equatable {
    /// Exited, with a status as in a shell: 128 + signal if a signal killed it.
    case exited(Int32)
    /// Killed because it exceeded the time limit.
    case timedOut
    /// Could not be started, or given its input.
    case notStarted(SystemError)
  }

  private let command: [String]
  private let environment: [String: String]
  private let input: [UInt8]
  private let limit: Duration
  private let relay: (@Sendable ([UInt8]) -> Void)?
  private let uptime: @Sendable () -> Duration

  /// Describes a program to run.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments, without a shell.
  ///   - environment: all of its variables.
  ///   - input: its standard input.
  ///   - limit: the time after which it and everything it started are killed.
  ///   - machine: its clock for intervals measures that.
  ///   - relay: called with the start of its output once it has ended; nil to give it our standard
  ///     error.
  package init(
    _ command: [String], environment: [String: String], input: [UInt8],
    limit: Duration = .seconds(30), on machine: Machine,
    relay: (@Sendable ([UInt8]) -> Void)? = nil
  ) {
    self.relay = relay
    (self.command, self.environment, self.input, self.limit) = (command, environment, input, limit)
    uptime = machine.uptime
  }

  /// Bytes of its output that are relayed.
  private static let relayed = 64 << 10

  /// Runs it; its output goes to our standard error unless it is relayed.
  ///
  /// Waits on a separate thread.
  package func run() async -> Ending {
    await withCheckedContinuation { continuation in
      let thread = Thread { continuation.resume(returning: runBlocking()) }
      thread.name = "command"
      thread.start()
    }
  }

  /// The same, blocking.
  package func runBlocking() -> Ending {
    do {
      // Unlike a pipe, a file holds any input, whether or not the program reads it.
      let file = try Descriptor(unnamedIn: "/tmp")
      try input.withUnsafeBytes { try file.write($0) }
      guard lseek(file.number, 0, SEEK_SET) == 0 else {
        throw SystemError(operation: "rewind", path: file.path, errno: errno)
      }
      guard let relay else {
        return try run([(file.number, STDIN_FILENO), (STDERR_FILENO, STDOUT_FILENO)])
      }
      // Not a pipe: whoever has its end could keep us reading, or us and the command waiting.
      let output = try Descriptor(unnamedIn: "/tmp")
      let ending = try run([
        (file.number, STDIN_FILENO), (output.number, STDOUT_FILENO), (output.number, STDERR_FILENO),
      ])
      relay(try output.read(at: 0, count: Self.relayed))
      return ending
    } catch let error as SystemError {
      return .notStarted(error)
    } catch {
      return .notStarted(SystemError(operation: "start", path: command.first ?? "", errno: EIO))
    }
  }

  private func run(_ descriptors: [(ours: Int32, its: Int32)]) throws(SystemError) -> Ending {
    var child = ChildProcess(command, environment: environment)
    child.descriptors = descriptors
    child.isIsolated = true
    child.defaultSignals = [SIGPIPE]
    let process = child.start()
    guard process > 0 else {
      throw SystemError(operation: "start", path: command.first ?? "", errno: -process)
    }
    return wait(for: process)
  }

  private func wait(for process: pid_t) -> Ending {
    let start = uptime()
    var status: Int32 = 0
    while true {
      let found = waitpid(process, &status, WNOHANG)
      if found == process {
        let signal = status & 0x7f
        return .exited(signal == 0 ? (status >> 8) & 0xff : 128 + signal)
      }
      if found < 0 && errno != EINTR { return .exited(127) }
      guard uptime() - start < limit else { break }
      poll(nil, 0, 10)
    }
    kill(-process, SIGKILL)
    kill(process, SIGKILL)
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return .timedOut
  }
}
