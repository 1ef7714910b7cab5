import Foundation
import Platform
import Logging
import SessionLog
import SessionRecorder

/// An upload in a process of its own, which outlives this one where it has to: neither its memory
/// nor its end is the recorder's affair.
///
/// Where diagnostics are asked for it writes them, and what it complains of, to our standard error.
final class UploadProcess {
  private let process: pid_t
  private let told: Descriptor
  private var end: Int32?

  /// Starts one; nil when that cannot be done.
  ///
  /// - Parameter wait: how long it waits for another upload to end.
  init?(of place: Workplace, waits wait: Duration = .zero) {
    let path = "\(place.home.cachePath)/upload.\(getpid())"
    guard let told = try? Descriptor(opening: path, [.readWrite, .create, .empty]) else {
      return nil
    }
    // Read by descriptor only.
    unlink(path)

    var environment = place.environment
    let isLogging = place.logger.logLevel < .critical
    // A level that was refused is refused once.
    environment[DiagnosticOptions.variable] = isLogging ? place.logger.logLevel.rawValue : nil
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(null) }
    var child = ChildProcess(
      [Console.ownPath, "upload", "--for-recorder", "--wait", "\(wait.seconds)s"],
      environment: environment)
    child.descriptors = [
      (null, STDIN_FILENO), (null, STDOUT_FILENO),
      (isLogging ? STDERR_FILENO : told.number, STDERR_FILENO),
    ]
    // Away from our terminal and its signals.
    child.group = 0
    let process = child.start()
    guard process > 0 else { return nil }
    self.process = process
    self.told = told
  }

  /// Whether it has ended.
  func hasEnded() -> Bool {
    if end == nil {
      var status: Int32 = 0
      let found = waitpid(process, &status, WNOHANG)
      if found == process { end = status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f }
      if found < 0 && errno != EINTR { end = -1 }
    }
    return end != nil
  }

  /// Its exit status; nil when it goes on for longer.
  func status(within limit: Duration) -> Int32? {
    let start = Capture.uptime
    while !hasEnded(), Capture.uptime - start < limit { poll(nil, 0, 10) }
    return end
  }

  /// What it complained of.
  var complaints: String {
    let text = (try? told.read(at: 0, count: 4096)) ?? []
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}
