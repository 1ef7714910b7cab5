public import Platform

/// Replays a recorded program's output piece by piece, with the time of each.
public struct Replay {
  /// An event on the terminal.
  public enum Event: Sendable, Equatable {
    /// The program's output.
    case output([UInt8])
    /// The terminal's size in characters, and its type.
    case window(columns: Int, rows: Int, terminal: String?)
  }

  private var splitter = LineSplitter()
  private var plain = PlainText()
  private var time: Timestamp?

  /// Starts at the beginning of a log of records.
  public init() {}

  /// Appends the next piece of the log.
  ///
  /// - Parameter body: called with each event and its time; nil before the first record.
  public mutating func add(
    _ chunk: UnsafeRawBufferPointer, _ body: (Timestamp?, Event) throws -> Void
  ) rethrows {
    var splitter = splitter
    self.splitter = LineSplitter()
    defer { self.splitter = splitter }
    try splitter.add(chunk) { line, isStart in try pass(line, isStart, body) }
  }

  /// Ends with a last line without a newline.
  public mutating func finish(_ body: (Timestamp?, Event) throws -> Void) rethrows {
    var splitter = splitter
    try splitter.finish { line, isStart in try pass(line, isStart, body) }
    let rest = plain.finish()
    if !rest.isEmpty { try body(time, .output(rest)) }
  }

  private mutating func pass(
    _ line: UnsafeRawBufferPointer, _ isStart: Bool, _ body: (Timestamp?, Event) throws -> Void
  ) rethrows {
    if isStart, let prefix = RecordPrefix.parse(line), let written = prefix.time {
      time = written
      if line[prefix.category].elementsEqual(Category.session.utf8) {
        let message = line[prefix.capturedLength...].prefix { $0 != 0x0a }
        if case .window(let columns, let rows, let terminal) = SessionEvent(
          String(decoding: message, as: UTF8.self))
        {
          try body(time, .window(columns: columns, rows: rows, terminal: terminal))
        }
      }
    }
    let bytes = plain.add(line)
    if !bytes.isEmpty { try body(time, .output(bytes)) }
  }
}
