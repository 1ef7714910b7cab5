import Platform

/// A new version of a mirror's file, written beside the old one, which stays until the new one is
/// complete and durable.
final class MirrorReplacement {
  private let folder: OpenFolder
  private let name: String
  private let partial: String
  private let file: MirrorFile
  private var isPlaced = false

  /// Begins an empty version of a file, which need not exist.
  init(of name: String, in folder: OpenFolder) throws {
    (self.name, self.folder) = (name, folder)
    partial = name + ".partial"
    file = try MirrorFile(replacing: partial, in: folder)
  }

  deinit { if !isPlaced { try? folder.remove(partial) } }

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
    if let aside, let old = try folder.status(of: name),
      try old.length > file.length() || !isDamaged && !beginsWithOld(upTo: old.length)
    {
      let free = try unused(aside)
      try folder.rename(name, to: free)
      kept = folder.path(of: free)
    }
    try folder.rename(partial, to: name)
    isPlaced = true
    try folder.synchronize()
    return kept
  }

  /// Bytes that are compared at once.
  private static let window: Int64 = 1 << 20

  /// Whether the new version begins with the old one, of this length in bytes.
  private func beginsWithOld(upTo length: Int64) throws -> Bool {
    let old = try OpenFile(name, in: folder)
    var start: Int64 = 0
    while start < length {
      let bytes = try old.read(at: start, count: Int(min(Self.window, length - start)))
      let end = start + Int64(bytes.count)
      guard !bytes.isEmpty, try bytes == file.bytes(before: end, count: bytes.count) else {
        return false
      }
      start = end
    }
    return true
  }

  private func unused(_ aside: String) throws -> String {
    var name = "\(aside).log"
    var number = 1
    while try folder.status(of: name) != nil {
      number += 1
      name = "\(aside).\(number).log"
    }
    return name
  }
}
