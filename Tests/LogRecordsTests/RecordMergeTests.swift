import LogRecords
import Platform
import TestSupport
import Testing

/// Merging several logs by time.
@Suite(.tags(.small)) struct RecordMergeTests {
  /// A log in memory that counts reads.
  private final class Log: PositionedBytes {
    let bytes: [UInt8]
    var hasBeenRead = false
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(_ range: Range<Int64>) -> [UInt8] {
      hasBeenRead = true
      return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
    }

    func cursor(_ filter: RecordFilter = RecordFilter()) -> LineCursor {
      LineCursor(self, ranges: [0..<Int64(bytes.count)], filter: filter)
    }
  }

  private static func log(
    _ name: String, _ count: Int, from start: Int64, _ generator: inout SeededGenerator
  ) -> [UInt8] {
    var time = start
    var log: [UInt8] = []
    for number in 0..<count {
      time += Int64.random(in: 0...300, using: &generator)
      let prefix = "\(Timestamp(milliseconds: time)) [INFO] [\(name)] "
      log += Array("\(prefix)\(number)\n".utf8)
      for _ in 0..<max(0, Int.random(in: -3...2, using: &generator)) { log += Array("  on\n".utf8) }
    }
    if Bool.random(using: &generator), !log.isEmpty { log.removeLast() }
    return log
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `a merge is sorted by time and keeps each log's order`(number: Int) async throws {
    var generator = SeededGenerator(case: number)
    let start: Int64 = 1_769_092_205_123
    var logs: [Log] = []
    var inputs: [RecordMerge<LineCursor>.Input] = []
    var offsets: [Int64] = []
    for name in 0..<Int.random(in: 0...7, using: &generator) {
      let begin = start + Int64.random(in: 0...5000, using: &generator)
      let count = Int.random(in: 0...60, using: &generator)
      logs.append(Log(Self.log("\(name)", count, from: begin, &generator)))
      offsets.append(Int64.random(in: -4000...4000, using: &generator))
      inputs.append(
        .init(
          logs[name].cursor(), from: Timestamp(milliseconds: begin),
          offset: .milliseconds(offsets[name])))
    }
    var merge = RecordMerge(inputs)
    var merged = logs.map { _ in [UInt8]() }
    var time = Int64.min
    var current = -1
    while let (log, line) = try await merge.next() {
      merged[log] += line.bytes
      if let written = line.time {
        #expect(written.milliseconds + offsets[log] >= time)
        time = written.milliseconds + offsets[log]
      } else {
        #expect(current == log, "a line has left its record")
      }
      current = log
    }
    #expect(merged == logs.map(\.bytes))
  }

  @Test func `a merge does not read a log before its start time`() async throws {
    var generator = SeededGenerator(case: 1)
    let early = Log(Self.log("a", 20, from: 1_000_000_000_000, &generator))
    let late = Log(Self.log("b", 20, from: 1_100_000_000_000, &generator))
    var merge = RecordMerge([
      .init(late.cursor(), from: Timestamp(milliseconds: 1_100_000_000_000)),
      .init(early.cursor(), from: Timestamp(milliseconds: 1_000_000_000_000)),
    ])
    while let (log, line) = try await merge.next(), log == 1 {
      #expect(!late.hasBeenRead || line.bytes.isEmpty)
    }
    #expect(late.hasBeenRead)
  }

  @Test func `a merge keeps records whose clock goes back`() async throws {
    let back = """
      2026-01-22T14:30:09.000Z [INFO] [a] 1
      2026-01-22T14:30:01.000Z [INFO] [a] 2
      [WARN]: no time
      2026-01-22T14:30:08.000Z [INFO] [a] 3

      """
    let other = "2026-01-22T14:30:05.000Z [INFO] [b] x\n2026-01-22T14:30:10.000Z [INFO] [b] y\n"
    let start = Timestamp(milliseconds: .min)
    var merge = RecordMerge([
      .init(Log(Array(back.utf8)).cursor(), from: start, offset: .milliseconds(-5)),
      .init(Log(Array(other.utf8)).cursor(), from: start),
    ])
    var words: [String] = []
    while let (_, line) = try await merge.next() {
      let text = String(decoding: line.bytes, as: UTF8.self)
      words.append(String(text.split(separator: " ").last ?? "").filter { $0 != "\n" })
    }
    #expect(words == ["x", "1", "2", "time", "3", "y"])
  }

  /// A cursor over a growing log delivers the same lines as the complete log.
  @Test(arguments: SeededGenerator.cases(200))
  func `a growing log is read once, line by line`(number: Int) async throws {
    var generator = SeededGenerator(case: number)
    let log = Log(NastyText.make(40, &generator))
    let cursor = LineCursor(log, ranges: [], filter: RecordFilter(), isFinal: false)
    var found: [[UInt8]] = []
    var end: Int64 = 0
    while end < log.bytes.count {
      end = min(Int64(log.bytes.count), end + Int64.random(in: 1...400, using: &generator))
      cursor.extend(to: end, of: log, isFinal: end == log.bytes.count)
      while let line = try await cursor.next() { found.append(line.bytes) }
    }
    #expect(found.joined().elementsEqual(log.bytes))
    #expect(found.dropLast().allSatisfy { $0.last == 0x0a })
  }
}
