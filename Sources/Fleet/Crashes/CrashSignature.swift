import Crypto
import Platform
import LogRecords

/// What crashes of one kind have in common: the program, the cause, and the shape of the last lines.
///
/// Of the last lines that are not blank and not the recorder's own, five count: those from the last
/// one of level ERROR or FAULT on where it is among the last twenty, else the very last.
package struct CrashSignature: Sendable, Codable, Hashable {
  /// 16 hex digits.
  package let id: String
  /// The shape of the first line that counts, for people; empty for a log without lines.
  package let title: String

  private static let window = 20
  private static let lines = 5

  /// The signature of a crash.
  ///
  /// - Parameters:
  ///   - app: the program.
  ///   - cause: how it ended.
  ///   - lines: the last lines of its log, in either format.
  package init(app: String, cause: String, lines: [String]) {
    let last = lines.compactMap(Self.message).suffix(Self.window)
    let start = last.lastIndex { $0.isTrouble } ?? max(last.startIndex, last.endIndex - Self.lines)
    let shapes = last[start...].prefix(Self.lines).map { LineShape.of($0.text) }
    title = shapes.first ?? ""
    let text = ([app, cause] + shapes).joined(separator: "\0")
    id = Hex.text(SHA256.hash(data: Array(text.utf8)).prefix(8))
  }

  /// A line without what the recorder put before it; nil for a blank one and the recorder's own.
  private static func message(_ line: String) -> (text: String, isTrouble: Bool)? {
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
    return (text, (level ?? .info) >= .error)
  }
}
