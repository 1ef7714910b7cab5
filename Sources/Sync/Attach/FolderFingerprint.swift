import Platform

/// Which names a folder has and what they stand for: equal before and after, nothing was renamed in
/// between.
struct FolderFingerprint: Equatable {
  private var sum = 0

  init() {}

  /// Reads a folder; nil where it cannot be read.
  init?(of path: String) {
    do {
      try Descriptor(openingDirectory: path).forEachEntry { add($0.name, $0.inode) }
    } catch {
      return nil
    }
  }

  /// Adds an entry, in any order.
  mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ inode: UInt64) {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(name))
    hasher.combine(inode)
    sum &+= hasher.finalize()
  }
}
