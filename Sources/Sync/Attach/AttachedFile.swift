import Delta
import Platform
import Replica
import SessionLog

/// The cache's record of an attached file, kept until its session is forgotten.
struct AttachedFile: Equatable {
  /// The session that reads it.
  let session: SessionID
  /// The file; ``SessionLog/Sidecar/Source/length`` is set when the session has ended.
  var source: Sidecar.Source
  /// Length of the file that has been read, in bytes.
  var seen: Int64
  /// Fingerprint of the bytes just before ``seen``; nil if only the head is known.
  var link: Link?
  /// The file's change time at the last read or, for a missing file, the time it was last seen;
  /// ``Platform/FileTime/epoch`` if unknown.
  var changed: FileTime
  /// Whether it was found renamed, so that its session ends once growth stops.
  var isRotated = false
  /// Whether the file is now the compressed form of the log that was read.
  var isCompressed = false
  /// When the session ends unless the file grows.
  var idleAt: Timestamp

  var isOpen: Bool { source.length == nil }

  /// Its last bytes that were read, as they are in a plain file; nil if they are not known.
  var anchor: LocalStream.Anchor? {
    guard let link, changed != .epoch, !isGone, !isCompressed, source.length != 0 else {
      return nil
    }
    return LocalStream.Anchor(before: seen, link)
  }

  /// The folder that contains the file.
  var folder: String { Self.folder(of: source.path) }

  /// A file's identity on this machine: device and inode.
  struct Number: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// The file's number; meaningless once it is gone.
  var number: Number { Number(device: source.device, inode: source.inode) }

  /// Whether the file is gone, or its path names another one.
  var isGone: Bool { source.isGone }

  /// Whether a file status has the same number.
  func isAt(_ status: FileStatus) -> Bool { number == Number(status) }

  /// Whether a file has the same status as when it was last read.
  func isUnchanged(_ status: FileStatus) -> Bool {
    isAt(status) && changed == status.changed && (isCompressed || seen == status.length)
  }

  /// Whether the owner of a file allows it to be this one: the same, root, or the user who uploads.
  ///
  /// A user who can read a log could copy it and add lines, and even get its path and number.
  func mayBelong(to status: FileStatus) -> Bool {
    source.owner.map(status.mayHaveReplaced) ?? true
  }

  /// Whether the owner of a file allows it to be what this one has become.
  ///
  /// A user who may write beside another's files can attach a log that begins like one of them, or a copy of
  /// one. Another owner's file therefore needs a rotated name of the log, in its folder or one below that,
  /// and more than a few bytes.
  func mayHaveMoved(to target: AttachCandidate) -> Bool {
    guard let owner = source.owner, target.status.owner != owner else { return true }
    let originals = LogSource.originals(of: target.path) + LogSource.originalsAbove(target.path)
    return source.headLength == FileContent.headLength && originals.contains(source.path)
  }

  /// Whether its path still names a file with the same number.
  func isInPlace() throws -> Bool { try FileStatus(source.path).map(isAt) ?? false }

  /// Records where the file was found.
  mutating func place(at path: String, _ status: FileStatus) { source.place(at: path, status) }

  /// Records the first bytes of a file that had fewer than are compared.
  mutating func takeHead(of content: FileContent) throws {
    guard source.headLength < FileContent.headLength else { return }
    let head = try content.head()
    source.headLength = head.count
    source.headHash = Sidecar.Source.headHash(of: head)
  }

  /// Takes everything but the file's place from the sidecar of a session whose stream is complete:
  /// the cache may not know yet that the home has the stream.
  mutating func keepStream(of sidecar: Sidecar) {
    guard var complete = sidecar.source, complete.length != nil else { return }
    complete.takePlace(of: source)
    source = complete
  }

  /// Records that the file is gone.
  ///
  /// - Parameter time: when it was last there; content that changed later is another file's.
  mutating func lose(at time: Timestamp) {
    source.lose()
    changed = FileTime(time)
  }

  /// Whether the head can identify the file at a path: a short head, which is all that was read,
  /// does only at a path that rotation would use, perhaps in another folder.
  func mayBe(at path: String) -> Bool {
    isNeighbour(path) || source.headLength == FileContent.headLength
      || LogSource.isRotatedName(path, of: source.path)
  }

  /// Whether rotation may give the file a path, also one that was rotated before; or compression alone.
  func mayBeRotated(to path: String) -> Bool {
    let isPacked = CompressedFile.form(of: path) != nil
    return isPacked && path.hasPrefix(source.path + ".")
      || ([source.path] + LogSource.originals(of: source.path)).contains {
        LogSource.isRotatedName(path, of: $0)
      }
  }

  /// Whether a path is in the file's folder and starts like a rotated name of it.
  func isNeighbour(_ path: String) -> Bool {
    Self.folder(of: path) == folder
      && LogSource.stem(of: path).hasPrefix(LogSource.stem(of: source.path))
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastSlash, slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  static func name(of path: String) -> Substring {
    path.lastSlash.map { path[path.utf8.index(after: $0)...] } ?? path[...]
  }

  static func path(of name: some StringProtocol, in folder: String) -> String {
    (folder == "/" ? "/" : folder + "/") + name
  }
}

extension Sidecar.Source {
  /// Records where the file was found.
  mutating func place(at path: String, _ status: FileStatus) {
    (self.path, device, inode, owner) = (path, status.device, status.inode, status.owner)
  }

  /// Records where another record says that it was found.
  mutating func takePlace(of other: Sidecar.Source) {
    (path, device, inode, owner) = (other.path, other.device, other.inode, other.owner)
  }
}

/// A file that could not be read, and that the log of a session may have become.
///
/// Rotation renames it, which changes neither its number nor when it was written to; another file that gets the
/// number of a removed one was written to later.
struct AwaitedFile: Hashable {
  let session: SessionID
  let number: AttachedFile.Number
  let modified: FileTime

  init(session: SessionID, number: AttachedFile.Number, modified: FileTime) {
    (self.session, self.number, self.modified) = (session, number, modified)
  }

  init(_ session: SessionID, _ status: FileStatus) {
    self.init(session: session, number: .init(status), modified: status.modified)
  }
}

extension AttachedFile.Number {
  init(_ status: FileStatus) { self.init(device: status.device, inode: status.inode) }
}

extension FileStatus {
  /// Whether the owner of a file may have put it in the place of another user's: the same, root, or the
  /// user who uploads.
  func mayHaveReplaced(ownedBy owner: UInt32) -> Bool {
    [owner, 0, Account.effective].contains(self.owner)
  }

  /// When a file has been idle for a time, unless it grows; from when it was seen, if it has a time in
  /// the future.
  func idle(for time: Duration, seenAt now: Timestamp) -> Timestamp { min(modifiedAt, now) + time }
}
