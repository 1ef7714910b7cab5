import Platform

/// A folder's names and their inodes: if equal before and after, nothing was renamed in between.
struct FolderFingerprint: Equatable {
  private var sum = 0

  init() {}

  /// Reads a folder; nil if it cannot be read.
  init?(of path: String) {
    do {
      try Descriptor(openingDirectory: path).forEachEntry { add($0.name, $0.inode) }
    } catch {
      return nil
    }
  }

  /// Adds an entry; the order does not matter.
  mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ inode: UInt64) {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(name))
    hasher.combine(inode)
    sum &+= hasher.finalize()
  }
}
