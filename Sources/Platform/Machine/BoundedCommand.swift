import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that is given some input and a time to end in.
package struct BoundedCommand: Sendable {
  /// How it ended.
  package enum Ending: Sendable, Equatable {
    /// With a status, as a shell gives it: 128 + signal where one killed it.
    case exited(Int32)
    /// It was killed because it took too long.
    case timedOut
    /// It could not be started, or not be given its input.
    case notStarted(SystemError)
  }

  private let command: [String]
  private let environment: [String: String]
  private let input: [UInt8]
  private let limit: Duration

  /// Describes one.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments; no shell sees them.
  ///   - environment: all of its variables.
  ///   - input: what it reads from its standard input.
  ///   - limit: after which it and all that it has started are killed.
  package init(
    _ command: [String], environment: [String: String], input: [UInt8],
    limit: Duration = .seconds(30)
  ) {
    (self.command, self.environment, self.input, self.limit) = (command, environment, input, limit)
  }

  /// Runs it; what it prints goes to our standard error.
  ///
  /// The waiting is done on a thread of its own.
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
      // A file, unlike a pipe, holds any input, whether or not the program reads it.
      let file = try Descriptor(unnamedIn: "/tmp")
      try input.withUnsafeBytes { try file.write($0) }
      guard lseek(file.number, 0, SEEK_SET) == 0 else {
        throw SystemError(operation: "rewind", path: file.path, errno: errno)
      }
      var child = ChildProcess(command, environment: environment)
      child.descriptors = [
        (file.number, STDIN_FILENO), (STDERR_FILENO, STDOUT_FILENO),
      ]
      child.group = 0
      child.defaultSignals = [SIGPIPE]
      let process = child.start()
      guard process > 0 else {
        throw SystemError(operation: "start", path: command.first ?? "", errno: -process)
      }
      return wait(for: process)
    } catch let error as SystemError {
      return .notStarted(error)
    } catch {
      return .notStarted(SystemError(operation: "start", path: command.first ?? "", errno: EIO))
    }
  }

  private func wait(for process: pid_t) -> Ending {
    let start = Machine.current.uptime()
    var status: Int32 = 0
    while true {
      let found = waitpid(process, &status, WNOHANG)
      if found == process {
        let signal = status & 0x7f
        return .exited(signal == 0 ? (status >> 8) & 0xff : 128 + signal)
      }
      if found < 0 && errno != EINTR { return .exited(127) }
      guard Machine.current.uptime() - start < limit.milliseconds else { break }
      poll(nil, 0, 10)
    }
    kill(-process, SIGKILL)
    kill(process, SIGKILL)
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return .timedOut
  }
}
