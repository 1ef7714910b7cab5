import Platform

/// A line of a report for people.
///
/// On a terminal it is broken at blanks; elsewhere it stays one line, whatever texts of a store or
/// of another user it is made of.
struct ReportLine: Equatable, Codable {
  let text: String
  let colour: Console.Colour?
  /// Number of blanks before each line of the text but the first.
  let indent: Int

  init(_ text: String, _ colour: Console.Colour? = nil, indent: Int = 4) {
    (self.text, self.colour, self.indent) = (String(oneLine: text), colour, indent)
  }

  /// The line in pieces that fit a width, unless a word is wider.
  ///
  /// - Parameter width: in columns; nil for one piece.
  func lines(width: Int?) -> [String] {
    guard let width, text.displayWidth > width else { return [text] }
    var lines: [String] = []
    var line = ""
    // Blanks between columns, and those that begin a line, belong to the word that they precede.
    var blanks = ""
    var word = ""
    func finish() {
      let isFirst = line.allSatisfy { $0 == " " }
      if !isFirst, (line + blanks + word).displayWidth > width {
        lines.append(line)
        // Reduce the indentation for a long word, such as a path or a URL.
        line = String(repeating: " ", count: max(0, min(indent, width - word.displayWidth))) + word
      } else {
        line += blanks + word
      }
      (blanks, word) = ("", "")
    }
    for character in text {
      if character == " ", !word.isEmpty { finish() }
      if character == " " { blanks.append(character) } else { word.append(character) }
    }
    if !word.isEmpty { finish() }
    if !line.isEmpty { lines.append(line) }
    return lines
  }
}

extension Console {
  /// Prints a line of a report.
  static func say(_ line: ReportLine) {
    for piece in line.lines(width: width) { say(painted: paint(piece, line.colour)) }
  }
}
