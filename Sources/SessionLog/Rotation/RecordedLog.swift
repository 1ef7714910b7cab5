package import Platform

/// The part of a recorded session's stream that is on this machine.
///
/// Consists of the rotated parts and the live log; positions are stream offsets.
///
/// It shows the stream as it was when opened, and the live log's growth since, up to its next
/// rotation. At most one part is open at a time, with one frame of it in memory.
///
/// A part that was lost or damaged after another, or before the live log, leaves a hole, see ``runs()``.
package final class RecordedLog: LogBytes {
  /// Its first local byte; the parts before it were pruned.
  package let start: StreamOffset
  /// The live log's first byte.
  package let base: StreamOffset
  /// The parts, in order.
  package let parts: [LogPart]
  /// Nil at the moment of a rotation.
  private let live: OpenFile?
  private let files: SessionFiles
  private let open = Guarded<(start: StreamOffset, part: any OpenPart)?>(nil)

  /// Maximum attempts to open a session that is rotated meanwhile.
  private static let attempts = 100

  /// Opens it.
  ///
  /// - Throws: ``SystemError``, also if nothing of the stream is here.
  package init(_ files: SessionFiles) throws {
    self.files = files
    for _ in 0..<Self.attempts {
      let live = try Self.openLive(files.log)
      let isRotated = files.mayHaveParts
      let parts = isRotated ? try files.namedParts() : []
      // As long as the name refers to this file, the parts found precede it.
      guard try Self.isLive(live, files.log) else { continue }
      guard live != nil || !parts.isEmpty else {
        throw SystemError(operation: "open", path: files.log, errno: SystemError.Number.notFound)
      }
      guard let base = try isRotated ? Self.base(of: live, after: parts, files) : 0 else {
        continue
      }
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

  /// The start of the live log; nil if it was rotated, or the last part removed, since they were
  /// found.
  ///
  /// Where the newest part is missing, only the note says where the live log begins.
  private static func base(
    of live: OpenFile?, after parts: [LogPart], _ files: SessionFiles
  ) throws -> StreamOffset? {
    let note = files.rotationNote
    guard let live, let note, parts.last.map({ $0.start < note.start }) ?? true else {
      let end = try end(of: parts, note, files)
      // A newest part that somebody cut is shorter than noted.
      guard live != nil, let note, note.start == parts.last?.start else { return end }
      return end.map { max($0, note.end) }
    }
    // The process that noted the rotation may have died before it, or be about to rotate.
    guard try note.isBeginning(of: live) == false else { return note.start }
    let part = files.part(at: note.start)
    // A name may be missed while the folder is read, when compression replaces the file.
    let isHere = [part.plain, part.compressed].contains(where: File.exists)
    return try !isHere && isLive(live, files.log) ? note.end : nil
  }

  /// The end of the last part; nil if it was removed since it was found.
  private static func end(
    of parts: [LogPart], _ note: RotationNote?, _ files: SessionFiles
  ) throws -> StreamOffset? {
    guard let last = parts.last else { return 0 }
    do {
      return last.start + (try files.open(last).length)
    } catch let error as SystemError where error.isNotFound {
      return nil
    } catch let error as SystemError where error.isUnreadable {
      guard let note, note.start >= last.start else { throw error }
      return note.start == last.start ? note.end : note.start
    }
  }

  /// The live log's first byte if it is a certain file; nil if it is another.
  ///
  /// - Throws: ``Platform/SystemError``.
  func base(ifLive file: FileStatus) throws -> StreamOffset? {
    guard let status = try live?.status(), status.isSameFile(as: file) else { return nil }
    return base
  }

  package func extent() throws -> (end: Int64, modified: Timestamp) {
    if let live {
      let status = try live.status()
      return (Int64(base + ByteCount(status.length)), status.modifiedAt)
    }
    let modified = try parts.last.map { try files.open($0).status().modifiedAt }
    return (Int64(base), modified ?? Timestamp(milliseconds: 0))
  }

  /// The end of the stream.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func end() throws -> StreamOffset { StreamOffset(try extent().end) }

  /// The ranges of the stream that are on this machine, in order: more than one if a part between
  /// others is gone, or cannot be opened.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func runs() throws -> [Range<StreamOffset>] {
    var runs: [Range<StreamOffset>] = []
    func add(_ range: Range<StreamOffset>) {
      if let last = runs.last, range.lowerBound <= last.upperBound {
        runs[runs.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        runs.append(range)
      }
    }
    for (number, part) in parts.enumerated() {
      do {
        add(part.start..<part.start + (try files.open(part).length))
      } catch let error as SystemError {
        // Any other failure may pass: then the part is there, and reading it says why not.
        guard !error.isNotFound, !error.isUnreadable else { continue }
        add(part.start..<(number + 1 < parts.count ? parts[number + 1].start : base))
      }
    }
    add(base..<max(base, try end()))
    return runs
  }

  package func synchronize() throws { try live?.synchronize() }

  /// Reads a range, cut at the end of the stream.
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
      // The part is shorter than the start of the next one implies.
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

  /// Reads the part that contains an offset; nil if it is in the live log, or not on this machine.
  ///
  /// - Throws: ``Platform/SystemError``, and errors of `body`.
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

  /// The last bytes, at most `count`.
  package func tail(_ count: ByteCount) throws -> [UInt8] {
    let end = try end()
    let first = max(start, end - count)
    let bytes = try read(first..<end)
    // What is before a hole is not the end.
    guard first < base, ByteCount(bytes.count) < end - first else { return bytes }
    return try read(base..<end)
  }
}
