package import Platform

/// The stream of a recorded session as far as it is on this machine.
///
/// Rotated parts come first, then the live log; positions are stream offsets.
///
/// It is what was there when it was opened, and what the live log has gained since, up to its next
/// rotation. Of the parts one is open at a time, and one frame of it in memory.
package final class RecordedLog: LogBytes {
  /// Its first byte that is here; the parts before it were pruned.
  package let start: StreamOffset
  /// The live log's first byte.
  package let base: StreamOffset
  /// The parts, in order and without gaps between them.
  package let parts: [LogPart]
  /// Nil in the moment of a rotation.
  private let live: OpenFile?
  private let files: SessionFiles
  private let open = Guarded<(start: StreamOffset, part: any OpenPart)?>(nil)

  /// How often a session is looked at anew that is rotated again while it is opened.
  private static let attempts = 100

  /// Opens it.
  ///
  /// - Throws: ``SystemError``, also when nothing of the stream is here.
  package init(_ files: SessionFiles) throws {
    self.files = files
    for _ in 0..<Self.attempts {
      let live = try Self.openLive(files.log)
      let parts = try files.parts()
      // While the name still is the file's, the parts that were found are those before it.
      guard try Self.isLive(live, files.log) else { continue }
      guard live != nil || !parts.isEmpty else {
        throw SystemError(operation: "open", path: files.log, errno: SystemError.Number.notFound)
      }
      guard let base = try Self.end(of: parts, files) else { continue }
      self.live = live
      self.parts = parts
      self.base = base
      start = parts.first?.start ?? base
      return
    }
    throw SystemError(operation: "open", path: files.log, errno: SystemError.Number.again)
  }

  private static func openLive(_ path: String) throws -> OpenFile? {
    do {
      return try OpenFile(path)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  private static func isLive(_ file: OpenFile?, _ path: String) throws -> Bool {
    let (held, named) = (try file?.status(), try FileStatus(path))
    return held?.inode == named?.inode && held?.device == named?.device
  }

  /// Where the live log begins; nil when the last part was removed since it was found.
  private static func end(of parts: [LogPart], _ files: SessionFiles) throws -> StreamOffset? {
    guard let last = parts.last else { return 0 }
    do {
      return last.start + (try files.open(last).length)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  package func extent() throws -> (end: Int64, modified: Timestamp) {
    if let live {
      let status = try live.status()
      return (Int64(base + ByteCount(status.length)), status.modifiedAt)
    }
    let modified = try parts.last.map { try files.open($0).status().modifiedAt }
    return (Int64(base), modified ?? Timestamp(milliseconds: 0))
  }

  /// The offset at which the stream ends.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func end() throws -> StreamOffset { StreamOffset(try extent().end) }

  package func synchronize() throws { try live?.synchronize() }

  /// Reads a range, or what there is of it.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func read(_ range: Range<StreamOffset>) throws -> [UInt8] {
    try read(at: Int64(range.lowerBound), count: Int(range.byteCount))
  }

  package func read(at position: Int64, count: Int) throws -> [UInt8] {
    let offset = StreamOffset(position)
    if offset >= base { return try live?.read(at: (offset - base).bytes, count: count) ?? [] }
    let end = offset + ByteCount(count)
    var bytes: [UInt8] = []
    var next = offset
    while next < min(end, base) {
      guard let number = parts.lastIndex(where: { $0.start <= next }) else { break }
      let partEnd = number + 1 < parts.count ? parts[number + 1].start : base
      let wanted = Int(min(end, partEnd) - next)
      let piece = try read(parts[number], at: (next - parts[number].start).bytes, count: wanted)
      bytes += piece
      next += ByteCount(piece.count)
      // The part is shorter than where the next begins tells.
      guard piece.count == wanted else { return bytes }
    }
    if next >= base, end > next {
      bytes += try live?.read(at: (next - base).bytes, count: Int(end - next)) ?? []
    }
    return bytes
  }

  private func read(_ part: LogPart, at position: Int64, count: Int) throws -> [UInt8] {
    try withReader(of: part) { try $0.read(at: position, count: count) }
  }

  /// Reads the part that holds an offset; nil for one of the live log, or of what is not here.
  ///
  /// - Throws: ``Platform/SystemError``, and what `body` throws.
  package func withPart<Value: Sendable>(
    at offset: StreamOffset,
    _ body: @Sendable (_ part: any OpenPart, _ start: StreamOffset) throws -> Value
  ) throws -> Value? {
    guard (start..<base).contains(offset),
      let part = parts.last(where: { $0.start <= offset })
    else { return nil }
    return try withReader(of: part) { try body($0, part.start) }
  }

  private func withReader<Value: Sendable>(
    of part: LogPart, _ body: @Sendable (any OpenPart) throws -> Value
  ) throws -> Value {
    try open.withLock { open in
      if let open, open.start == part.start { return try body(open.part) }
      open = nil
      let reader = try files.open(part)
      open = (part.start, reader)
      return try body(reader)
    }
  }

  /// The last bytes, as many as there are.
  package func tail(_ count: ByteCount) throws -> [UInt8] {
    let end = try end()
    return try read(max(start, end - count)..<end)
  }
}
