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

  /// Makes the note of the rotation again if it is missing and there are parts.
  ///
  /// Without it, the live log would seem to begin the stream once the first part was pruned.
  ///
  /// - Returns: whether it was missing.
  /// - Throws: ``SystemError``.
  @discardableResult
  package func restoreNote() throws -> Bool {
    guard !File.exists(rotated), let last = try namedParts().last else { return false }
    if let part = try? open(last) {
      let (position, count) = RotationNote.ending(of: part.length.bytes)
      let ending = try? part.read(at: position, count: count)
      write(RotationNote(of: last, length: part.length.bytes, ending: ending))
    }
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
