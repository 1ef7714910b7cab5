import Foundation
import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that is run to its end, with its output.
///
/// Foundation's `Process` occasionally crashes when many start at once, and passes on the signal
/// mask of a pool thread.
package struct Command: Sendable {
  /// The result of a run.
  package struct Result: Sendable {
    /// The exit status, or 128 and the signal's number.
    package let status: Int32
    /// Its standard output.
    package let output: [UInt8]
    /// Its standard error.
    package let errors: String

    /// The output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  private let words: [String]
  private let environment: [String: String]
  private let input: [UInt8]

  /// Describes a program that sees the given variables and no others.
  package init(
    _ words: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    input: [UInt8] = []
  ) {
    self.words = words
    self.environment = environment
    self.input = input
  }

  /// Runs it to its end, without blocking a thread that other tests need.
  package func run() async throws -> Result {
    let files = try (0..<3).map { _ in try Self.file() }
    try files[0].write(contentsOf: input)
    try files[0].seek(toOffset: 0)
    var child = ChildProcess(words, environment: environment)
    child.descriptors = files.enumerated().map { ($0.element.fileDescriptor, Int32($0.offset)) }
    child.defaultSignals = [SIGPIPE]
    let process = child.start()
    guard process > 0 else {
      throw SystemError(operation: "start", path: words[0], errno: -process)
    }
    let status = await withCheckedContinuation { done in
      Thread {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7f
        done.resume(returning: signal == 0 ? (status >> 8) & 0xff : 128 + signal)
      }.start()
    }
    return Result(
      status: status, output: try Self.content(files[1]),
      errors: String(decoding: try Self.content(files[2]), as: UTF8.self))
  }

  private static func content(_ file: FileHandle) throws -> [UInt8] {
    try file.seek(toOffset: 0)
    return Array(try file.readToEnd() ?? Data())
  }

  /// A file that has no name any more.
  private static func file() throws -> FileHandle {
    let path = NSTemporaryDirectory() + "tidemark-" + UUID().uuidString
    let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError(operation: "open", path: path, errno: errno) }
    unlink(path)
    return FileHandle(fileDescriptor: file, closeOnDealloc: true)
  }
}
