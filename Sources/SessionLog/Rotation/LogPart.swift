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

  /// The existing parts, in stream order.
  ///
  /// Reads the folder only if the session has been rotated.
  ///
  /// - Throws: ``SystemError``.
  package func parts() throws -> [LogPart] {
    guard File.exists(rotated) else { return [] }
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
