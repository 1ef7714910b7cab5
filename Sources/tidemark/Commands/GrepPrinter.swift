import LogRecords
import SessionLog
import SessionReading

/// Prints the matches of `grep`.
final class GrepPrinter {
  /// The output for each session.
  enum Form { case lines, matches, counts, sessions, json, nothing }

  private let labels: SessionLabels
  private let form: Form
  private let isAlone: Bool
  private let numbersLines: Bool
  private let output = LineOutput()
  private var label = ""
  private var isFormer = false
  private var json: RecordJSON?

  init(labels: SessionLabels, form: Form, isAlone: Bool, numbersLines: Bool) {
    self.numbersLines = numbersLines
    self.labels = labels
    self.form = form
    self.isAlone = isAlone
  }

  /// Begins the output for a stream of a session.
  ///
  /// - Parameter generation: that of a former stream; nil for the newest.
  func begin(_ entry: SessionCatalog.Entry, _ generation: Int?) {
    isFormer = generation != nil
    label = labels[entry] + (generation.map { "@\($0)" } ?? "")
    json = form == .json ? RecordJSON(entry.sidecar, generation: generation) : nil
  }

  /// Prints a match or its context.
  ///
  /// - Parameters:
  ///   - piece: the line.
  ///   - pattern: the pattern whose matches to mark; nil for none.
  ///   - number: the line's number in the log; nil to omit it.
  func show(_ piece: MatchContext.Piece, _ pattern: LinePattern?, number: Int?) {
    switch piece {
    case .match(let line):
      guard form == .lines else { return showMatches(in: line, pattern, number) }
      let marks = Console.hasColour ? pattern?.matches(in: line.text) ?? [] : []
      output.show(line, label: prefix(":", number), marks: marks, ends: true)
    case .context(let line): output.show(line, label: prefix("-", number), ends: true)
    case .separator: output.write(Array("--\n".utf8))
    }
  }

  private func showMatches(in line: RecordLine, _ pattern: LinePattern?, _ number: Int?) {
    for match in pattern?.matches(in: line.text) ?? [] {
      let text = UnsafeRawBufferPointer(rebasing: line.text[match])
      let part = RecordLine(bytes: text, head: line.head, isStart: true, offset: line.offset)
      output.show(part, label: prefix(":", number), marks: [0..<text.count], ends: true)
    }
  }

  /// The prefix of a line: its session if there are several, and its number if requested.
  private func prefix(_ sign: String, _ number: Int?) -> String? {
    let parts = [isAlone && !isFormer ? nil : label, number.map(String.init)].compactMap(\.self)
    return parts.isEmpty ? nil : parts.map { $0 + sign }.joined()
  }

  func pass(_ line: RecordLine, isMatch: Bool) {
    if let object = json?.object(of: line, isWanted: isMatch) { output.write(object) }
  }

  func end(_ found: Int) {
    switch form {
    case .counts where found > 0 || !isFormer:
      output.write(Array("\(isAlone && !isFormer ? "" : label + ":")\(found)\n".utf8))
    case .sessions where found > 0: output.write(Array("\(label)\n".utf8))
    default: break
    }
  }

  func flush() { output.flush() }
}
