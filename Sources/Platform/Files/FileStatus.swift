#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the system says of a file, in our own types.
package struct FileStatus: Sendable, Equatable {
  /// What it is.
  package enum Kind: Sendable { case file, directory, link, other }

  /// What it is.
  package let kind: Kind
  /// The file system that it is on.
  package let device: UInt64
  /// Its number there.
  package let inode: UInt64
  /// Length in bytes; no more than ``longest``.
  package let length: Int64
  /// Number of its owner.
  package let owner: UInt32
  /// Who may do what with it, as `chmod` has it.
  package let rights: UInt32
  /// When its content last changed.
  package let modified: FileTime
  /// When its content, name or rights last changed, which cannot be set.
  package let changed: FileTime

  /// A file that claims more than this, sparse as it must be, counts as this long, in bytes: ten
  /// times what a session may have, and so little that lengths can be added.
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

  /// The status of what has a path; nil when there is nothing.
  ///
  /// A link is not followed.
  package init?(_ path: String) throws(SystemError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let error = SystemError(operation: "stat", path: path, errno: errno)
      if error.isNotFound { return nil }
      throw error
    }
    self.init(status)
  }

  /// Whether both are of the same file.
  package func isSameFile(as other: FileStatus) -> Bool {
    inode == other.inode && device == other.device
  }

  /// When its content last changed.
  package var modifiedAt: Timestamp { modified.timestamp }
}
