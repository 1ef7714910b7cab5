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

    /// Redirects a stream of this process into a new pipe.
    ///
    /// - Throws: ``Platform/SystemError``; then the stream is as before.
    init(_ number: Int32, _ captured: CapturedStream) throws {
      let ends = try PipeEnds()
      defer { close(ends.write) }
      let console = fcntl(number, F_DUPFD_CLOEXEC, 3)
      guard console >= 0, dup2(ends.write, number) >= 0 else {
        let error = errno
        close(ends.read)
        if console >= 0 { close(console) }
        throw SystemError(operation: "capture", path: captured.name, errno: error)
      }
      (self.number, self.captured, self.console) = (number, captured, console)
      self.pipe = ends.read
    }

    /// Sends the stream to the console again.
    func restore() { dup2(console, number) }
  }

  private let writer: SessionWriter
  private let streams: [Stream]
  private let stopPipe: PipeEnds
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
    let stopPipe = try PipeEnds()
    var streams: [Stream] = []
    do {
      streams.append(try Stream(STDOUT_FILENO, .standardOutput))
      streams.append(try Stream(STDERR_FILENO, .standardError))
    } catch {
      for stream in streams {
        stream.restore()
        close(stream.pipe)
        close(stream.console)
      }
      close(stopPipe.read)
      close(stopPipe.write)
      throw error
    }
    self.writer = writer
    self.streams = streams
    self.stopPipe = stopPipe
    for stream in streams { clastrecord_capture(stream.number, stream.pipe, stream.console) }
    thread = BackgroundThread("tidemark.console") { [streams] in
      Self.pump(streams, into: writer, until: stopPipe.read)
    }
  }

  /// Restores the streams; records output still in the pipes first.
  func stop() {
    fflush(nil)
    for stream in streams { stream.restore() }
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
