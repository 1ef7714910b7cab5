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
