import Platform

/// Tells a rotated log from one that was deleted, replaced or truncated.
extension LiveLog {
  /// Whether the file was deleted or replaced under its name, other than by a rotation, or truncated.
  ///
  /// - Throws: ``SystemError`` when that cannot be found out.
  mutating func isLost() throws -> Bool {
    let named = try FileStatus(files.log)
    // A server of files may have forgotten a deleted one.
    guard let held = (try? file?.status()) ?? identity else { return false }
    if let named, named.isSameFile(as: held) {
      isCut = isCut || held.length < max(placed, reached)
      guard !isCut else { return true }
      (placed, reached, written) = (held.length, held.length, 0)
      restoreNote()
      return false
    }
    guard wasRotated() else { return true }
    try openNext()
    return false
  }

  /// Makes a lost note of the last rotation again: if the newest part is gone with it, no other process
  /// knows where the live log begins, and one that made the note again was mistaken.
  private func restoreNote() {
    guard let base, base > 0 else { return }
    // What fails now is tried again with the next call.
    _ = try? files.restoreNote(liveFrom: base)
  }

  /// Whether the file has become a part.
  func wasRotated() -> Bool {
    guard files.mayHaveParts else { return false }
    guard let base else { return true }
    let part = files.part(at: base)
    // Compression ends by removing the plain file.
    if File.exists(part.plain) || File.exists(part.compressed) { return true }
    // It may have been pruned, but never the last part.
    guard let parts = try? files.parts() else { return true }
    return parts.contains { $0.start > base }
  }

  /// Opens the live log that a rotation has begun, or is about to.
  mutating func openNext() throws(SystemError) {
    try open()
    // Another rotation may come between: then the live log is not this file, and the base is
    // unknown. The next write opens the next file.
    if let identity { base = try? RecordedLog(files).base(ifLive: identity) }
  }

  /// Where the bytes begin that were written since the file was last found under its name, and not
  /// truncated.
  ///
  /// Of a truncated file it is not known where it was cut: then at most as many bytes as were written
  /// count, and a few of them may be older.
  var unplacedStart: Int64 {
    guard let length = try? file?.status().length, isCut || length < max(placed, reached) else {
      return placed
    }
    return max(0, length - written)
  }

  /// Bytes written since the file was last found under its name.
  var unplaced: Int64 {
    max(0, ((try? file?.status().length) ?? placed) - unplacedStart)
  }

  /// Reads bytes of the file, also after it has lost its name.
  func read(at offset: Int64, count: Int) throws -> [UInt8] {
    try file?.read(at: offset, count: count) ?? []
  }
}
