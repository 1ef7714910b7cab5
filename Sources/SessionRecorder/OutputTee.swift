import LogRecords
import Platform
import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Copies one stream of the program from its pipe or terminal to our console and into the session.
struct OutputTee: ~Copyable {
  private let stream: CapturedStream
  private let console: Int32
  /// Whether to close the read end.
  private let isOwned: Bool
  /// Whether reading is non-blocking and continues until nothing is left.
  private let isDrained: Bool
  private(set) var readEnd: Int32
  private(set) var writeEnd: Int32 = -1

  /// Creates a pipe for a program to write to.
  init(_ stream: CapturedStream, console: Int32) throws {
    let ends = try PipeEnds()
    self.stream = stream
    self.console = console
    isOwned = true
    isDrained = false
    readEnd = ends.read
    writeEnd = ends.write
  }

  /// Reads an existing descriptor.
  ///
  /// - Parameter isDrained: whether reading is non-blocking and continues until nothing is left.
  init(_ stream: CapturedStream, readEnd: Int32, console: Int32, isDrained: Bool = false) {
    self.stream = stream
    self.console = console
    self.readEnd = readEnd
    isOwned = false
    self.isDrained = isDrained
  }

  deinit {
    if isOwned && readEnd >= 0 { close(readEnd) }
    if writeEnd >= 0 { close(writeEnd) }
  }

  var isOpen: Bool { readEnd >= 0 }

  mutating func closeWriteEnd() {
    close(writeEnd)
    writeEnd = -1
  }

  /// Copies available output.
  ///
  /// If the console is gone, the pipe is closed, so that the program gets the SIGPIPE that it would
  /// have got without us.
  mutating func pump(_ buffer: inout [UInt8], into writer: SessionWriter?) {
    let count = receive(&buffer)
    if count < 0 && (errno == EINTR || errno == EAGAIN) { return }
    // A terminal without its program returns an error.
    guard count > 0 else { return closeReadEnd() }
    let isConsoleThere = buffer.withUnsafeBytes { bytes in
      let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
      writer?.capture(piece, from: stream)
      return Self.show(piece, on: console)
    }
    if !isConsoleThere { closeReadEnd() }
  }

  /// Reads available output: returns the number of bytes, 0 at the end, or a negative number with
  /// the error in `errno`.
  private func receive(_ buffer: inout [UInt8]) -> Int {
    buffer.withUnsafeMutableBytes { bytes in
      var count = 0
      while count < bytes.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
        let more = read(readEnd, rest.baseAddress, rest.count)
        if more <= 0 { return count > 0 ? count : more }
        count += more
        // A terminal returns at most 4 KiB at once.
        if !isDrained { break }
      }
      return count
    }
  }

  private mutating func closeReadEnd() {
    if isOwned { close(readEnd) }
    readEnd = -1
  }

  private static func show(_ bytes: UnsafeRawBufferPointer, on console: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = systemWrite(console, rest)
      if count == -Int(EAGAIN) {
        var polled = pollfd(fd: console, events: Int16(POLLOUT), revents: 0)
        _ = poll(&polled, 1, 1000)
      } else if count < 0 && count != -Int(EINTR) {
        // Any other error, such as a full disk behind a redirection, must cost the program no more
        // than the console's bytes.
        return count != -Int(EPIPE)
      } else if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
    return true
  }
}
