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

  /// Replaces the old version.
  ///
  /// The old one is kept under another name unless the new one begins with it, or it is damaged and
  /// not longer.
  ///
  /// - Parameters:
  ///   - aside: the name for the old one: `<aside>.log`, or `<aside>.2.log` if that exists; nil to
  ///     keep none.
  ///   - isDamaged: whether the old one is known to be a damaged copy.
  /// - Returns: the old one's path; nil if it is not kept.
  func commit(keepingOldAs aside: String?, isDamaged: Bool = false) throws -> String? {
    try file.synchronize()
    var kept: String?
    if let aside, let old = try FileStatus(path),
      try old.length > file.length() || !isDamaged && !beginsWithOld(upTo: old.length)
    {
      let name = try Self.unused(aside)
      try File.rename(path, to: name)
      kept = name
    }
    try File.rename(partial, to: path)
    isPlaced = true
    try AtomicFile.syncDirectory(of: path)
    return kept
  }

  /// Bytes that are compared at once.
  private static let window: Int64 = 1 << 20

  /// Whether the new version begins with the old one, of this length in bytes.
  private func beginsWithOld(upTo length: Int64) throws -> Bool {
    let old = try MirrorFile(path)
    var end: Int64 = 0
    while end < length {
      let count = Int(min(Self.window, length - end))
      end += Int64(count)
      if try old.bytes(before: end, count: count) != file.bytes(before: end, count: count) {
        return false
      }
    }
    return true
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
