import Platform

/// A new version of a mirror's file, written beside the old one, which stays until the new one is
/// complete and durable.
final class MirrorReplacement {
  private let path: String
  private let partial: String
  private let file: MirrorFile
  private var isPlaced = false

  /// Begins an empty version of a file, which need not exist.
  init(of path: String) throws {
    self.path = path
    partial = path + ".partial"
    file = try MirrorFile(partial)
    try file.truncate(to: 0)
  }

  deinit { if !isPlaced { try? File.remove(partial) } }

  func append(_ bytes: UnsafeRawBufferPointer) throws { try file.append(bytes) }

  /// Replaces the old version by the new one; keeps the old one beside it if it is longer.
  ///
  /// - Parameter aside: the name to keep a longer one under: `<aside>.log`, or `<aside>.2.log` if
  ///   that exists.
  /// - Returns: the kept file's path; nil if none was kept.
  func place(keepingLongerAs aside: String) throws -> String? {
    try file.synchronize()
    var kept: String?
    if let old = try FileStatus(path), try old.length > file.length() {
      let name = try Self.unused(aside)
      try File.rename(path, to: name)
      kept = name
    }
    try File.rename(partial, to: path)
    isPlaced = true
    try AtomicFile.syncDirectory(of: path)
    return kept
  }

  private static func unused(_ aside: String) throws -> String {
    var name = "\(aside).log"
    var number = 1
    while try FileStatus(name) != nil {
      number += 1
      name = "\(aside).\(number).log"
    }
    return name
  }
}
