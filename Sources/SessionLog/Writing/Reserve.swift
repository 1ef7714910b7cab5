import Platform

/// Disk space reserved for a session's last records, so that even a full disk has room for the GAP
/// record and the end record.
struct Reserve {
  /// Enough for a GAP record, the end record and a sidecar, in blocks of a usual file system; failing
  /// that, for the records, by which any other process knows the end.
  private static let lengths: [Int64] = [16_384, 4096]

  private let path: String

  /// Reserves the space; failing that, a full disk loses those records.
  init(_ path: String) {
    self.path = path
    guard let file = try? Descriptor(opening: path, [.write, .create]) else { return }
    if !Self.lengths.contains(where: { (try? file.allocate($0)) != nil }) { release() }
  }

  /// Releases the space.
  func release() { try? File.remove(path) }
}
