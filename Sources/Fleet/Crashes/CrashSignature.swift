import Crypto
import LogRecords
import Platform

/// The common part of crashes of one kind: the program, the cause, and the shape of the last lines.
///
/// Of the last lines that are not blank and not the recorder's own, at most five count: those from
/// the last ERROR or FAULT on if it is among the last twenty, else the very last ones.
package struct CrashSignature: Sendable, Codable, Hashable {
  /// 16 hex digits.
  package let id: String
  /// The shape of the most significant line, for people; empty for a log without lines.
  package let title: String

  private static let window = 20
  /// Maximum number of lines that count.
  static let mostLines = 5

  /// The signature of a crash.
  ///
  /// - Parameters:
  ///   - app: the program.
  ///   - cause: how it ended.
  ///   - lines: the last lines of its log, in either format.
  package init(app: String, cause: String, lines: [String]) {
    let counting = Self.counting(lines)
    title = Self.headline(of: counting).map { LineShape.of($0.text) } ?? ""
    let text = ([app, cause] + counting.map { LineShape.of($0.text) }).joined(separator: "\0")
    id = Hex.text(SHA256.hash(data: Array(text.utf8)).prefix(8))
  }

  /// A line that is not the recorder's own.
  struct Line {
    /// The line as in the log.
    let whole: String
    /// The line without the recorder's prefix.
    let text: String
    /// Whether it has level ERROR or FAULT.
    let isTrouble: Bool
  }

  /// The lines that count, of a log's last lines.
  static func counting(_ lines: [String]) -> [Line] {
    let last = lines.compactMap(line).suffix(window)
    let start = last.lastIndex { $0.isTrouble } ?? max(last.startIndex, last.endIndex - mostLines)
    return Array(last[start...].prefix(mostLines))
  }

  /// The most significant of those lines: the last ERROR or FAULT, else the very last.
  static func headline(of lines: [Line]) -> Line? {
    lines.first.flatMap { $0.isTrouble ? $0 : nil } ?? lines.last
  }

  /// Parses a line; nil for a blank one and the recorder's own.
  private static func line(_ line: String) -> Line? {
    var bytes = Array(line.utf8)
    var level: Level?
    let isOwn = bytes.withUnsafeBytes { line in
      guard let prefix = RecordPrefix.parse(line) else {
        level = LevelDetector.level(of: line)
        return false
      }
      level = prefix.level
      return line[prefix.category].elementsEqual(Category.session.utf8)
    }
    guard !isOwn else { return nil }
    let length = bytes.withUnsafeBytes { RecordPrefix.parse($0)?.capturedLength ?? 0 }
    bytes.removeFirst(min(length, bytes.count))
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.contains(where: { !$0.isWhitespace }) else { return nil }
    return Line(whole: line, text: text, isTrouble: (level ?? .info) >= .error)
  }
}
