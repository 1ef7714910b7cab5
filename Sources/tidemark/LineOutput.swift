import LogRecords

/// Prints lines of logs on standard output: unchanged to a pipe, harmless and coloured on a
/// terminal.
final class LineOutput {
  private var pending: [UInt8] = []
  /// Whether the last printed line has no newline yet.
  private var isInLine = false

  /// Maximum number of buffered bytes.
  private static let limit = 64 << 10

  /// Prints a line.
  ///
  /// - Parameters:
  ///   - line: the line; if it starts a line, an unfinished one before it is ended.
  ///   - label: printed before it; nil for none.
  ///   - marks: ranges to highlight.
  ///   - ends: whether to add a missing newline.
  func show(
    _ line: RecordLine, label: String? = nil, marks: [Range<Int>] = [], ends: Bool = false
  ) {
    if line.isStart, isInLine { pending.append(0x0a) }
    if line.isStart || !isInLine, let label {
      pending += Console.paint(label, .grey).utf8
    }
    // Colours are our own text among bytes, so the line is printed as text.
    if Console.outputIsTerminal || Console.hasColour {
      pending += Self.painted(line, marks).utf8
      if line.bytes.last == 0x0a { pending.append(0x0a) }
    } else {
      pending.append(contentsOf: line.bytes)
    }
    isInLine = line.bytes.last != 0x0a
    if ends, isInLine {
      pending.append(0x0a)
      isInLine = false
    }
    if pending.count >= Self.limit { flush() }
  }

  /// Prints our own text, or JSON.
  func write(_ bytes: [UInt8]) {
    pending += bytes
    if pending.count >= Self.limit { flush() }
  }

  /// Writes the buffer.
  func flush() {
    guard !pending.isEmpty else { return }
    Console.write(pending)
    pending.removeAll(keepingCapacity: true)
  }

  private static func painted(_ line: RecordLine, _ marks: [Range<Int>]) -> String {
    let colour = Console.colour(of: line.head?.level)
    var text = ""
    var end = 0
    for mark in marks {
      text += Console.paint(String(printable: line.text[end..<mark.lowerBound]), colour)
      text += Console.paint(String(printable: line.text[mark]), .mark)
      end = mark.upperBound
    }
    return text + Console.paint(String(printable: line.text[end...]), colour)
  }
}
