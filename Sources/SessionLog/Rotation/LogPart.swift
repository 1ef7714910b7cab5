import Platform

/// A rotated part of a session's log, by its names.
///
/// It is plain after the rotation, and compressed soon after. If both files exist, they hold the
/// same bytes.
package struct LogPart: Sendable, Hashable {
  /// Stream offset of its first byte.
  package let start: StreamOffset
  /// The file as written.
  package let plain: String
  /// The compressed file: frames and an index, like a segment.
  package let compressed: String
}

extension SessionFiles {
  /// The names of the part that begins at an offset.
  package func part(at start: StreamOffset) -> LogPart {
    let digits = start.description
    let padded = String(repeating: "0", count: max(0, 12 - digits.utf8.count)) + digits
    let plain = "\(stem).\(padded).log"
    return LogPart(start: start, plain: plain, compressed: plain + ".zst")
  }

  /// Whether there may be parts, without reading the folder.
  ///
  /// The note of the rotation shows that. If it is lost, the first part does, unless it was pruned.
  package var mayHaveParts: Bool {
    let first = part(at: 0)
    return [rotated, first.plain, first.compressed].contains(where: File.exists)
  }

  /// The existing parts, in stream order.
  ///
  /// Reads the folder only if the session has been rotated.
  ///
  /// - Throws: ``SystemError``.
  package func parts() throws -> [LogPart] { try mayHaveParts ? namedParts() : [] }

  /// The existing parts, in stream order, by their names alone.
  ///
  /// - Throws: ``SystemError``.
  package func namedParts() throws -> [LogPart] {
    let names = try Directory.names(in: directory)
    return Set(names.compactMap { start(ofPart: "\(directory)/\($0)") }).sorted().map(part(at:))
  }

  /// Makes the note of the rotation again if there are, or were, parts and it is missing, or does not
  /// say where the live log begins although its writer knows.
  ///
  /// Without it, the live log would seem to begin the stream once the first part was pruned, and where the
  /// last part that is left ends if the newest is gone.
  ///
  /// - Parameter base: stream offset of the live log's first byte, as far as its writer knows.
  /// - Returns: whether it was made.
  /// - Throws: ``SystemError``.
  @discardableResult
  package func restoreNote(liveFrom base: StreamOffset? = nil) throws -> Bool {
    if let base {
      let note = rotationNote
      guard note?.start != base, note?.end != base else { return false }
    } else if File.exists(rotated) {
      return false
    }
    let last = try namedParts().last
    var end = last?.start ?? 0
    if let note = last.flatMap(note) {
      end = note.end
      write(note)
    }
    if let base = base ?? statedBase, base > end {
      write(RotationNote(lost: end..<base))
    } else if last == nil {
      return false
    }
    // Where a part ends that cannot be read is unknown: then opening the log says so.
    if !File.exists(rotated) { _ = try Descriptor(opening: rotated, [.write, .create]) }
    return true
  }

  /// The note of the rotation that made a part; nil if the part cannot be read.
  private func note(of part: LogPart) -> RotationNote? {
    guard let content = try? open(part) else { return nil }
    let (position, count) = RotationNote.ending(of: content.length.bytes)
    let ending = try? content.read(at: position, count: count)
    return RotationNote(of: part, length: content.length.bytes, ending: ending)
  }

  /// Takes back the note of a rotation before which its recorder died: once somebody changes the log,
  /// what was to be the part would seem to be lost.
  ///
  /// For sessions that nobody records any more.
  ///
  /// - Throws: ``SystemError``.
  package func settleNote() throws {
    guard let note = rotationNote, let live = try? OpenFile(log) else { return }
    let last = try namedParts().last
    guard last.map({ $0.start < note.start }) ?? true, try note.isBeginning(of: live) == true
    else { return }
    guard note.start > 0 else { return try File.remove(rotated) }
    write(last.flatMap(self.note) ?? RotationNote(lost: 0..<note.start))
  }

  /// Where the live log begins by the length that the recorder stated at the session's end; nil if it
  /// stated none, or something else was sealed since.
  private var statedBase: StreamOffset? {
    guard let stated = try? Sidecar.load(sidecar), stated.status != .active, stated.source == nil,
      stated.seal == nil, stated.digest == nil, let live = try? FileStatus(log)
    else { return nil }
    return StreamOffset(max(0, stated.fileSizeBytes.bytes - live.length))
  }

  /// The offset in a part's name; nil for other names.
  private func start(ofPart path: String) -> StreamOffset? {
    guard path.hasPrefix(stem + ".") else { return nil }
    let digits = path.dropFirst(stem.count + 1).prefix { $0.isASCII && $0.isNumber }
    guard (12...15).contains(digits.count), let bytes = Int64(digits) else { return nil }
    let start = StreamOffset(bytes)
    let part = part(at: start)
    return path == part.plain || path == part.compressed ? start : nil
  }
}
