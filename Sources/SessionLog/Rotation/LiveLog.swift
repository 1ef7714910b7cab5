package import Platform

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
/// A writer that is tended keeps its share of the lock between writes, so that a write is one system
/// call, and leaves rotating to ``tend()``: only one writer of a session may be, because while it
/// lives nobody else can rotate.
///
/// Used by one thread at a time.
package struct LiveLog: ~Copyable, Sendable {
  /// Writes some of the bytes; the count, or the error number as a negative.
  package typealias Write = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

  private let files: SessionFiles
  private let limit: Int64
  private let write: Write
  /// Nil until it is opened first.
  private var file: Descriptor?
  private var identity: FileStatus?
  /// Length at which rotating is tried next.
  private var threshold: Int64
  private var hasRotated = false
  private let isTended: Bool
  /// Length of the live log as far as is known while a share of its lock is held; nil without one.
  private var sharedLength: Int64?

  /// Opens the live log.
  ///
  /// - Parameters:
  ///   - files: the session's.
  ///   - limit: length from which on it is rotated; 0 for never.
  ///   - isNew: whether there must be none yet.
  ///   - isTended: whether somebody calls ``tend()`` about once a second.
  ///   - write: replaces the system's write, for tests of a full disk.
  /// - Throws: ``SystemError``.
  package init(
    _ files: SessionFiles, rotateAt limit: ByteCount, isNew: Bool = false,
    isTended: Bool = false, write: @escaping Write = systemWrite
  ) throws {
    self.files = files
    self.limit = limit.bytes
    self.write = write
    self.isTended = isTended
    threshold = limit.bytes
    try open(isNew ? .new : .create)
  }

  /// Appends whole records, in one write where the system takes them in one.
  ///
  /// - Returns: how many bytes were written, and the error number that kept the rest from it.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) -> (count: Int, errno: Int32) {
    let length: Int64
    do {
      length = if let sharedLength { sharedLength } else { try share() }
    } catch {
      return (0, error.errno)
    }
    defer { if sharedLength == nil { file?.unlock() } }
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(done))
      let count = file?.write(rest, by: write) ?? -Int(SystemError.Number.damaged)
      if count == -Int(SystemError.Number.interrupted) { continue }
      guard count > 0 else {
        let written = UnsafeRawBufferPointer(rebasing: bytes.prefix(done))
        return (done - retractTornRecord(endOf: written), Int32(-count))
      }
      done += count
    }
    if isTended {
      sharedLength = length + Int64(done)
      return (done, 0)
    }
    if limit > 0, length + Int64(done) >= threshold { rotateIfAlone() }
    return (done, 0)
  }

  /// Takes a record back that was written in part, unless somebody else writes at this moment or has
  /// written since.
  ///
  /// - Parameter written: what was written of a piece of records.
  /// - Returns: how many bytes were taken back.
  private mutating func retractTornRecord(endOf written: UnsafeRawBufferPointer) -> Int {
    let torn = written.count - (written.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0)
    guard torn > 0, isAlone(), let length = try? liveLength(), length >= torn else { return 0 }
    let start = length - Int64(torn)
    guard let tail = try? file?.read(at: start, count: torn),
      tail.elementsEqual(written.suffix(torn)),
      (try? file?.truncate(to: start)) != nil
    else { return 0 }
    return torn
  }

  /// Makes what was written durable; what was rotated away is so already.
  ///
  /// - Returns: whether it is.
  package func synchronize() -> Bool { (try? file?.synchronizeContent()) != nil }

  /// Rotates where that is due; for a writer that is tended.
  ///
  /// What was written should be durable by then, so that nobody waits for the disk: the new names
  /// become so when its folder is synced, which is left to the caller.
  package mutating func tend() {
    guard limit > 0, let length = try? share() else { return }
    sharedLength = length
    guard length >= threshold else { return }
    rotateIfAlone()
    if sharedLength == nil { file?.unlock() }
  }

  /// Whether this writer has rotated the log since it was last asked.
  package mutating func takeRotation() -> Bool {
    defer { hasRotated = false }
    return hasRotated
  }

  // MARK: The file

  private mutating func open(_ mode: Descriptor.Mode = .create) throws(SystemError) {
    // Read too, for the look at its last byte.
    let opened = try Descriptor(opening: files.log, [.readWrite, .append, mode])
    identity = try opened.status()
    sharedLength = nil
    file = consume opened
    threshold = limit
  }

  /// Takes a share of the live log's lock.
  ///
  /// - Returns: the log's length.
  private mutating func share() throws(SystemError) -> Int64 {
    while true {
      _ = try file?.lock(.shared, waits: true)
      if let length = try liveLength() { return length }
      // Only a rotation takes the log away from its writers. Where the session has been deleted,
      // nobody shall find a new one.
      guard File.exists(files.rotated) else { return 0 }
      try open()
    }
  }

  /// Whether nobody else writes at this moment; holds the lock alone then.
  private mutating func isAlone() -> Bool {
    // A share is lost where it cannot be turned into the whole lock.
    sharedLength = nil
    return (try? file?.lock(.exclusive, waits: false)) == true
  }

  /// Length of the live log when it is this file; nil when it is another, or there is none.
  private func liveLength() throws(SystemError) -> Int64? {
    guard let named = try FileStatus(files.log), let identity else { return nil }
    return named.isSameFile(as: identity) ? named.length : nil
  }

  // MARK: Rotation

  /// Rotates, unless somebody else writes at this moment: then the next write tries again.
  private mutating func rotateIfAlone() {
    guard isAlone() else { return }
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
    (try? file?.read(at: length - 1, count: 1)) == [0x0a]
  }

  private mutating func rotate() throws {
    let part = files.part(at: try RecordedLog(files).base)
    guard try FileStatus(part.plain) == nil, try FileStatus(part.compressed) == nil else {
      throw SystemError(operation: "rotate to", path: part.plain, errno: SystemError.Number.taken)
    }
    if !File.exists(files.rotated) {
      _ = try Descriptor(opening: files.rotated, [.write, .create])
      try AtomicFile.syncDirectory(of: files.rotated)
    }
    try file?.synchronizeContent()
    try File.rename(files.log, to: part.plain)
    hasRotated = true
    try open()
    // What is synced in the new file is to be found after a power loss.
    if !isTended { try AtomicFile.syncDirectory(of: files.log) }
  }
}
