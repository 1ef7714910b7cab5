import LogRecords
import TestSupport
import Testing

/// Selecting records by their fields.
@Suite(.tags(.small)) struct RecordFilterTests {
  private static let log = """
    2026-01-22T14:30:05.000Z [INFO] [stdout] {Pay} one
    2026-01-22T14:30:05.001Z [ERROR] [stderr+] two
    2026-01-22T14:30:05.002Z [ERROR] [Net] {Pay} three
      goes on
    2026-01-22T14:30:05.003Z [FAULT] [Net] four
    2026-01-22T14:30:05.004Z [DEBUG] [Session] five
    """

  private func words(_ filter: RecordFilter) -> [String] {
    var filter = filter
    var lines: [String] = []
    Array(Self.log.utf8).withUnsafeBytes {
      filter.add($0) { lines.append(String(decoding: $0.text, as: UTF8.self)) }
    }
    filter.finish { lines.append(String(decoding: $0.text, as: UTF8.self)) }
    return lines.compactMap { $0.split(separator: " ").last.map(String.init) }
  }

  @Test(arguments: [
    ("ERROR", ["two", "three", "on", "four"]), ("=ERROR", ["two", "three", "on"]),
    ("error,DEBUG", ["two", "three", "on", "five"]), ("FATAL", ["four"]),
    ("=trace", []), ("TRACE", ["one", "two", "three", "on", "four", "five"]),
  ])
  func `a level filter accepts thresholds, exact levels and lists`(
    text: String, expected: [String]
  ) throws {
    #expect(words(RecordFilter(levels: try #require(LevelSet(text)))) == expected)
  }

  @Test(arguments: ["", "=", ",", "ERROR,", "loud", "ERROR FAULT", ",ERROR"])
  func `an invalid level filter is refused`(text: String) { #expect(LevelSet(text) == nil) }

  @Test func `category and scenario filters match exact names`() {
    var filter = RecordFilter()
    filter.categories = ["Net", "Session"]
    #expect(words(filter) == ["three", "on", "four", "five"])
    filter.scenarios = ["Pay"]
    #expect(words(filter) == ["three", "on"])
    filter.categories = []
    // Text that looks like a scenario in captured text is the program's.
    #expect(words(filter) == ["three", "on"])
    filter.scenarios = []
    filter.categories = ["stderr"]
    #expect(words(filter) == ["two"])
  }

  @Test func `a stream filter selects captured lines of that stream`() {
    var filter = RecordFilter()
    filter.stream = .standardOutput
    #expect(words(filter) == ["one"])
    filter.stream = .standardError
    filter.levels = .from(.fault)
    #expect(words(filter).isEmpty)
  }

  @Test(arguments: SeededGenerator.cases(200))
  func `filtered lines carry their offset in the log`(number: Int) {
    var generator = SeededGenerator(case: number)
    let log = NastyText.make(60, &generator)
    var filter = RecordFilter(
      levels: [.all, .from(.error)].randomElement(using: &generator) ?? .all)
    func check(_ line: RecordLine) {
      let place = Int(line.offset)..<Int(line.offset) + line.bytes.count
      #expect(log[place].elementsEqual(line.bytes))
      #expect(line.isStart == (place.lowerBound == 0 || log[place.lowerBound - 1] == 0x0a))
    }
    for piece in NastyText.cut(log, &generator) {
      piece.withUnsafeBytes { filter.add($0, check) }
    }
    filter.finish(check)
    #expect(filter.position == Int64(log.count))
  }
}
