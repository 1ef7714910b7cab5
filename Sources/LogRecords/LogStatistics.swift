public import Platform

/// Statistics of a part of a log, for a segment's index and a sidecar.
public struct LogStatistics: Sendable {
  /// Newlines.
  public private(set) var lines = 0
  /// Records by level, lowest first.
  public private(set) var counts = [Int](repeating: 0, count: Level.allCases.count)
  /// Times of the earliest and latest record.
  public private(set) var first: Timestamp?
  /// Time of the latest record.
  public private(set) var last: Timestamp?

  /// The reader of the lines; statistics of the following part start with it, so that they know the
  /// detected format.
  public private(set) var reader: RecordReader

  private var categories = CategorySet()
  private var scenarios = CategorySet(limit: Self.mostScenarios)
  private var splitter = LineSplitter()

  /// Maximum number of different scenarios.
  package static let mostScenarios = 32

  /// Empty statistics.
  public init(_ reader: RecordReader = RecordReader()) { self.reader = reader }

  /// Counts the next piece of the log.
  public mutating func add(_ chunk: UnsafeRawBufferPointer) {
    var splitter = splitter
    self.splitter = LineSplitter()
    splitter.add(chunk) { line, isStart in count(line, isStart) }
    self.splitter = splitter
  }

  /// Counts a last line without a newline.
  public mutating func finish() {
    var splitter = splitter
    splitter.finish { line, isStart in count(line, isStart) }
    self.splitter = LineSplitter()
  }

  /// Adds the statistics of the following part, which began with ``reader`` at the start of a line.
  package mutating func append(_ next: LogStatistics) {
    lines += next.lines
    for level in counts.indices { counts[level] += next.counts[level] }
    first = [first, next.first].compactMap(\.self).min()
    last = [last, next.last].compactMap(\.self).max()
    for name in next.categories.names { name.withUnsafeBytes { categories.insert($0) } }
    for name in next.scenarios.names { name.withUnsafeBytes { scenarios.insert($0) } }
    reader = next.reader
  }

  /// Counts a record from its properties, without its lines.
  package mutating func count(
    _ level: Level, at time: Timestamp, category: [UInt8], scenario: [UInt8]? = nil
  ) {
    counts[Int(level.rawValue)] += 1
    first = min(first ?? time, time)
    last = max(last ?? time, time)
    category.withUnsafeBytes { categories.insert($0) }
    scenario?.withUnsafeBytes { scenarios.insert($0) }
  }

  private mutating func count(_ line: UnsafeRawBufferPointer, _ isStart: Bool) {
    if line.last == 0x0a { lines += 1 }
    guard isStart else { return }
    // A continuation line is not a record.
    guard let head = reader.read(line) else { return }
    counts[Int(head.level.rawValue)] += 1
    if let time = head.time {
      first = min(first ?? time, time)
      last = max(last ?? time, time)
    }
    categories.insert(UnsafeRawBufferPointer(rebasing: line[head.category]))
    if !head.scenario.isEmpty {
      scenarios.insert(UnsafeRawBufferPointer(rebasing: line[head.scenario]))
    }
  }

  /// The range of times in milliseconds since 1970; nil if no record has one.
  public var milliseconds: ClosedRange<Int64>? {
    guard let first, let last else { return nil }
    return first.milliseconds...last.milliseconds
  }

  /// Categories that occur, sorted, at most 64.
  public var categoryNames: [String] {
    categories.names.map { String(decoding: $0, as: UTF8.self) }.sorted()
  }

  /// Scenarios that occur, sorted, at most ``mostScenarios``.
  public var scenarioNames: [String] {
    scenarios.names.map { String(decoding: $0, as: UTF8.self) }.sorted()
  }

  /// The scenarios that occur, as written in the log; nil if there may be more than are kept.
  package var allScenarios: [[UInt8]]? {
    scenarios.names.count < Self.mostScenarios ? scenarios.names : nil
  }

  /// Number of records by the name of their level, omitting zeros.
  public var levelCounts: [String: Int] {
    var result: [String: Int] = [:]
    for level in Level.allCases where counts[Int(level.rawValue)] > 0 {
      result[level.name] = counts[Int(level.rawValue)]
    }
    return result
  }
}
