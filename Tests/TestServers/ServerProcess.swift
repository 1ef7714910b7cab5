import Foundation

/// Why a test server does not run, and what to do about it.
public struct ServerFailure: Error, CustomStringConvertible {
  /// The whole story in one line.
  public let description: String
}

/// A server program that ends when this object goes, or when the test process does.
final class ServerProcess: Sendable {
  private let folder: String
  private let process: Process
  private let input: Pipe

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
    self.folder = folder
    process = Process()
    input = Pipe()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments =
      [
        "-c",
        """
        folder=$1; shift
        "$@" >"$folder/output" 2>&1 &
        child=$!
        end() { kill $child 2>/dev/null; wait $child; rm -rf "$folder"; exit 0; }
        trap end TERM
        read line
        end
        """, "server", folder, executable,
      ] + arguments
    process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder]
    process.standardInput = input
    // A server that outlives the tests must not hold their output open, nor another's input.
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
    guard Port.accepts(port, within: 10) else {
      let output = try? String(contentsOfFile: folder + "/output", encoding: .utf8)
      stop()
      throw ServerFailure(
        description: "\(executable) does not answer: \(output ?? ""). Reinstall \(install)")
    }
  }

  deinit {
    stop()
  }

  private func stop() {
    // Both: another child may have been started with a copy of the pipe's end. Not waited for,
    // because that would run a run loop on a thread of the cooperative pool.
    process.terminate()
    try? input.fileHandleForWriting.close()
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
