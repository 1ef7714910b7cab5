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

  /// Notes where the newest part ends, in case it cannot be read later; before the rotation.
  ///
  /// Nothing else depends on the note, so that a rotation goes on without it.
  func noteEnd(_ end: StreamOffset, of part: LogPart) {
    try? AtomicFile.write(Array("\(part.start) \(end)\n".utf8), to: rotated, isDurable: false)
  }

  /// The noted end of the newest part; nil if there is none.
  func notedEnd(of part: LogPart) -> StreamOffset? {
    guard let note = try? AtomicFile.read(rotated), note.count < 64 else { return nil }
    let offsets = note.split { !(0x30...0x39).contains($0) }.compactMap {
      Int64(String(decoding: $0, as: UTF8.self)).map { StreamOffset($0) }
    }
    guard offsets.count == 2, offsets[0] < offsets[1], offsets[1].byteCount < 1_000_000_000_000_000
    else { return nil }
    // The process may have died before it rotated the part that follows.
    return offsets[0] == part.start ? offsets[1] : offsets[0] > part.start ? offsets[0] : nil
  }

  /// Makes the note of the rotation again if it is missing and there are parts.
  ///
  /// Without it, the live log would seem to begin the stream once the first part was pruned.
  ///
  /// - Returns: whether it was missing.
  /// - Throws: ``SystemError``.
  @discardableResult
  package func restoreNote() throws -> Bool {
    guard !File.exists(rotated), let last = try namedParts().last else { return false }
    if let length = try? open(last).length { noteEnd(last.start + length, of: last) }
    // Where a part ends that cannot be read is unknown: then opening the log says so.
    if !File.exists(rotated) { _ = try Descriptor(opening: rotated, [.write, .create]) }
    return true
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

  private var stem: String { String(log.dropLast(".log".count)) }
}
