import LogRecords

/// Lines of logs on standard output: exact bytes through a pipe, harmless and coloured at a terminal.
final class LineOutput {
  private var pending: [UInt8] = []
  /// Whether the line printed last has no end yet.
  private var isInLine = false

  /// Bytes that are kept before they are written.
  private static let limit = 64 << 10

  /// Prints a line.
  ///
  /// - Parameters:
  ///   - line: a line that starts ends the one before, if that did not.
  ///   - label: stands before it; nil for nothing.
  ///   - marks: what to point out in it.
  ///   - ends: whether it gets an end if it has none.
  func show(
    _ line: RecordLine, label: String? = nil, marks: [Range<Int>] = [], ends: Bool = false
  ) {
    if line.isStart, isInLine { pending.append(0x0a) }
    if line.isStart || !isInLine, let label {
      pending += Console.paint(label, .grey).utf8
    }
    // Colours are text of ours among bytes: what they stand in is text as well.
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

  /// Prints text of ours, or JSON.
  func write(_ bytes: [UInt8]) {
    pending += bytes
    if pending.count >= Self.limit { flush() }
  }

  /// Writes what is kept.
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
