#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Which names a folder has and what they stand for: equal before and after, nothing was renamed in
/// between.
struct FolderFingerprint: Equatable {
  private var sum = 0

  init() {}

  /// Reads a folder; nil where it cannot be read.
  init?(of path: String) {
    guard let stream = opendir(path) else { return nil }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      withUnsafeBytes(of: &entry.pointee.d_name) { field in
        let bytes = field.bindMemory(to: UInt8.self)
        add(UnsafeBufferPointer(rebasing: bytes.prefix { $0 != 0 }), UInt64(entry.pointee.d_ino))
      }
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
