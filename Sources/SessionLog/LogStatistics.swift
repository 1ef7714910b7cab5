/// What a stretch of log holds: the figures of a segment's index and of a sidecar.
public struct LogStatistics: Sendable {
  /// Newlines.
  public private(set) var lines = 0
  /// Records by level, lowest first.
  public private(set) var counts = [Int](repeating: 0, count: Level.allCases.count)
  /// Times of the earliest and latest record.
  public private(set) var first: Timestamp?
  /// Times of the latest record.
  public private(set) var last: Timestamp?

  private var categories: Set<[UInt8]> = []
  private var splitter = LineSplitter()
  /// More than so many different words are no longer a summary.
  private static let categoryLimit = 64

  /// Nothing counted.
  public init() {}

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

  private mutating func count(_ line: UnsafeRawBufferPointer, _ isStart: Bool) {
    if line.last == 0x0a { lines += 1 }
    guard isStart else { return }
    guard let prefix = RecordPrefix.parse(line) else {
      // A line without a prefix goes on with the record before it.
      return
    }
    counts[Int(prefix.level.rawValue)] += 1
    if let time = prefix.time {
      first = min(first ?? time, time)
      last = max(last ?? time, time)
    }
    var category = UnsafeRawBufferPointer(rebasing: line[prefix.category])
    if category.last == Category.continued {
      category = UnsafeRawBufferPointer(rebasing: category.dropLast())
    }
    guard !category.isEmpty, categories.count < Self.categoryLimit else { return }
    if category.elementsEqual(lastCategory) { return }
    lastCategory = Array(category)
    categories.insert(lastCategory)
  }

  /// Neighbouring records mostly share their category: no need to look it up each time.
  private var lastCategory: [UInt8] = []

  /// The range of times in milliseconds since 1970; nil where no record has one.
  public var milliseconds: ClosedRange<Int64>? {
    guard let first, let last else { return nil }
    return first.milliseconds...last.milliseconds
  }

  /// Categories seen, sorted, 64 at most.
  public var categoryNames: [String] {
    categories.map { String(decoding: $0, as: UTF8.self) }.sorted()
  }

  /// Records by the name of their level, those that occur.
  public var levelCounts: [String: Int] {
    var result: [String: Int] = [:]
    for level in Level.allCases where counts[Int(level.rawValue)] > 0 {
      result[level.name] = counts[Int(level.rawValue)]
    }
    return result
  }
}
