#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Operations on the entries of an open folder, safe against links swapped into its path.
extension Descriptor {
  /// An entry of a folder.
  package struct Entry {
    /// Its name, without a zero at its end.
    package let name: UnsafeBufferPointer<UInt8>
    /// Its inode number.
    package let inode: UInt64
    /// Its kind, if the file system states it.
    package let kind: FileStatus.Kind?
  }

  /// The status of an entry, a link's own.
  package func status(of name: String) throws(SystemError) -> FileStatus {
    var status = stat()
    guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw SystemError(operation: "stat", path: path(of: name), errno: errno)
    }
    return FileStatus(status)
  }

  /// The status of an entry, a link's own, by its name's bytes; nil if there is none of that name.
  package func status(
    ofBytes name: UnsafeBufferPointer<UInt8>
  ) throws(SystemError) -> FileStatus? {
    var status = stat()
    let bytes = name.map(CChar.init(bitPattern:)) + [0]
    guard fstatat(number, bytes, &status, AT_SYMLINK_NOFOLLOW) != 0 else {
      return FileStatus(status)
    }
    let reason = errno
    let error = SystemError(
      operation: "stat", path: path(of: String(decoding: name, as: UTF8.self)), errno: reason)
    if error.isNotFound { return nil }
    throw error
  }

  /// Passes its entries to a closure, without `.` and `..`.
  package func forEachEntry(_ body: (Entry) throws -> Void) throws {
    // Duplicate the descriptor, because closing the stream closes it.
    let copy = systemResult(Int(openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
    guard copy >= 0 else { throw SystemError(operation: "read", path: path, errno: Int32(-copy)) }
    guard let stream = fdopendir(Int32(copy)) else {
      let reason = errno
      close(Int32(copy))
      throw SystemError(operation: "read", path: path, errno: reason)
    }
    defer { closedir(stream) }
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw SystemError(operation: "read", path: path, errno: errno) }
        return
      }
      try withUnsafeBytes(of: &entry.pointee.d_name) { field in
        let bytes = field.bindMemory(to: UInt8.self)
        let name = UnsafeBufferPointer(rebasing: bytes.prefix { $0 != 0 })
        guard name.count > 2 || !name.allSatisfy({ $0 == 0x2e }) else { return }
        try body(
          Entry(
            name: name, inode: UInt64(entry.pointee.d_ino),
            kind: Self.kind(Int32(entry.pointee.d_type))))
      }
    }
  }

  /// Names of its entries.
  package func names() throws(SystemError) -> [String] {
    var names: [String] = []
    do {
      try forEachEntry { names.append(String(decoding: $0.name, as: UTF8.self)) }
    } catch {
      throw error as? SystemError ?? SystemError(operation: "read", path: path, errno: EIO)
    }
    return names
  }

  private static func kind(_ type: Int32) -> FileStatus.Kind? {
    switch type {
    case Int32(DT_UNKNOWN): nil
    case Int32(DT_REG): .file
    case Int32(DT_DIR): .directory
    case Int32(DT_LNK): .link
    default: .other
    }
  }

  /// Creates a folder in it.
  ///
  /// - Parameter rights: its permissions before the process's umask; by default for its owner only.
  package func makeDirectory(_ name: String, rights: UInt32 = 0o700) throws(SystemError) {
    try perform(.makeDirectory, name, "make") { Int(mkdirat(number, name, mode_t(rights))) }
  }

  /// Removes an empty folder from it.
  package func removeDirectory(_ name: String) throws(SystemError) {
    try perform(.removeDirectory, name, "remove") { Int(unlinkat(number, name, AT_REMOVEDIR)) }
  }

  /// Removes an entry other than a folder.
  package func remove(_ name: String) throws(SystemError) {
    try perform(.remove, name, "remove") { Int(unlinkat(number, name, 0)) }
  }

  /// Renames an entry, replacing an existing one.
  package func rename(_ name: String, to new: String) throws(SystemError) {
    try perform(.rename(to: path(of: new)), name, "rename") {
      Int(renameat(number, name, number, new))
    }
  }

  /// Gives an entry an additional name, which must be free.
  package func link(_ name: String, to new: String) throws(SystemError) {
    try link(name, to: new, in: self)
  }

  /// Gives an entry an additional name in another folder, which must be free.
  func link(_ name: String, to new: String, in other: borrowing Descriptor) throws(SystemError) {
    let (target, effect) = (other.number, FileEffect.Kind.link(to: other.path(of: new)))
    try perform(effect, name, "link") { Int(linkat(number, name, target, new, 0)) }
  }

  /// Makes its names durable.
  package func synchronizeNames() throws(SystemError) {
    let result = FileEffect.perform(FileEffect(.synchronizeNames, path, number: number)) {
      systemResult(Int(fsync(number)))
    }
    // Some network file systems cannot sync a folder and fail with EINVAL.
    guard result >= 0 || result == -Int(EINVAL) else {
      throw SystemError(operation: "sync", path: path, errno: Int32(-result))
    }
  }

  private func perform(
    _ kind: FileEffect.Kind, _ name: String, _ operation: String, _ call: () -> Int
  ) throws(SystemError) {
    try FileEffect.perform(FileEffect(kind, path(of: name)), operation, path(of: name)) {
      systemResult(call())
    }
  }
}
