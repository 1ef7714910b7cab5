import CLastRecord
import LogRecords
import Platform
import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Records the process's output in its session, and passes it on to the console.
final class ConsoleCapture: Sendable {
  /// One of the two streams.
  private struct Stream: Sendable {
    let number: Int32
    let captured: CapturedStream
    /// The original descriptor.
    let console: Int32
    /// The end to read from.
    let pipe: Int32
  }

  private let writer: SessionWriter
  private let streams: [Stream]
  private let stopPipe: (read: Int32, write: Int32)
  private let thread: BackgroundThread

  /// The original descriptor of standard error.
  var consoleOfErrors: Int32 { streams[1].console }

  private static let bufferLength = 65_536

  /// Starts capturing; if that fails, both streams go to the console as before.
  ///
  /// - Throws: ``Platform/SystemError``.
  init(into writer: SessionWriter) throws {
    fflush(nil)
    clastrecord_buffer_lines()
    let stopPipe = try Self.makePipe()
    var streams: [Stream] = []
    for (number, captured) in [
      (STDOUT_FILENO, CapturedStream.standardOutput), (STDERR_FILENO, .standardError),
    ] {
      let pipe = try Self.makePipe()
      let console = fcntl(number, F_DUPFD_CLOEXEC, 3)
      guard console >= 0, dup2(pipe.write, number) >= 0 else {
        let error = errno
        for stream in streams { dup2(stream.console, stream.number) }
        throw SystemError(operation: "capture", path: captured.name, errno: error)
      }
      close(pipe.write)
      streams.append(
        Stream(number: number, captured: captured, console: console, pipe: pipe.read))
    }
    self.writer = writer
    self.streams = streams
    self.stopPipe = stopPipe
    for stream in streams { clastrecord_capture(stream.number, stream.pipe, stream.console) }
    thread = BackgroundThread("tidemark.console") { [streams] in
      Self.pump(streams, into: writer, until: stopPipe.read)
    }
  }

  private static func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw SystemError(operation: "make", path: "a pipe", errno: errno)
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Restores the streams; records output still in the pipes first.
  func stop() {
    fflush(nil)
    for stream in streams { dup2(stream.console, stream.number) }
    _ = [UInt8(1)].withUnsafeBytes { systemWrite(stopPipe.write, $0) }
    // Do not wait for a console that accepts nothing.
    thread.join(within: .seconds(2))
    for stream in streams { clastrecord_capture(stream.number, -1, -1) }
  }

  private static func pump(
    _ streams: [Stream], into writer: SessionWriter, until stop: Int32
  ) {
    var buffer = [UInt8](repeating: 0, count: bufferLength)
    var open = streams
    while !open.isEmpty {
      var polled =
        open.map { pollfd(fd: $0.pipe, events: Int16(POLLIN), revents: 0) }
        + [pollfd(fd: stop, events: Int16(POLLIN), revents: 0)]
      guard poll(&polled, nfds_t(polled.count), -1) >= 0 || errno == EINTR else { return }
      let isLast = polled.last?.revents != 0
      // A signal handler that ends the process drains the pipes itself.
      guard clastrecord_begin_reading() != 0 else {
        poll(nil, 0, 10)
        continue
      }
      defer { clastrecord_end_reading() }
      for (stream, entry) in zip(open, polled) where entry.revents != 0 || isLast {
        if isLast { _ = fcntl(stream.pipe, F_SETFL, O_NONBLOCK) }
        repeat {
          let count = buffer.withUnsafeMutableBytes {
            read(stream.pipe, $0.baseAddress, $0.count)
          }
          if count < 0 && errno == EINTR { continue }
          guard count > 0 else {
            if count == 0 { open.removeAll { $0.number == stream.number } }
            break
          }
          // Record before printing: the log contains everything that the console shows.
          buffer.withUnsafeBytes {
            writer.capture(
              UnsafeRawBufferPointer(rebasing: $0.prefix(count)), from: stream.captured)
          }
          ConsoleOutput.write(Array(buffer.prefix(count)), stream.console)
        } while isLast
      }
      if isLast { return }
    }
  }
}
