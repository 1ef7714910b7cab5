public import Platform

/// What the first line of a record says about it.
public struct RecordHead: Sendable, Equatable {
  /// When it was written; nil where neither the line nor a record before it tells.
  public internal(set) var time: Timestamp?
  /// Its level; INFO where the line does not tell.
  public let level: Level
  /// Where in the line the program, logger, tag or module stands; empty without one.
  public let category: Range<Int>
  /// Where in the line the scenario stands; empty without one.
  public let scenario: Range<Int>
  /// Where in the line the message stands, without the line's end.
  public internal(set) var message: Range<Int>
  /// The time as the line has it.
  let written: WrittenTime?

  /// A record of another program.
  ///
  /// - Parameter level: nil where only the message may tell.
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

  /// A record of another program whose message starts where the scanner stands.
  init(
    _ written: WrittenTime?, _ level: Level?, category: Range<Int>? = nil,
    before message: ByteScanner
  ) {
    let end = message.bytes.count
    self.init(
      written, level, category: category, message: min(message.index, end)..<end,
      in: message.bytes)
  }

  /// A record of our own.
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
      // What looks like one in captured text is the program's own.
      let name = UnsafeRawBufferPointer(rebasing: line[prefix.category])
      if Category.stream(name) == nil { scenario = found } else { start = prefix.capturedLength }
    }
    self.scenario = scenario
    let end = line.last == 0x0a ? line.count - 1 : line.count
    message = start..<max(start, end)
  }

  /// What the line was captured from; nil where its category names no stream.
  public func stream(in line: UnsafeRawBufferPointer) -> CapturedStream? {
    Category.stream(UnsafeRawBufferPointer(rebasing: line[category]))?.stream
  }

  /// Whether the next record of the same stream goes on with this line of a captured program.
  public func isContinued(in line: UnsafeRawBufferPointer) -> Bool {
    !category.isEmpty && category.upperBound < line.count
      && line[category.upperBound] == Category.continued
  }
}
