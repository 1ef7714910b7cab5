import LogRecords
import Platform
import Redaction

/// Lines whose newline a program has not printed yet, at most one of each of its streams.
struct UnfinishedLines {
  /// A line of about this length or more is cut into several records.
  static let lineLimit = 1 << 20

  private struct Line {
    var bytes: [UInt8] = []
    let since: Timestamp
  }

  private var lines: [CapturedStream: Line] = [:]

  var isEmpty: Bool { lines.isEmpty }

  /// Takes output, and passes on each line that it completes, and the beginning of one that becomes
  /// too long.
  ///
  /// - Parameters:
  ///   - output: the program's output, cut anywhere.
  ///   - stream: the stream it was printed to.
  ///   - time: the time.
  ///   - body: receives a line with its newline, or a piece without one, and whether it is whole.
  mutating func take(
    _ output: UnsafeRawBufferPointer, from stream: CapturedStream, at time: Timestamp,
    _ body: (UnsafeRawBufferPointer, _ isWhole: Bool) -> Void
  ) {
    var rest = output
    while let end = LineSplitter.lineEnd(rest) {
      let line = UnsafeRawBufferPointer(rebasing: rest.prefix(end))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end))
      if var begun = lines.removeValue(forKey: stream) {
        begun.bytes += line
        begun.bytes.withUnsafeBytes { body($0, true) }
      } else {
        body(line, true)
      }
    }
    guard !rest.isEmpty else { return }
    var line = lines.removeValue(forKey: stream) ?? Line(since: time)
    line.bytes += rest
    if line.bytes.count >= Self.lineLimit {
      let cut = Self.cut(line.bytes)
      line.bytes[..<cut].withUnsafeBytes { body($0, false) }
      line = Line(bytes: Array(line.bytes[cut...]), since: time)
    }
    if !line.bytes.isEmpty { lines[stream] = line }
  }

  /// Passes on all lines as they are, and forgets them.
  mutating func takeAll(_ body: (UnsafeRawBufferPointer, CapturedStream) -> Void) {
    for (stream, line) in lines.sorted(by: { $0.key.name > $1.key.name }) {
      line.bytes.withUnsafeBytes { body($0, stream) }
    }
    lines = [:]
  }

  /// Whether a line has waited too long for its end.
  func hasOverdue(at time: Timestamp, patience: Duration) -> Bool {
    lines.values.contains { line in
      let waited = time - line.since
      return waited >= patience
        && (waited >= Self.secretPatience || !Self.mayEndInSecret(line.bytes))
    }
  }

  /// A line that may end in the middle of a secret waits at least this long: written in two pieces,
  /// neither would be masked.
  private static let secretPatience = Duration.seconds(60)

  private static func mayEndInSecret(_ line: [UInt8]) -> Bool {
    let end = Array(line.suffix(Redactor.context))
    return Redactor.standard.settled(end, at: 0, .asIs) < end.count
  }

  /// The length of a long line's beginning that becomes a record; not within a secret if possible.
  private static func cut(_ line: [UInt8]) -> Int {
    let end = Array(line.suffix(Redactor.context))
    return line.count - end.count + Redactor.standard.cut(end)
  }
}
