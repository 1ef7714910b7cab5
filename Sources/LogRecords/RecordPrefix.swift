public import Platform

/// The part of a record before its message:
/// `2026-01-22T14:30:05.123Z [ERROR] [Net] {Scenario} `, or the older `[WARN]: `.
public struct RecordPrefix: Sendable, Equatable {
  /// When it was written; nil in the older format.
  public let time: Timestamp?
  /// Its level.
  public let level: Level
  /// Range of the category in the line; empty in the older format.
  public let category: Range<Int>
  /// Range of the scenario; nil without one.
  public let scenario: Range<Int>?
  /// Number of bytes before the message of a record of the API.
  public let length: Int
  /// Number of bytes before captured output, where a scenario is the program's own text.
  public let capturedLength: Int

  /// Maximum bytes in which to find a category, scenario or level.
  private static let fieldLimit = 256

  /// Parses the prefix of a line.
  ///
  /// - Parameter line: one line, with or without its newline.
  /// - Returns: nil if the line has no known prefix.
  public static func parse(_ line: UnsafeRawBufferPointer) -> RecordPrefix? {
    var index = 0
    var time: Timestamp?
    if let (found, length) = Timestamp.parse(line) {
      guard length < line.count, line[length] == 0x20 else { return nil }
      time = found
      index = length + 1
    }
    guard let levelField = field(line, at: index, open: 0x5b, close: 0x5d),
      let level = Level(UnsafeRawBufferPointer(rebasing: line[levelField]))
    else { return nil }
    index = levelField.upperBound + 1
    guard time != nil else {
      guard index < line.count, line[index] == 0x3a else { return nil }
      index += 1
      if index < line.count, line[index] == 0x20 { index += 1 }
      return RecordPrefix(
        time: nil, level: level, category: index..<index, scenario: nil, length: index,
        capturedLength: index)
    }
    guard index < line.count, line[index] == 0x20,
      let category = field(line, at: index + 1, open: 0x5b, close: 0x5d)
    else { return nil }
    index = category.upperBound + 1
    if index < line.count, line[index] == 0x20 { index += 1 }
    let capturedLength = index
    let scenario = field(line, at: index, open: 0x7b, close: 0x7d)
    if let scenario {
      index = scenario.upperBound + 1
      if index < line.count, line[index] == 0x20 { index += 1 }
    }
    return RecordPrefix(
      time: time, level: level, category: category, scenario: scenario, length: index,
      capturedLength: capturedLength)
  }

  /// Appends a prefix to a buffer.
  package static func append(
    time: [UInt8], level: Level, category: [UInt8], scenario: [UInt8]? = nil,
    to buffer: inout [UInt8]
  ) {
    buffer += time
    buffer += heads[Int(level.rawValue)]
    buffer += category
    buffer.append(0x5d)
    buffer.append(0x20)
    if let scenario {
      buffer.append(0x7b)
      buffer += scenario
      buffer.append(0x7d)
      buffer.append(0x20)
    }
  }

  /// The text between time and category, by level.
  private static let heads = Level.allCases.map { Array(" [\($0.name)] [".utf8) }

  /// The content of a bracketed field that opens at `index`.
  private static func field(
    _ line: UnsafeRawBufferPointer, at index: Int, open: UInt8, close: UInt8
  ) -> Range<Int>? {
    guard index < line.count, line[index] == open else { return nil }
    let end = min(line.count, index + 1 + fieldLimit)
    var cursor = index + 1
    while cursor < end {
      let byte = line[cursor]
      if byte == close { return cursor > index + 1 ? (index + 1)..<cursor : nil }
      if byte == 0x0a { return nil }
      cursor += 1
    }
    return nil
  }
}
