package import Platform

/// A session's live log, as opened by one of its writers; there may be any number, in any process.
///
/// Each write holds a shared lock on the file and, under it, checks that the live log's name still
/// refers to this file. A rotation holds the lock exclusively. So no record is written to a file
/// that has been rotated away, and a part never grows.
///
/// Rotation is a single `rename` of the live log to a part's name. Before it nothing has happened,
/// after it the part exists, and the next write creates the live log. The file is made durable
/// before the rename, so that no power failure shortens a part and shifts the bytes after it.
///
/// A tended writer keeps its shared lock between writes, so that a write is one system call, and
/// leaves rotation to ``tend()``. Only one writer of a session may be tended, because no other can
/// rotate while it lives.
///
/// Used by one thread at a time.
package struct LiveLog: ~Copyable, Sendable {
  /// Writes some of the bytes; returns the count, or the negated error number.
  package typealias Write = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

  let files: SessionFiles
  private let limit: Int64
  private let write: Write
  /// Nil until it is first opened.
  var file: Descriptor?
  var identity: FileStatus?
  /// Stream offset of the file's first byte; nil if unknown.
  var base: StreamOffset?
  /// The file's length when it was last found under its name.
  var placed: Int64 = 0
  /// Bytes written by this writer since then.
  var written: Int64 = 0
  /// Length that the file has reached, unless somebody truncated it.
  var reached: Int64 = 0
  /// Whether somebody truncated the file.
  var isCut = false
  /// Length at which to try the next rotation.
  private var threshold: Int64
  private var hasRotated = false
  private let isTended: Bool
  /// The live log's length as far as known while holding its shared lock; nil without the lock.
  private var sharedLength: Int64?

  /// Opens the live log.
  ///
  /// - Parameters:
  ///   - files: the session's files.
  ///   - limit: length at which it is rotated; 0 for never.
  ///   - isNew: whether it must not exist yet.
  ///   - isTended: whether the caller calls ``tend()`` about once a second.
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
    if isNew { base = 0 }
  }

  /// Appends whole records, with one system call if it accepts them all.
  ///
  /// - Returns: the number of bytes written, and the error number that prevented the rest.
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
    written += Int64(done)
    reached = max(reached, length + Int64(done))
    if isTended {
      sharedLength = length + Int64(done)
      return (done, 0)
    }
    if limit > 0, length + Int64(done) >= threshold { rotateIfAlone() }
    return (done, 0)
  }

  /// Removes a partly written record, unless another process is writing or has written since.
  ///
  /// - Parameter written: the written part of the records.
  /// - Returns: the number of bytes removed.
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

  /// Makes the written bytes durable; rotated ones already are.
  ///
  /// - Returns: whether it succeeded.
  package func synchronize() -> Bool { (try? file?.synchronizeContent()) != nil }

  /// Rotates if due; for a tended writer.
  ///
  /// The log should be durable by then, so that no writer waits for the disk. The new names become
  /// durable when the folder is synced, which is left to the caller.
  package mutating func tend() {
    guard limit > 0, let length = try? share() else { return }
    sharedLength = length
    guard length >= threshold else { return }
    rotateIfAlone()
    if sharedLength == nil { file?.unlock() }
  }

  /// Whether this writer has rotated the log since the last call.
  package mutating func takeRotation() -> Bool {
    defer { hasRotated = false }
    return hasRotated
  }

  // MARK: The file

  mutating func open(_ mode: Descriptor.Mode = .create) throws(SystemError) {
    // Readable too, to check its last byte.
    let opened = try Descriptor(opening: files.log, [.readWrite, .append, mode])
    let status = try opened.status()
    identity = status
    (placed, reached, written, isCut) = (status.length, status.length, 0, false)
    base = nil
    sharedLength = nil
    file = consume opened
    threshold = limit
  }

  /// Acquires the live log's shared lock.
  ///
  /// - Returns: the log's length.
  private mutating func share() throws(SystemError) -> Int64 {
    while true {
      _ = try file?.lock(.shared, waits: true)
      if let length = try liveLength() {
        if length < reached { isCut = true }
        return length
      }
      // If the log was deleted or replaced, do not create a new one, and write to no other's.
      guard wasRotated() else { return 0 }
      try openNext()
    }
  }

  /// Whether no other process is writing; if so, holds the exclusive lock.
  private mutating func isAlone() -> Bool {
    // A failed upgrade to the exclusive lock loses the shared one.
    sharedLength = nil
    return (try? file?.lock(.exclusive, waits: false)) == true
  }

  /// Length of the live log if it is this file; nil if it is another, or missing.
  private func liveLength() throws(SystemError) -> Int64? {
    guard let named = try FileStatus(files.log), let identity else { return nil }
    return named.isSameFile(as: identity) ? named.length : nil
  }

  // MARK: Rotation

  /// Rotates, unless another process is writing: then the next write tries again.
  private mutating func rotateIfAlone() {
    guard !isCut, isAlone() else { return }
    do {
      // Another process may have rotated between the two locks.
      guard let length = try liveLength(), length >= threshold, endsWithRecord(length) else {
        return
      }
      try rotate()
    } catch {
      // A failed rotation loses nothing: let the log grow by another limit, then try again.
      threshold += limit
    }
  }

  /// Whether the log ends with a whole record; one torn by a full disk must be completed first.
  private func endsWithRecord(_ length: Int64) -> Bool {
    (try? file?.read(at: length - 1, count: 1)) == [0x0a]
  }

  private mutating func rotate() throws {
    // Once the first part was pruned, only the note shows that there were others.
    try files.restoreNote(liveFrom: self.base)
    let base = try max(RecordedLog(files).base, self.base ?? 0)
    let part = files.part(at: base)
    guard try FileStatus(part.plain) == nil, try FileStatus(part.compressed) == nil else {
      throw SystemError(operation: "rotate to", path: part.plain, errno: SystemError.Number.taken)
    }
    if !File.exists(files.rotated) {
      _ = try Descriptor(opening: files.rotated, [.write, .create])
      try AtomicFile.syncDirectory(of: files.rotated)
    }
    try file?.synchronizeContent()
    if let length = try file?.status().length {
      let (position, count) = RotationNote.ending(of: length)
      let ending = try? file?.read(at: position, count: count)
      files.write(RotationNote(of: part, length: length, ending: ending))
    }
    try File.rename(files.log, to: part.plain)
    hasRotated = true
    try openNext()
    // Sync the name, so that a power failure cannot lose the new file.
    if !isTended { try AtomicFile.syncDirectory(of: files.log) }
  }
}
