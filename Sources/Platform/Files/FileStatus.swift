#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The status of a file, in types of this package.
package struct FileStatus: Sendable, Equatable {
  /// The kind of file.
  package enum Kind: Sendable { case file, directory, link, other }

  /// The kind of file.
  package let kind: Kind
  /// Its file system.
  package let device: UInt64
  /// Its inode number.
  package let inode: UInt64
  /// Length in bytes; at most ``longest``.
  package let length: Int64
  /// User number of its owner.
  package let owner: UInt32
  /// Its permissions, as for `chmod`.
  package let rights: UInt32
  /// When its content last changed.
  package let modified: FileTime
  /// When its content, name or permissions last changed, which cannot be set.
  package let changed: FileTime

  /// Maximum length, in bytes; a larger, necessarily sparse file counts as this long.
  ///
  /// It is ten times what a session may have, and small enough that lengths can be added.
  static let longest: Int64 = 10_000_000_000_000

  /// Describes a file.
  package init(
    kind: Kind, device: UInt64, inode: UInt64, length: Int64, owner: UInt32, rights: UInt32 = 0,
    modified: FileTime, changed: FileTime
  ) {
    (self.kind, self.device, self.inode, self.length) = (kind, device, inode, length)
    (self.owner, self.rights) = (owner, rights)
    (self.modified, self.changed) = (modified, changed)
  }

  init(_ status: stat) {
    self = FileEffect.hook?.status(FileStatus(asFound: status)) ?? FileStatus(asFound: status)
  }

  private init(asFound status: stat) {
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .directory
      case S_IFLNK: .link
      default: .other
      }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(status.st_ino)
    length = min(Int64(status.st_size), Self.longest)
    owner = status.st_uid
    rights = UInt32(status.st_mode) & 0o7777
    #if canImport(Darwin)
      let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (modified, changed) = (status.st_mtim, status.st_ctim)
    #endif
    self.modified = FileTime(modified)
    self.changed = FileTime(changed)
  }

  /// The status of a path; nil if it does not exist.
  ///
  /// Does not follow a link.
  package init?(_ path: String) throws(SystemError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let error = SystemError(operation: "stat", path: path, errno: errno)
      if error.isNotFound { return nil }
      throw error
    }
    self.init(status)
  }

  /// Whether nothing is at a path; false if that is unknown, as of a name that is not valid UTF-8.
  package static func isAbsent(_ path: String) -> Bool {
    guard !path.unicodeScalars.contains("\u{FFFD}") else { return false }
    do {
      return try FileStatus(path) == nil
    } catch {
      return false
    }
  }

  /// Whether both describe the same file.
  package func isSameFile(as other: FileStatus) -> Bool {
    inode == other.inode && device == other.device
  }

  /// When its content last changed.
  package var modifiedAt: Timestamp { modified.timestamp }
}
