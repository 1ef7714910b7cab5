public import Platform

/// Selects records by their heads; continuation lines go with their record.
///
/// A missing field does not exclude a record, unless the filter selects by name: a record without a
/// category is in none.
public struct RecordFilter: Sendable {
  /// Levels to include.
  public var levels: LevelSet
  /// Excludes records before this time.
  public var since: Timestamp?
  /// Excludes records after this time.
  public var until: Timestamp?
  /// Categories to include; empty for all.
  public var categories: [String] = [] {
    didSet { categoryNames = categories.map { Array($0.utf8) } }
  }
  /// Scenarios to include; empty for all, including records without one.
  public var scenarios: [String] = [] {
    didSet { scenarioNames = scenarios.map { Array($0.utf8) } }
  }
  /// Includes only text captured from this stream; nil for all records.
  public var stream: CapturedStream?
  /// Reads the lines; by default as our own records.
  public var reader = RecordReader()
  /// Stream offset of the next byte passed to ``add(_:_:)``, minus bytes not delivered yet.
  public var position: Int64 = 0

  private var categoryNames: [[UInt8]] = []
  private var scenarioNames: [[UInt8]] = []
  private var splitter = LineSplitter()
  /// Whether the previous line was admitted; nil at the start, where a line counts as an INFO
  /// record.
  private var isAdmitted: Bool?

  /// Makes a filter, which by default admits everything.
  public init(levels: LevelSet = .all, since: Timestamp? = nil, until: Timestamp? = nil) {
    self.levels = levels
    self.since = since
    self.until = until
  }

  /// Whether it excludes nothing.
  public var admitsAll: Bool {
    levels == .all && since == nil && until == nil && categories.isEmpty && scenarios.isEmpty
      && stream == nil
  }

  /// Delivers the admitted lines of the next piece of a log.
  public mutating func add(
    _ chunk: UnsafeRawBufferPointer, _ body: (RecordLine) throws -> Void
  ) rethrows {
    var splitter = splitter
    self.splitter = LineSplitter()
    defer { self.splitter = splitter }
    try splitter.add(chunk) { line, isStart in try pass(line, isStart, body) }
  }

  /// Continues at a later position of the stream; delivers nothing until a record starts there.
  ///
  /// The line that ``finish(_:)`` would deliver is dropped.
  ///
  /// - Parameter offset: the stream offset, in bytes.
  public mutating func skip(to offset: Int64) {
    splitter.skip()
    isAdmitted = false
    position = offset
  }

  /// Delivers a last line without a newline.
  public mutating func finish(_ body: (RecordLine) throws -> Void) rethrows {
    var splitter = splitter
    self.splitter = LineSplitter()
    try splitter.finish { line, isStart in try pass(line, isStart, body) }
  }

  private mutating func pass(
    _ line: UnsafeRawBufferPointer, _ isStart: Bool, _ body: (RecordLine) throws -> Void
  ) rethrows {
    let head = isStart ? reader.read(line) : nil
    let admitted =
      head.map { admits($0, line) }
      ?? isAdmitted ?? (levels.contains(.info) && !asksForNames)
    isAdmitted = admitted
    let offset = position
    position += Int64(line.count)
    guard admitted else { return }
    try body(RecordLine(bytes: line, head: head, isStart: isStart, offset: offset))
  }

  private var asksForNames: Bool {
    !categoryNames.isEmpty || !scenarioNames.isEmpty || stream != nil
  }

  private func admits(_ head: RecordHead, _ line: UnsafeRawBufferPointer) -> Bool {
    guard levels.contains(head.level) else { return false }
    if let time = head.time {
      if let since, time < since { return false }
      if let until, time > until { return false }
    }
    guard asksForNames else { return true }
    if !categoryNames.isEmpty {
      let name = line[head.category]
      guard categoryNames.contains(where: name.elementsEqual) else { return false }
    }
    if !scenarioNames.isEmpty {
      let name = line[head.scenario]
      guard scenarioNames.contains(where: name.elementsEqual) else { return false }
    }
    return stream == nil || head.stream(in: line) == stream
  }
}
