import Platform

/// Space on the disk that is held for a session's last records: a disk that is full to the end still
/// takes the GAP line and how the session ended.
struct Reserve {
  /// Enough for a GAP record, the end record and a sidecar, in blocks of a usual file system.
  private static let length: Int64 = 16_384

  private let path: String

  /// Takes the room; without it a full disk costs those records.
  init(_ path: String) {
    self.path = path
    guard let file = try? Descriptor(opening: path, [.write, .create]) else { return }
    if (try? file.allocate(Self.length)) == nil { release() }
  }

  /// Gives the room back.
  func release() { try? File.remove(path) }
}
