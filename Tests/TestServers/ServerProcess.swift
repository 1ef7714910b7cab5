import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why a test server does not run, and what to do about it.
public struct ServerFailure: Error, CustomStringConvertible {
  /// The whole story in one line.
  public let description: String
}

/// A server program that ends when this object goes, or when the test process does.
final class ServerProcess: Sendable {
  private static let spawning = NSLock()
  private let lifeline: CInt
  private let shell: pid_t

  /// Starts a program and waits until it accepts connections.
  ///
  /// A shell stands between: it waits for its input to end, which happens also when the tests
  /// crash, and then ends the program and removes its folder.
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
      read line
      kill $child; wait $child; exec rm -rf "$folder"
      """
    let output = folder + "/output"
    (shell, lifeline) = try Self.spawn(
      ["/bin/sh", "-c", script, "server", folder, executable] + arguments,
      environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=\(folder)"], output: output)
    guard Port.accepts(port, within: 10) else {
      let said = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
      throw ServerFailure(
        description: "\(executable) does not answer: \(said). Install \(install) again")
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

  /// Starts a program with a pipe as its input; returns its id and the pipe's writing end.
  ///
  /// Foundation's `Process` would hand down the signal mask of a thread of the pool, on which all
  /// signals are blocked: the servers could not be told to end.
  private static func spawn(_ arguments: [String], environment: [String], output: String) throws
    -> (pid_t, CInt)
  {
    var ends: [CInt] = [-1, -1]
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    var signals = sigset_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    sigemptyset(&signals)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    // Closed on exec, and one server at a time: or each would keep the pipes of the others open.
    spawning.lock()
    defer { spawning.unlock() }
    guard pipe(&ends) == 0 else { throw ServerFailure(description: "no pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var pid: pid_t = 0
    let words = arguments.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    let result = posix_spawn(&pid, arguments[0], &actions, &attributes, words, variables)
    for word in words + variables { free(word) }
    close(ends[0])
    guard result == 0 else {
      close(ends[1])
      throw ServerFailure(description: "\(arguments[0]): \(String(cString: strerror(result)))")
    }
    return (pid, ends[1])
  }

  /// The first executable of a name in the places where the tests' tools may be.
  static func tool(_ name: String) -> String {
    var places: [String] = []
    let environment = ProcessInfo.processInfo.environment
    if let tools = environment["TIDEMARK_TEST_TOOLS"] { places.append(tools) }
    // This file is <package>/Tests/TestServers/ServerProcess.swift.
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    places.append(package.appendingPathComponent(".build/tools/bin").path)
    places += (environment["PATH"] ?? "").split(separator: ":").map(String.init)
    places += ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"]
    let found = places.map { "\($0)/\(name)" }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    return found ?? name
  }
}
