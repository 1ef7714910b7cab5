import Delta
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

/// Parts of a stream, compared with the same parts of the whole.
@Suite(.tags(.small)) struct PartsTests {
  /// Records with increasing times, some of them of several lines.
  private struct Writer {
    var time: Int64 = 1_769_092_205_000

    mutating func lines(_ count: Int, _ generator: inout SeededGenerator) -> [[UInt8]] {
      (0..<count).map { _ in
        time += Int64.random(in: 0...20_000, using: &generator)
        let level = Level.allCases.randomElement(using: &generator) ?? .info
        let scenario = ["{Sync} ", "{Login} "].randomElement(using: &generator) ?? ""
        let isRare = Int.random(in: 0..<40, using: &generator) == 0
        var text =
          "\(Timestamp(milliseconds: time)) [\(level.name)] [Net] \(isRare ? scenario : "")"
          + "\(generator.next())\n"
        for _ in 0..<max(0, Int.random(in: -3...6, using: &generator)) { text += "  and more\n" }
        return Array(text.utf8)
      }
    }
  }

  /// A log in up to three generations, edited by lines.
  private static func log(
    _ generator: inout SeededGenerator
  ) async throws -> (StoredGenerations, Writer) {
    var made = try StoredGenerations(
      maximumInstructions: [5, 500].randomElement(using: &generator) ?? 1)
    var writer = Writer()
    var lines: [[UInt8]] = []
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let more = writer.lines(Int.random(in: 1...300, using: &generator), &generator)
      lines += more
      // Ticks that end with a line, but not always with a record.
      var rest = Array(more.joined())[...]
      while !rest.isEmpty {
        let place = rest.indices.randomElement(using: &generator) ?? rest.startIndex
        let tick = rest[...(rest[place...].firstIndex(of: 0x0a) ?? place)].prefix(3000)
        let end = tick.lastIndex(of: 0x0a) ?? tick.startIndex
        try made.grow(Array(rest[...end]))
        rest = rest[(end + 1)...]
      }
      guard Bool.random(using: &generator) else { continue }
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: lines.removeFirst(lines.count / 3)
      case 1: lines.removeSubrange(lines.count / 3..<lines.count / 2)
      default:
        for number in 0..<lines.count where Int.random(in: 0..<50, using: &generator) == 0 {
          lines[number].replaceSubrange(32..<36, with: Array("****".utf8))
        }
      }
      let stream = Array(lines.joined())
      try made.replace(with: stream, in: [stream])
    }
    for _ in 0..<Int.random(in: 0...3, using: &generator) { try await made.coverSome(&generator) }
    return (made, writer)
  }

  private static func admitted(_ bytes: [UInt8], _ filter: RecordFilter) -> [[UInt8]] {
    var (filter, lines) = (filter, [[UInt8]]())
    bytes.withUnsafeBytes { filter.add($0) { lines.append(Array($0.bytes)) } }
    filter.finish { lines.append(Array($0.bytes)) }
    return lines
  }

  private static func admitted(
    _ parts: RangedStreamReader, _ ranges: [Range<StreamOffset>], _ filter: RecordFilter
  ) async throws -> [[UInt8]] {
    var (filter, lines, end) = (filter, [[UInt8]](), StreamOffset.zero)
    try await parts.read(ranges) { offset, bytes in
      if offset != end {
        filter.finish { lines.append(Array($0.bytes)) }
        filter.skip(to: Int64(offset))
      }
      end = offset + ByteCount(bytes.count)
      filter.add(bytes) { lines.append(Array($0.bytes)) }
    }
    filter.finish { lines.append(Array($0.bytes)) }
    return lines
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `a time span contains every matching record of the whole stream`(number: Int) async throws {
    try await Self.compareSpans(SeededGenerator(case: number))
  }

  /// No index shows a record that forms where two separate literals meet.
  @Test func `records formed where a delta's literals join are found`() async throws {
    try await Self.compareSpans(SeededGenerator(case: 226, seed: 31_415_926))
  }

  private static func compareSpans(_ generator: SeededGenerator) async throws {
    var generator = generator
    let (made, writer) = try await log(&generator)
    let remote = try await made.remote()
    let parts = try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: nil)
    for _ in 0..<20 {
      let first = Int64.random(in: 1_769_092_205_000...writer.time, using: &generator)
      let last = first + Int64.random(in: 0...200_000, using: &generator)
      let filter = RecordFilter(
        levels: [.all, .from(.error)].randomElement(using: &generator) ?? .all,
        since: Timestamp(milliseconds: first), until: Timestamp(milliseconds: last))
      let ranges = try await parts.span(first...last, levels: filter.levels.ranks)
      let read = try await admitted(parts, ranges, filter)
      #expect(read == admitted(made.stream, filter))

      let level = try #require(Level.allCases.randomElement(using: &generator))
      let rare = RecordFilter(levels: LevelSet([level]))
      let places = try await parts.span(nil, levels: rare.levels.ranks)
      let found = try await admitted(parts, places, rare)
      #expect(found == admitted(made.stream, rare))
    }
    for name in ["Sync", "Login", "none"] {
      var filter = RecordFilter()
      filter.scenarios = [name]
      let places = try await parts.span(nil, scenarios: [Array(name.utf8)])
      #expect(try await admitted(parts, places, filter) == admitted(made.stream, filter))
    }
  }

  @Test func `frames without the requested scenario are not fetched`() async throws {
    var made = try StoredGenerations()
    var ends: [Int64] = [0]
    for number in 0..<9 {
      let scenario = number == 4 ? "Sync" : "Login"
      let record = "2026-01-22T14:30:05.123Z [INFO] [Net] {\(scenario)} done\n"
      try made.grow(Array(String(repeating: record, count: 5).utf8))
      ends.append(Int64(made.stream.count))
    }
    let remote = try await made.remote()
    let parts = try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: nil)
    // A neighbour on each side shows which record the first line belongs to, and where the last
    // record ends.
    let ranges = try await parts.span(nil, scenarios: [Array("Sync".utf8)])
    #expect(ranges.map { Int64($0.lowerBound)..<Int64($0.upperBound) } == [ends[3]..<ends[6]])
    #expect(try await parts.span(nil, scenarios: [Array("none".utf8)]).isEmpty)
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `the ranges for the last lines contain those lines`(number: Int) async throws {
    var generator = SeededGenerator(case: number)
    let (made, _) = try await Self.log(&generator)
    let remote = try await made.remote()
    let parts = try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: nil)
    for count in Array(1...12) + [Int.random(in: 13...2000, using: &generator), .max] {
      let ranges = try await parts.last(lines: count)
      var bytes: [UInt8] = []
      try await parts.read(ranges) { bytes += $1 }
      #expect(bytes == made.stream.suffix(bytes.count))
      let lines = Self.admitted(bytes, RecordFilter()).suffix(count)
      #expect(lines == Self.admitted(made.stream, RecordFilter()).suffix(count))

      let filter = RecordFilter(levels: .from(.error))
      let trouble = try await parts.last(lines: count, levels: LevelSet.from(.error).ranks)
      let read = try await Self.admitted(parts, trouble, filter).suffix(count)
      #expect(read == Self.admitted(made.stream, filter).suffix(count))
    }
  }

  /// 6 MiB of log in one object and a small one: the last lines cost the index and one frame.
  @Test func `reading the last lines fetches only an index and a frame`() async throws {
    var made = try StoredGenerations()
    var generator = SeededGenerator(case: 4)
    var writer = Writer()
    let log = writer.lines(1500, &generator).map { record in
      record.dropLast() + Hex.text(EditScript.random(2000, &generator)).utf8 + [0x0a]
    }
    try made.grow(Array(log.joined()))
    let remote = try await made.remote()
    let stored = try #require(remote.segment(at: 0)).stored
    _ = made.store.takeTraffic()

    let parts = try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: nil)
    var bytes = 0
    try await parts.read(try await parts.last(lines: 10)) { bytes += $1.count }
    let tail = made.store.takeTraffic()
    #expect(tail.gets == 2 && tail.lists == 0, "\(tail)")
    #expect(
      ByteCount(tail.bytes) < stored / 2 && bytes <= SegmentEncoder.frameLength,
      "\(tail) of \(stored)")

    // A span in the last frame: that frame, and the one before, to show what its first lines belong
    // to.
    let ranges = try await parts.span(writer.time - 1000...writer.time)
    _ = made.store.takeTraffic()
    try await parts.read(ranges) { _, _ in }
    let span = made.store.takeTraffic()
    #expect(span.gets == 1 && ByteCount(span.bytes) < stored, "\(span) of \(stored)")
    #expect(try await parts.span(0...1).isEmpty)
    #expect(made.store.takeTraffic().gets == 0)
  }

  @Test func `a segment deleted while reading costs one listing`() async throws {
    var made = try StoredGenerations()
    var generator = SeededGenerator(case: 5)
    var writer = Writer()
    for _ in 0..<4 { try made.grow(Array(writer.lines(500, &generator).joined())) }
    let before = try await made.remote()
    try made.cover(before.segments)
    for name in before.segments { made.store[made.folder.key + name.fileName] = nil }
    let parts = try RangedStreamReader(of: before, upTo: before.end, in: made.store, knowing: nil)
    var bytes: [UInt8] = []
    _ = made.store.takeTraffic()
    try await parts.read(try await parts.last(lines: 700)) { bytes += $1 }
    #expect(bytes == made.stream.suffix(bytes.count) && !bytes.isEmpty)
    #expect(made.store.takeTraffic().lists == 1)
  }

  @Test func `reading missing or damaged segments is an error`() async throws {
    var made = try StoredGenerations()
    var generator = SeededGenerator(case: 6)
    var writer = Writer()
    for _ in 0..<4 { try made.grow(Array(writer.lines(2000, &generator).joined())) }
    let remote = try await made.remote()
    let last = try #require(remote.segments.last)
    let key = made.folder.key + last.fileName
    var object = try #require(made.store[key])
    object[20] ^= 1
    made.store[key] = object
    let damaged = try RangedStreamReader(of: remote, upTo: remote.end, in: made.store, knowing: nil)
    let error = await #expect(throws: ReplicaError.self) {
      try await damaged.read(try await damaged.last(lines: 5)) { _, _ in }
    }
    #expect(error?.detail.contains(last.fileName) == true)

    made.store[made.folder.key + remote.segments[1].fileName] = nil
    let gap = try await made.remote()
    let missing = try RangedStreamReader(of: gap, upTo: gap.end, in: made.store, knowing: nil)
    let gone = await #expect(throws: ReplicaError.self) { try await missing.last(lines: 5) }
    #expect(gone?.code == .missingBytes)
  }
}
