public import Platform

/// Chooses records by what their heads say; lines that go on with a record go with it.
///
/// What a head does not tell is no reason to leave a record out, except where it is asked for by
/// name: a record without a category is in none.
public struct RecordFilter: Sendable {
  /// Records of other levels are left out.
  public var levels: LevelSet
  /// Records before it are left out.
  public var since: Timestamp?
  /// Records after it are left out.
  public var until: Timestamp?
  /// Records of other categories are left out; empty for all.
  public var categories: [String] = [] {
    didSet { categoryNames = categories.map { Array($0.utf8) } }
  }
  /// Records of other scenarios, or of none, are left out; empty for all.
  public var scenarios: [String] = [] {
    didSet { scenarioNames = scenarios.map { Array($0.utf8) } }
  }
  /// Records that are not captured text of this stream are left out; nil for all.
  public var stream: CapturedStream?
  /// How lines are read; by default they are our own records.
  public var reader = RecordReader()
  /// Stream offset of the next byte that ``add(_:_:)`` gets, less what is not handed on yet.
  public var position: Int64 = 0

  private var categoryNames: [[UInt8]] = []
  private var scenarioNames: [[UInt8]] = []
  private var splitter = LineSplitter()
  /// What held for the line before; nil at the start, where a line is taken for an INFO record.
  private var isAdmitted: Bool?

  /// A filter that admits everything by default.
  public init(levels: LevelSet = .all, since: Timestamp? = nil, until: Timestamp? = nil) {
    self.levels = levels
    self.since = since
    self.until = until
  }

  /// Whether nothing is left out.
  public var admitsAll: Bool {
    levels == .all && since == nil && until == nil && categories.isEmpty && scenarios.isEmpty
      && stream == nil
  }

  /// Passes on the admitted lines of the next piece of a log.
  public mutating func add(
    _ chunk: UnsafeRawBufferPointer, _ body: (RecordLine) throws -> Void
  ) rethrows {
    var splitter = splitter
    self.splitter = LineSplitter()
    defer { self.splitter = splitter }
    try splitter.add(chunk) { line, isStart in try pass(line, isStart, body) }
  }

  /// Goes on at a later place of the stream: nothing is passed on until a record starts there.
  ///
  /// The line that ``finish(_:)`` would pass on is forgotten.
  ///
  /// - Parameter offset: the stream offset, in bytes.
  public mutating func skip(to offset: Int64) {
    splitter.skip()
    isAdmitted = false
    position = offset
  }

  /// Passes on a last line without a newline.
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
