import Foundation
import Logging
import Platform
import SessionLog

/// An upload in a separate process, which may outlive this one, so that neither its memory nor its
/// failure affects the recorder.
///
/// If diagnostics are enabled, it writes them and its errors to our standard error.
final class UploadProcess {
  private let process: pid_t
  private let told: Descriptor
  private var end: Int32?

  /// Starts an upload; nil if that fails.
  ///
  /// - Parameter wait: how long it waits for another upload to end.
  init?(of setup: CommandContext, waits wait: Duration = .zero) {
    let path = "\(setup.home.cachePath)/upload.\(getpid())"
    guard let told = try? Descriptor(opening: path, [.readWrite, .create, .empty]) else {
      return nil
    }
    // The file is read through its descriptor only.
    unlink(path)

    var environment = setup.environment
    let isLogging = setup.logger.logLevel < .critical
    // Do not repeat the error about an invalid level.
    environment[DiagnosticOptions.variable] = isLogging ? setup.logger.logLevel.rawValue : nil
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    var child = ChildProcess(
      [Console.ownPath, "upload", "--for-recorder", "--wait", "\(wait.seconds)s"],
      environment: environment)
    child.descriptors = [
      (null, STDIN_FILENO), (null, STDOUT_FILENO),
      (isLogging ? STDERR_FILENO : told.number, STDERR_FILENO),
    ]
    // Detach it from our terminal and its signals.
    child.group = 0
    let process = child.start()
    guard process > 0 else { return nil }
    self.process = process
    self.told = told
  }

  /// Its exit status; nil if it is running.
  var status: Int32? {
    if end == nil {
      var status: Int32 = 0
      let found = waitpid(process, &status, WNOHANG)
      if found == process { end = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f }
      if found < 0 && errno != EINTR { end = -1 }
    }
    return end
  }

  /// Its exit status; nil if it is still running after a time limit.
  func status(within limit: Duration) -> Int32? {
    let start = Machine.current.uptime()
    while status == nil, Machine.current.uptime() - start < limit { poll(nil, 0, 10) }
    return status
  }

  /// The errors it printed.
  var complaints: String {
    let text = (try? told.read(at: 0, count: 4096)) ?? []
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}
