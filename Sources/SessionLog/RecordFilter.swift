/// Chooses records by level and time; lines that go on with a record go with it.
public struct RecordFilter: Sendable {
  /// Records below it are left out.
  public var minimumLevel: Level?
  /// Records before it are left out.
  public var since: Timestamp?
  /// Records after it are left out.
  public var until: Timestamp?
  /// How lines are read; by default they are our own records.
  public var reader = RecordReader()

  private var splitter = LineSplitter()
  /// What held for the line before; an unknown form is INFO and has no time of its own.
  private var isAdmitted: Bool?

  /// A filter that admits everything by default.
  public init(minimumLevel: Level? = nil, since: Timestamp? = nil, until: Timestamp? = nil) {
    self.minimumLevel = minimumLevel
    self.since = since
    self.until = until
  }

  /// Whether nothing is left out.
  public var admitsAll: Bool { minimumLevel == nil && since == nil && until == nil }

  /// Passes on the admitted lines of the next piece of a log.
  ///
  /// - Parameter body: gets a line, newline included, and what it says where it starts a record.
  public mutating func add(
    _ chunk: UnsafeRawBufferPointer,
    _ body: (_ line: UnsafeRawBufferPointer, _ head: RecordHead?) throws -> Void
  ) rethrows {
    var splitter = splitter
    self.splitter = LineSplitter()
    defer { self.splitter = splitter }
    try splitter.add(chunk) { line, isStart in try pass(line, isStart, body) }
  }

  /// Goes on at a later place of the stream: nothing is passed on until a record starts there.
  ///
  /// The line that ``finish(_:)`` would pass on is forgotten.
  public mutating func skip() {
    splitter.skip()
    isAdmitted = false
  }

  /// Passes on a last line without a newline.
  public mutating func finish(
    _ body: (_ line: UnsafeRawBufferPointer, _ head: RecordHead?) throws -> Void
  ) rethrows {
    var splitter = splitter
    self.splitter = LineSplitter()
    try splitter.finish { line, isStart in try pass(line, isStart, body) }
  }

  private mutating func pass(
    _ line: UnsafeRawBufferPointer, _ isStart: Bool,
    _ body: (UnsafeRawBufferPointer, RecordHead?) throws -> Void
  ) rethrows {
    let head = isStart ? reader.read(line) : nil
    let admitted =
      head.map { admits(level: $0.level, time: $0.time) }
      ?? isAdmitted ?? admits(level: .info, time: nil)
    isAdmitted = admitted
    if admitted { try body(line, head) }
  }

  private func admits(level: Level, time: Timestamp?) -> Bool {
    if let minimumLevel, level < minimumLevel { return false }
    if let since, let time, time < since { return false }
    if let until, let time, time > until { return false }
    return true
  }
}
