import LogRecords
import SessionLog
import SessionReading

/// Prints what `grep` finds.
final class GrepPrinter {
  /// What is printed of each session.
  enum Form { case lines, counts, sessions, json }

  private let labels: SessionLabels
  private let form: Form
  private let isAlone: Bool
  private let output = LineOutput()
  private var label = ""
  private var json: RecordJSON?

  init(labels: SessionLabels, form: Form, isAlone: Bool) {
    self.labels = labels
    self.form = form
    self.isAlone = isAlone
  }

  func begin(_ entry: SessionCatalog.Entry) {
    label = labels[entry]
    json = form == .json ? RecordJSON(entry.sidecar) : nil
  }

  func show(_ piece: MatchContext.Piece, _ pattern: LinePattern?) {
    switch piece {
    case .match(let line):
      let marks = Console.outputIsTerminal ? pattern?.matches(in: line.text) ?? [] : []
      output.show(line, label: isAlone ? nil : label + ":", marks: marks, ends: true)
    case .context(let line):
      output.show(line, label: isAlone ? nil : label + "-", ends: true)
    case .separator: output.write(Array("--\n".utf8))
    }
  }

  func pass(_ line: RecordLine, isMatch: Bool) {
    if let object = json?.object(of: line, isWanted: isMatch) { output.write(object) }
  }

  func end(_ found: Int) {
    switch form {
    case .counts: output.write(Array("\(isAlone ? "" : label + ":")\(found)\n".utf8))
    case .sessions where found > 0: output.write(Array("\(label)\n".utf8))
    default: break
    }
  }

  func flush() { output.flush() }
}
