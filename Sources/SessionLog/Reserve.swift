import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Space on the disk that is held for a session's last records: a disk that is full to the end still
/// takes the GAP line and how the session ended.
struct Reserve {
  /// Enough for a GAP record, the end record and a sidecar, in blocks of a usual file system.
  private static let length: off_t = 16_384

  private let path: String

  /// Takes the room; without it a full disk costs those records.
  init(_ path: String) {
    self.path = path
    guard let descriptor = try? RegularFile.open(path, O_WRONLY | O_CREAT) else { return }
    defer { close(descriptor) }
    #if canImport(Darwin)
      let isHeld = ftruncate(descriptor, Self.length) == 0
    #else
      let isHeld = posix_fallocate(descriptor, 0, Self.length) == 0
    #endif
    if !isHeld { release() }
  }

  /// Gives the room back.
  func release() { unlink(path) }
}
