import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A session's live log as one of its writers has it open; any number may, in any process.
///
/// Each write shares a lock on the file and, under it, sees that the live log's name still is this
/// file's. Whoever rotates holds the lock alone. So no record is written to a file that has been
/// rotated away, and a part never grows.
///
/// Rotating is one `rename` of the live log to the name of a part. At any instant before it nothing
/// has happened, at any instant after it the part stands, and the live log is made by whoever writes
/// next. What is renamed was made durable before, so that no power loss shortens a part and moves
/// the bytes behind it.
///
/// Used by one thread at a time.
package struct LiveLog: ~Copyable, Sendable {
  /// Writes some of the bytes; the count, or the error number as a negative.
  package typealias Write = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

  private let files: SessionFiles
  private let limit: Int64
  private let write: Write
  private var descriptor: Int32 = -1
  private var identity: FileStatus?
  /// Length at which rotating is tried next.
  private var threshold: Int64
  private var hasRotated = false

  /// Opens the live log.
  ///
  /// - Parameters:
  ///   - files: the session's.
  ///   - limit: length in bytes from which on it is rotated; 0 for never.
  ///   - isNew: whether there must be none yet.
  ///   - write: replaces the system's write, for tests of a full disk.
  /// - Throws: ``SystemError``.
  package init(
    _ files: SessionFiles, rotateAt limit: Int64, isNew: Bool = false,
    write: @escaping Write = systemWrite
  ) throws {
    self.files = files
    self.limit = limit
    self.write = write
    threshold = limit
    try open(flags: isNew ? O_EXCL : 0)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Appends whole records, in one write where the system takes them in one.
  ///
  /// - Returns: how many bytes were written, and the error number that kept the rest from it.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) -> (count: Int, errno: Int32) {
    let length: Int64
    do {
      length = try share()
    } catch {
      return (0, error.errno)
    }
    defer { flock(descriptor, LOCK_UN) }
    var done = 0
    while done < bytes.count {
      let count = write(descriptor, UnsafeRawBufferPointer(rebasing: bytes.dropFirst(done)))
      if count == -Int(EINTR) { continue }
      guard count > 0 else {
        let written = UnsafeRawBufferPointer(rebasing: bytes.prefix(done))
        return (done - retractTornRecord(endOf: written), Int32(-count))
      }
      done += count
    }
    if limit > 0, length + Int64(done) >= threshold { rotateIfAlone() }
    return (done, 0)
  }

  /// Takes a record back that was written in part, unless somebody else writes at this moment or has
  /// written since.
  ///
  /// - Parameter written: what was written of a piece of records.
  /// - Returns: how many bytes were taken back.
  private func retractTornRecord(endOf written: UnsafeRawBufferPointer) -> Int {
    let torn = written.count - (written.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0)
    guard torn > 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0, let length = try? liveLength(),
      length >= torn
    else { return 0 }
    var tail = [UInt8](repeating: 0, count: torn)
    let start = off_t(length) - off_t(torn)
    guard pread(descriptor, &tail, torn, start) == torn, tail.elementsEqual(written.suffix(torn)),
      ftruncate(descriptor, start) == 0
    else { return 0 }
    return torn
  }

  /// Makes what was written durable; what was rotated away is so already.
  ///
  /// - Returns: whether it is.
  package func synchronize() -> Bool {
    #if canImport(Darwin)
      return fsync(descriptor) == 0
    #else
      return fdatasync(descriptor) == 0
    #endif
  }

  /// Whether this writer has rotated the log since it was last asked.
  package mutating func takeRotation() -> Bool {
    defer { hasRotated = false }
    return hasRotated
  }

  // MARK: The file

  private mutating func open(flags: Int32 = 0) throws(SystemError) {
    // Read too, for the look at its last byte.
    let opened = try RegularFile.open(files.log, O_RDWR | O_CREAT | O_APPEND | flags)
    if descriptor >= 0 { close(descriptor) }
    descriptor = opened
    threshold = limit
    var status = stat()
    guard fstat(opened, &status) == 0 else {
      throw SystemError(operation: "stat", path: files.log, errno: errno)
    }
    identity = FileStatus(status)
  }

  /// Takes a share of the live log's lock.
  ///
  /// - Returns: the log's length.
  private mutating func share() throws(SystemError) -> Int64 {
    while true {
      if descriptor < 0 { try open() }
      try lock(LOCK_SH)
      if let length = try liveLength() { return length }
      // Only a rotation takes the log away from its writers. Where the session has been deleted,
      // nobody shall find a new one.
      guard access(files.rotated, F_OK) == 0 else { return 0 }
      try open()
    }
  }

  private func lock(_ kind: Int32) throws(SystemError) {
    while flock(descriptor, kind) != 0 {
      guard errno == EINTR else {
        throw SystemError(operation: "lock", path: files.log, errno: errno)
      }
    }
  }

  /// Length of the live log when it is this file; nil when it is another, or there is none.
  private func liveLength() throws(SystemError) -> Int64? {
    var status = stat()
    guard lstat(files.log, &status) == 0 else {
      if errno == ENOENT { return nil }
      throw SystemError(operation: "stat", path: files.log, errno: errno)
    }
    let named = FileStatus(status)
    return named.inode == identity?.inode && named.device == identity?.device ? named.length : nil
  }

  // MARK: Rotation

  /// Rotates, unless somebody else writes at this moment: then the next write tries again.
  private mutating func rotateIfAlone() {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return }
    do {
      // Between the two locks anybody may have come first.
      guard let length = try liveLength(), length >= threshold, endsWithRecord(length) else {
        return
      }
      try rotate()
    } catch {
      // A log that cannot be rotated loses nothing. It goes on growing, and as much again later
      // there may be room.
      threshold += limit
    }
  }

  /// A record that a full disk has torn waits for its end.
  private func endsWithRecord(_ length: Int64) -> Bool {
    var last: UInt8 = 0
    return pread(descriptor, &last, 1, off_t(length) - 1) == 1 && last == 0x0a
  }

  private mutating func rotate() throws {
    let part = files.part(at: try RecordedLog(files).base)
    guard try FileStatus(part.plain) == nil, try FileStatus(part.compressed) == nil else {
      throw SystemError(operation: "rotate to", path: part.plain, errno: EEXIST)
    }
    if access(files.rotated, F_OK) != 0 {
      _ = try Descriptor(opening: files.rotated, flags: O_WRONLY | O_CREAT)
      try AtomicFile.syncDirectory(of: files.rotated)
    }
    guard synchronize() else {
      throw SystemError(operation: "sync", path: files.log, errno: errno)
    }
    guard rename(files.log, part.plain) == 0 else {
      throw SystemError(operation: "rename", path: files.log, errno: errno)
    }
    hasRotated = true
    try open()
    // What is synced in the new file is to be found after a power loss.
    try AtomicFile.syncDirectory(of: files.log)
  }
}
