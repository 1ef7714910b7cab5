public import Platform

/// The fields in a record's first line.
public struct RecordHead: Sendable, Equatable {
  /// When it was written; nil if neither the line nor a record before it states a time.
  public internal(set) var time: Timestamp?
  /// Its level; INFO if the line does not state one.
  public let level: Level
  /// Range of the program, logger, tag or module in the line; empty without one.
  public let category: Range<Int>
  /// Range of the scenario in the line; empty without one.
  public let scenario: Range<Int>
  /// Range of the message in the line, without the newline.
  public internal(set) var message: Range<Int>
  /// The time as written in the line.
  let written: WrittenTime?

  /// Describes a record of another program.
  ///
  /// - Parameter level: nil to search the message for it.
  init(
    _ written: WrittenTime?, _ level: Level?, category: Range<Int>? = nil, message: Range<Int>,
    in line: UnsafeRawBufferPointer
  ) {
    self.written = written
    self.level =
      level ?? LevelDetector.level(of: UnsafeRawBufferPointer(rebasing: line[message])) ?? .info
    self.category = category ?? message.lowerBound..<message.lowerBound
    scenario = message.lowerBound..<message.lowerBound
    self.message = message
  }

  /// Describes a record of another program whose message starts at the scanner's position.
  init(
    _ written: WrittenTime?, _ level: Level?, category: Range<Int>? = nil,
    before message: ByteScanner
  ) {
    let end = message.bytes.count
    self.init(
      written, level, category: category, message: min(message.index, end)..<end,
      in: message.bytes)
  }

  /// Parses a record of our own.
  init?(prefixOf line: UnsafeRawBufferPointer) {
    guard let prefix = RecordPrefix.parse(line) else { return nil }
    time = prefix.time
    written = nil
    level = prefix.level
    let isContinued = !prefix.category.isEmpty && line[prefix.category].last == Category.continued
    category = isContinued ? prefix.category.dropLast() : prefix.category
    var start = prefix.length
    var scenario = start..<start
    if let found = prefix.scenario {
      // In captured text, anything that looks like a scenario is the program's own text.
      let name = UnsafeRawBufferPointer(rebasing: line[prefix.category])
      if Category.stream(name) == nil { scenario = found } else { start = prefix.capturedLength }
    }
    self.scenario = scenario
    let end = line.last == 0x0a ? line.count - 1 : line.count
    message = start..<max(start, end)
  }

  /// The stream that the line was captured from; nil if its category names none.
  public func stream(in line: UnsafeRawBufferPointer) -> CapturedStream? {
    Category.stream(UnsafeRawBufferPointer(rebasing: line[category]))?.stream
  }

  /// Whether the next record of the same stream continues this line of a captured program.
  public func isContinued(in line: UnsafeRawBufferPointer) -> Bool {
    !category.isEmpty && category.upperBound < line.count
      && line[category.upperBound] == Category.continued
  }
}
