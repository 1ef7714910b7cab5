import LogRecords
import Platform
import SessionLog

/// The line that reports the loss of an attached file: all that the home's log of its session then has.
struct LossLine {
  /// Number of bytes that were read and not sent; nil if it is unknown what is missing.
  private let missing: Int64?
  /// The file's path and what happened to it.
  private let what: Substring
  /// Up to where the file was sent.
  private let end: StreamOffset

  private static let after = " after byte "
  private static let wasSent = " was sent"

  /// - Parameters:
  ///   - what: the file's path and what happened to it, for a person.
  ///   - end: up to where it was sent.
  init(missing: Int64?, what: String, end: StreamOffset) {
    (self.missing, self.what, self.end) = (missing, what[...], end)
  }

  /// Reads the line; nil if a log has anything else.
  init?(log: [UInt8]) {
    guard log.starts(with: GapLine.startOfLog), log.last == 0x0a else { return nil }
    let line = String(decoding: log.dropFirst().dropLast(), as: UTF8.self)
    guard line.hasSuffix(Self.wasSent + "]"), let colon = line.firstIndex(of: ":"),
      let after = line.ranges(of: Self.after).last, colon < after.lowerBound,
      let end = Int64(line[after.upperBound...].dropLast(Self.wasSent.count + 1))
    else { return nil }
    missing = GapLine.missing(in: line)
    what = line[colon..<after.lowerBound].dropFirst(2)
    self.end = StreamOffset(end)
  }

  /// The line without a newline.
  var text: String { GapLine.text(missing, what + Self.after + "\(end)" + Self.wasSent) }

  /// The home's log with this line.
  var log: [UInt8] { Array("\n\(text)\n".utf8) }

  /// The line once it is known that the file was sent to another end.
  func moved(to end: StreamOffset) -> LossLine {
    let left = missing.map { $0 - (end - self.end).bytes }
    return LossLine(missing: left.flatMap { $0 > 0 ? $0 : nil }, what: String(what), end: end)
  }
}
