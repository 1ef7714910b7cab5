public import Delta
import Foundation
public import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A session's local log, read by position: it may grow meanwhile and nothing here minds.
public final class LogFile: Sendable {
  /// Where it is.
  public let path: String
  private let descriptor: Int32

  /// Opens a log for reading without following a link.
  ///
  /// - Throws: ``SessionLog/SystemError``.
  public init(path: String) throws {
    self.path = path
    // A pipe under this name would keep a blocking open waiting for ever.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError(operation: "open", path: path, errno: errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw SystemError(operation: "read, as it is no regular file,", path: path, errno: EINVAL)
    }
  }

  deinit { close(descriptor) }

  /// Length in bytes and time of the last change.
  ///
  /// - Throws: ``SessionLog/SystemError``.
  public func status() throws -> (length: Int64, modified: Timestamp) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw SystemError(operation: "stat", path: path, errno: errno)
    }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    let milliseconds = Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    return (Int64(status.st_size), Timestamp(milliseconds: milliseconds))
  }

  /// Makes what was written durable, so that nothing is sent that a power loss could undo here.
  ///
  /// - Throws: ``SessionLog/SystemError``.
  public func synchronize() throws {
    #if canImport(Darwin)
      let result = fsync(descriptor)
    #else
      let result = fdatasync(descriptor)
    #endif
    guard result == 0 else { throw SystemError(operation: "sync", path: path, errno: errno) }
  }

  /// Reads a range that must be there.
  ///
  /// - Throws: ``SessionLog/SystemError``; ``ReplicaError`` when the file ends before the range.
  public func read(_ range: Range<Int64>) throws -> [UInt8] {
    let count = Int(range.upperBound - range.lowerBound)
    var failure: Int32?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = 0
      while filled < count {
        let result = pread(
          descriptor, buffer.baseAddress.map { $0 + filled }, count - filled,
          off_t(range.lowerBound) + off_t(filled))
        if result < 0 && errno == EINTR { continue }
        if result < 0 { failure = errno }
        guard result > 0 else { return }
        filled += result
      }
    }
    if let failure { throw SystemError(operation: "read", path: path, errno: failure) }
    guard bytes.count == count else {
      throw ReplicaError(
        .localLogChanged,
        "\(path) ends at \(range.lowerBound + Int64(bytes.count)), before \(range.upperBound)")
    }
    return bytes
  }

  /// Reads a range in pieces of at most ``Delta/SegmentEncoder/frameLength`` bytes.
  ///
  /// - Throws: as ``read(_:)`` does, and what `body` throws.
  public func forEachPiece(
    of range: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let end = min(range.upperBound, offset + Int64(SegmentEncoder.frameLength))
      try read(offset..<end).withUnsafeBytes(body)
      offset = end
    }
  }

  /// The fingerprint of the bytes before an offset.
  ///
  /// - Throws: as ``read(_:)`` does.
  public func link(before offset: Int64) throws -> Link {
    Link(before: try read(max(0, offset - Int64(Link.span))..<offset)[...])
  }

  /// The offset after the last newline in a range, looked for from its end; nil without one.
  ///
  /// - Throws: as ``read(_:)`` does.
  public func lastRecordEnd(in range: Range<Int64>) throws -> Int64? {
    var end = range.upperBound
    while end > range.lowerBound {
      let start = max(range.lowerBound, end - 65_536)
      if let newline = try read(start..<end).lastIndex(of: 0x0a) {
        return start + Int64(newline) + 1
      }
      end = start
    }
    return nil
  }
}
