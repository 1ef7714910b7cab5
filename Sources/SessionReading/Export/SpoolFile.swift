import Foundation
import Platform

/// Stores bytes whose number must be known before they are written elsewhere, in an unnamed file
/// that leaves nothing behind.
final class SpoolFile {
  private let file: Descriptor
  private(set) var length: ByteCount = 0
  private var watch: FreeSpace.Watch

  init() throws {
    watch = try FreeSpace.system.watch(0, in: NSTemporaryDirectory(), for: "a temporary file")
    file = try Descriptor(unnamedIn: NSTemporaryDirectory())
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try watch.count(bytes.count)
    try file.write(bytes)
    length += ByteCount(bytes.count)
  }

  /// Reads the written bytes back, in pieces.
  func read(_ body: ([UInt8]) throws -> Void) throws {
    var offset: Int64 = 0
    while offset < length.bytes {
      let piece = try file.read(at: offset, count: 1 << 20)
      guard !piece.isEmpty else { return }
      try body(piece)
      offset += Int64(piece.count)
    }
  }
}
