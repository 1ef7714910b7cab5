import Foundation
import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why a test server does not run, and what to do about it.
package struct ServerFailure: Error, CustomStringConvertible {
  /// The whole message in one line.
  package let description: String
}

/// A server program that ends when this object is deinitialized, or the test process ends.
final class ServerProcess: Sendable {
  private static let spawning = NSLock()
  private let lifeline: CInt
  private let shell: pid_t

  /// Starts a program and waits until it accepts connections, or ends.
  ///
  /// A shell is in between: it waits for its input to end, which also happens when the tests crash,
  /// and then ends the program and removes its folder. Descriptor 3 belongs to the program only: a
  /// pipe that is closed when it ends.
  init(
    _ executable: String, _ arguments: [String], port: UInt16, folder: String, install: String
  ) throws {
    guard FileManager.default.isExecutableFile(atPath: executable) else {
      throw ServerFailure(description: "\(executable) is missing: install \(install)")
    }
    let script = """
      folder=$1; shift
      "$@" &
      child=$!
      exec 3>&-
      read line
      kill $child; wait $child; exec rm -rf "$folder"
      """
    let output = folder + "/output"
    let life: CInt
    (shell, lifeline, life) = try Self.spawn(
      ["/bin/sh", "-c", script, "server", folder, executable] + arguments,
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder], output: output)
    defer { close(life) }
    let end = Date(timeIntervalSinceNow: Patience.seconds)
    while !Port.accepts(port) {
      var ended = pollfd(fd: life, events: 0, revents: 0)
      let hasEnded = poll(&ended, 1, 10) == 1
      guard hasEnded || Date() >= end else { continue }
      let said = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
      throw ServerFailure(
        description: hasEnded
          ? "\(executable) ended before it listened on port \(port): \(said). "
            + "Install \(install) again"
          : "\(executable) runs and does not listen on port \(port): \(said)")
    }
  }

  deinit {
    close(lifeline)
    let shell = shell
    Thread {
      var status: CInt = 0
      while waitpid(shell, &status, 0) < 0, errno == EINTR {}
    }.start()
  }

  /// Starts a program with a pipe as its input, and one that closes when it ends; returns its id,
  /// the writing end of the first and the reading end of the second.
  private static func spawn(
    _ arguments: [String], environment: [String: String], output: String
  ) throws -> (pid_t, CInt, CInt) {
    // Close on exec, and start one server at a time: otherwise each would keep the pipes of the
    // others open.
    spawning.lock()
    defer { spawning.unlock() }
    let input = try pipeEnds()
    let life = try pipeEnds()
    let log = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    var server = ChildProcess(arguments, environment: environment)
    server.descriptors = [(input.read, 0), (log, 1), (log, 2), (life.write, 3)]
    server.defaultSignals = [SIGPIPE]
    let process = server.start()
    for end in [input.read, life.write, log] { close(end) }
    guard process > 0 else {
      for end in [input.write, life.read] { close(end) }
      throw ServerFailure(description: "\(arguments[0]): \(String(cString: strerror(-process)))")
    }
    return (process, input.write, life.read)
  }

  private static func pipeEnds() throws -> (read: CInt, write: CInt) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw ServerFailure(description: "no pipe: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// The first executable with one of these names in the places where the tests' tools may be.
  static func tool(_ names: String...) -> String {
    var places: [String] = []
    let environment = ProcessInfo.processInfo.environment
    if let tools = environment["TIDEMARK_TEST_TOOLS"] { places.append(tools) }
    // This file is <package>/Tests/TestServers/ServerProcess.swift.
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    places.append(package.appendingPathComponent(".build/tools/bin").path)
    places += (environment["PATH"] ?? "").split(separator: ":").map(String.init)
    places += ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"]
    let found = names.flatMap { name in places.map { "\($0)/\(name)" } }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    return found ?? names[0]
  }
}
