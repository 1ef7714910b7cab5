package import LogRecords

/// Searches a log of any length for matches of rules, and reports each match with the lines around
/// it.
package struct RedactionScan {
  /// A match.
  package struct Hit {
    /// The kind of the rule.
    package let kind: String
    /// Offset in the log, in bytes.
    package let offset: Int64
    /// The secret itself.
    package let secret: [UInt8]
    /// The number of its line, from 1.
    package let line: Int
    /// The line as it would be sent, a long one cut on both sides.
    package let text: [UInt8]
    /// Range of the mask in that line.
    package let mask: Range<Int>
    /// The lines before and after, in the same form; nil if there is none.
    package let before: [UInt8]?
    package let after: [UInt8]?
  }

  private let redactor: Redactor
  private let format: LogFormat
  /// Bytes read that may still be needed.
  private var buffer: [UInt8] = []
  /// Offset of its first byte in the log.
  private var start: Int64 = 0
  /// Number of its bytes that were scanned; ends at a line boundary.
  private var done = 0
  private var line = 1

  /// Number of bytes scanned at once.
  private static let stride = 1 << 20
  /// Length from which a line is scanned in parts, in bytes.
  private static let longestLine = 16 << 20
  /// Number of bytes shown either side of a match.
  private static let margin = 120

  package init(_ redactor: Redactor, _ format: LogFormat) {
    self.redactor = redactor
    self.format = format
  }

  /// Adds the next bytes of the log.
  package mutating func add(_ bytes: UnsafeRawBufferPointer, _ body: (Hit) throws -> Void) rethrows
  {
    buffer += bytes
    guard buffer.count - done >= Self.stride else { return }
    // Hold back the last whole line until the one after it is known.
    let newline = buffer[done...].lastIndex(of: 0x0a)
    let end = newline.flatMap { buffer[done..<$0].lastIndex(of: 0x0a) }
    if let end {
      try scan(upTo: end + 1, body)
    } else if buffer.count - done > Self.longestLine {
      try scan(upTo: buffer.count - Redactor.context, body)
    }
  }

  /// Scans the rest.
  package mutating func finish(_ body: (Hit) throws -> Void) rethrows {
    try scan(upTo: buffer.count, body)
  }

  private mutating func scan(upTo end: Int, _ body: (Hit) throws -> Void) rethrows {
    var masked = buffer
    let found = redactor.mask(&masked, at: start, format)
    var counted = done
    var lines: Lines?
    for redaction in found where (done..<end).contains(redaction.range.lowerBound) {
      line += Self.newlines(in: buffer[counted..<redaction.range.lowerBound])
      counted = redaction.range.lowerBound
      let known = lines.flatMap { $0.own.contains(counted) ? $0 : nil }
      let around = known ?? Lines(around: redaction.range, in: masked)
      lines = around
      try body(hit(redaction, masked, around))
    }
    line += Self.newlines(in: buffer[counted..<end])
    // Keep the context of the following bytes, and the line before them.
    let kept = max(0, end - Redactor.context)
    buffer.removeFirst(kept)
    start += Int64(kept)
    done = end - kept
  }

  private static func newlines(in bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 + ($1 == 0x0a ? 1 : 0) }
  }

  /// Ranges of a match's line, and of the one before, in the buffer.
  ///
  /// Shared by the matches of one line, which may be long and have many.
  private struct Lines {
    /// Without its newline.
    let own: Range<Int>
    /// Start of the line before.
    let previous: Int

    init(around place: Range<Int>, in text: [UInt8]) {
      func start(before end: Int) -> Int { text[..<end].lastIndex(of: 0x0a).map { $0 + 1 } ?? 0 }
      let first = start(before: place.lowerBound)
      own = first..<(text[place.upperBound...].firstIndex(of: 0x0a) ?? text.count)
      previous = start(before: max(0, first - 1))
    }
  }

  private func hit(_ redaction: MaskedRange, _ masked: [UInt8], _ lines: Lines) -> Hit {
    let place = redaction.range
    let from = max(lines.own.lowerBound, place.lowerBound - Self.margin)
    let to = min(lines.own.upperBound, place.upperBound + Self.margin)
    let before = lines.previous..<max(0, lines.own.lowerBound - 1)
    let next = masked[min(lines.own.upperBound + 1, masked.count)...]
    return Hit(
      kind: redaction.kind, offset: start + Int64(place.lowerBound), secret: Array(buffer[place]),
      line: line, text: Array(masked[from..<to]),
      mask: place.lowerBound - from..<place.upperBound - from,
      before: lines.own.lowerBound > 0 ? Array(masked[before].prefix(2 * Self.margin)) : nil,
      after: next.isEmpty
        ? nil : Array(next.prefix(2 * Self.margin).prefix { $0 != 0x0a }))
  }
}
