import Foundation
import Platform

/// Bytes of which the number must be known before they are written elsewhere; without a name, so that
/// nothing is ever left of them.
final class SpoolFile {
  private let descriptor: Int32
  private(set) var length: Int64 = 0
  private var watch: FreeSpace.Watch

  init() throws {
    watch = try FreeSpace.system.watch(0, in: NSTemporaryDirectory(), for: "a temporary file")
    var path = Array((NSTemporaryDirectory() + "/tidemark-XXXXXX").utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else {
      throw SystemError(operation: "create", path: NSTemporaryDirectory(), errno: errno)
    }
    unlink(path)
  }

  deinit { close(descriptor) }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try watch.take(bytes.count)
    try Descriptor.writeAll(bytes, to: descriptor, path: "the temporary folder")
    length += Int64(bytes.count)
  }

  /// Gives back what was written, in pieces.
  func read(_ body: ([UInt8]) throws -> Void) throws {
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    try file.seek(toOffset: 0)
    while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { try body(Array(piece)) }
  }
}
