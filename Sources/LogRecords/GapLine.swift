package import Platform

/// The text that replaces missing bytes in a log: `[GAP n bytes: reason]`.
public enum GapLine {
  /// What each begins with.
  package static let start = "[GAP "
  /// How the home's log of an attached file begins that has nothing but such a line.
  package static let startOfLog = Array("\n\(start)".utf8)

  /// The text without a newline.
  ///
  /// - Parameters:
  ///   - missing: number of missing bytes; nil if unknown.
  ///   - reason: the reason, for a person.
  public static func text(_ missing: Int64?, _ reason: String) -> String {
    "\(start)\(missing.map(String.init) ?? "?") bytes: \(reason)]"
  }

  /// How many bytes of a log that begins with such a line state the number of missing bytes, at most.
  package static let longestStart = startOfLog.count + 20

  /// The number of missing bytes that the beginning of a log states; nil if it is unknown.
  package static func missing(in start: String) -> Int64? {
    guard let line = start.split(separator: "\n").first, line.hasPrefix(Self.start) else {
      return nil
    }
    return line.dropFirst(Self.start.count).split(separator: " ").first.flatMap { Int64($0) }
  }

  /// The record of a recorded session, newline included.
  package static func record(_ missing: Int64?, _ reason: String, at time: Timestamp) -> [UInt8] {
    var record: [UInt8] = []
    RecordPrefix.append(
      time: time.isoBytes, level: .warning, category: Array(Category.session.utf8), to: &record)
    return record + text(missing, reason).utf8 + [0x0a]
  }
}
