import TestSupport
import Testing

@testable import Delta

@Suite(.tags(.small)) struct SegmentTests {
  private func encode(_ frames: [[UInt8]], link: Link = .start) throws -> [UInt8] {
    let encoder = try SegmentEncoder()
    for frame in frames {
      try frame.withUnsafeBytes {
        try encoder.append(
          $0, lines: frame.count { $0 == 10 }, times: 5...9, levels: [0, 0, 3, 0, 0, 1, 0])
      }
    }
    return encoder.finish(link: link)
  }

  private func decode(_ segment: [UInt8], _ length: Int) throws -> [UInt8] {
    var out: [UInt8] = []
    try SegmentDecoder().decode(segment, rawLength: length) { out.append(contentsOf: $0) }
    return out
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `a segment decodes to the encoded frames, link and index`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let frames = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
      NastyText.make(Int.random(in: 1...50, using: &generator), &generator)
    }
    let link = Link(before: frames[0][...])
    let segment = try encode(frames, link: link)
    let whole = frames.flatMap { $0 }
    #expect(try decode(segment, whole.count) == whole)
    let index = try SegmentIndex.decode(endOf: segment[...]).index
    #expect(index.link == link)
    #expect(index.frames.map(\.rawLength) == frames.map(\.count))
    #expect(index.frames.allSatisfy { $0.times == 5...9 && $0.levels == [0, 0, 3, 0, 0, 1, 0] })
  }

  @Test(arguments: SeededGenerator.cases(2000))
  func `a damaged segment fails or decodes to the original bytes`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let bytes = NastyText.make(20, &generator)
    var segment = try encode([bytes])
    let victim = Int.random(in: 0..<segment.count, using: &generator)
    segment[victim] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    // A flipped bit may be where the format ignores it; then the result must be the same.
    if let decoded = try? decode(segment, bytes.count) { #expect(decoded == bytes) }
    let cut = Array(segment.prefix(Int.random(in: 0..<segment.count, using: &generator)))
    #expect(throws: SegmentError.self) { try decode(cut, bytes.count) }
  }

  @Test func `the index of a one-line segment takes at most 120 bytes`() throws {
    let frame = Array("2026-01-22T14:30:05.123Z [INFO] [Net] hello\n".utf8)
    let segment = try encode([frame], link: Link(before: ArraySlice(repeating: 1, count: 9000)))
    let length = try SegmentIndex.decode(endOf: segment[...]).length
    #expect(length <= 120)
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `any range of a segment reads like the same range of the whole`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let frames = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
      EditScript.random(Int.random(in: 1...3000, using: &generator), &generator)
    }
    let whole = frames.flatMap { $0 }
    var reader = try SegmentReader(
      try encode(frames), generation: 1, length: Int64(whole.count), decoder: SegmentDecoder())
    for _ in 0..<20 {
      let start = Int.random(in: 0...whole.count, using: &generator)
      let end = Int.random(in: start...whole.count, using: &generator)
      var part: [UInt8] = []
      try reader.read(Int64(start)..<Int64(end)) { part += $0 }
      #expect(part == Array(whole[start..<end]))
    }
    #expect(throws: SegmentError.self) {
      try reader.read(Int64(whole.count - 1)..<Int64(whole.count + 1)) { _ in }
    }
    #expect(throws: SegmentError.self) { try reader.read(-1..<1) { _ in } }
  }

  @Test func `a delta segment stores only its literals`() throws {
    var delta = DeltaInstructions()
    delta.append(.literal(3))
    delta.append(.copy(StreamRange(generation: 1, range: 7..<12)))
    delta.append(.literal(1))
    let encoder = try SegmentEncoder()
    try Array("abcd".utf8).withUnsafeBytes {
      try encoder.append($0, lines: 0, times: nil, levels: [])
    }
    let segment = encoder.finish(link: .start, delta: delta)
    let decoder = try SegmentDecoder()
    var reader = try SegmentReader(segment, generation: 2, length: 9, decoder: decoder)
    #expect(reader.index.instructions == delta)
    var literals: [UInt8] = []
    try reader.read(1..<3) { literals += $0 }
    try reader.read(8..<9) { literals += $0 }
    #expect(literals == Array("bcd".utf8))
    #expect(throws: SegmentError.self) { try reader.read(2..<4) { _ in } }
    // It is not a plain segment, not even of as many bytes as it holds, nor of generation 1.
    for length in [4, 9] {
      #expect(throws: SegmentError.self) { try decoder.decode(segment, rawLength: length) { _ in } }
    }
    #expect(throws: SegmentError.self) {
      try SegmentReader(segment, generation: 1, length: 9, decoder: decoder)
    }
  }

  @Test func `frames of invalid length or number are refused`() throws {
    for (stored, raw) in [(0, 1), (1, 0), (1 << 41, 1), (1, 1 << 40), (1, 2 << 20 + 1)] {
      let frame = FrameSummary(
        storedLength: stored, rawLength: raw, lines: 0, times: nil, levels: [])
      let index = SegmentIndex(frames: [frame], link: .start).encoded()
      #expect(throws: SegmentError.self) { try SegmentIndex.decode(endOf: index[...]) }
    }
    let many = Array(
      repeating: FrameSummary(
        storedLength: 1 << 40, rawLength: 2 << 20, lines: 0, times: nil, levels: []), count: 80_000)
    let index = SegmentIndex(frames: many, link: .start).encoded()
    #expect(throws: SegmentError.self) { try decode(index, 80_000 * (2 << 20)) }
    let tooMany = SegmentIndex(frames: many + many, link: .start).encoded()
    #expect(throws: SegmentError.self) { try SegmentIndex.decode(endOf: tooMany[...]) }
  }

  private static func frame(_ scenarios: [String]?) -> FrameSummary {
    FrameSummary(
      storedLength: 1, rawLength: 1, lines: 0, times: nil,
      levels: Array(repeating: 0, count: FrameSummary.levelCount),
      scenarios: scenarios.map { $0.map { Array($0.utf8) } })
  }

  @Test func `a segment's index restores the scenarios of its frames`() throws {
    let names = (0..<32).map { "s\($0)" }
    for rows in [
      [["Sync"], [], ["Login", "Sync"]], [names], [[], names, [names[31]]],
    ] as [[[String]]] {
      let index = SegmentIndex(frames: rows.map(Self.frame), link: .start)
      let read = try SegmentIndex.decode(endOf: index.encoded()[...]).index
      #expect(
        read.frames.map { Set($0.scenarios ?? []) } == index.frames.map { Set($0.scenarios ?? []) })
    }
    // As in the format document: names, then a set of bits for each frame.
    let rows = [["Sync"], [], ["Login", "Sync"]].map(Self.frame)
    let encoded = SegmentIndex(frames: rows, link: .start).encoded()
    let section: [UInt8] = [5, 15, 2, 4] + "Sync".utf8 + [5] + "Login".utf8 + [1, 0, 3]
    #expect(encoded.dropLast(16).suffix(section.count).elementsEqual(section))
  }

  /// Without the section, the scenarios of all frames are unknown.
  @Test(
    arguments: [
      [[], []], [["Sync"], nil], [(0..<33).map { "s\($0)" }],
      [[String(repeating: "x", count: 257)]],
    ] as [[[String]?]])
  func `an index names no scenarios unless it knows those of every frame`(
    _ rows: [[String]?]
  ) throws {
    let index = SegmentIndex(frames: rows.map(Self.frame), link: .start)
    let plain = SegmentIndex(frames: rows.map { _ in Self.frame(nil) }, link: .start)
    #expect(index.encoded() == plain.encoded())
    #expect(try SegmentIndex.decode(endOf: index.encoded()[...]).index == plain)
  }

  /// Too many names, a bit without a name, too few or too many frames; no names, names that are empty,
  /// equal, not used, or not in the order of their first use.
  @Test(
    arguments: [
      [33], [1, 1, 65, 2], [1, 1, 65], [1, 1, 65, 1, 0], [1, 9, 65, 1], [0, 0], [1, 0, 1],
      [2, 1, 65, 1, 65, 3], [1, 1, 65, 0], [2, 1, 65, 1, 66, 2],
    ])
  func `a malformed section of scenarios is an error`(_ section: [UInt8]) throws {
    let known = SegmentIndex(frames: [Self.frame(nil)], link: .start)
    let sections = known.encoded().dropFirst(8).dropLast(16) + [5, UInt8(section.count)] + section
    #expect(throws: SegmentError.self) {
      try SegmentIndex.decode(endOf: index(of: Array(sections), like: known)[...])
    }
  }

  /// An index of other sections.
  private func index(of sections: [UInt8], like known: SegmentIndex) -> [UInt8] {
    var index: [UInt8] = []
    index.append(littleEndian: UInt32(0x184D_2A5E))
    index.append(littleEndian: UInt32(sections.count + 16))
    index += sections
    index.append(littleEndian: UInt32(sections.count + 24))
    index += sections.withUnsafeBytes { ContentHash(of: $0) }.encoded.prefix(4)
    index += known.encoded().suffix(8)
    return index
  }

  @Test func `unknown index sections are skipped`() throws {
    let known = SegmentIndex(frames: [], link: Link(before: [1, 2, 3]))
    let sections = [99, 2, 7, 7] + known.encoded().dropFirst(8).dropLast(16)
    let index = index(of: sections, like: known)
    #expect(try SegmentIndex.decode(endOf: index[...]).index == known)
  }

  @Test func `an unknown segment version is refused`() throws {
    var segment = try encode([Array("a\n".utf8)])
    let index = try SegmentIndex.decode(endOf: segment[...]).index
    #expect(index.rawLength == 2)
    segment[segment.count - 8] = 9
    #expect(throws: SegmentError.self) { try SegmentIndex.decode(endOf: segment[...]) }
  }

  @Test func `a segment of another length than expected is refused`() throws {
    let segment = try encode([Array("abc\n".utf8)])
    #expect(throws: SegmentError.self) { try decode(segment, 3) }
  }

  @Test func `a link covers the last 4096 bytes`() {
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    #expect(Link(before: bytes[...]) == Link(before: bytes.suffix(4096)))
    #expect(Link(before: bytes[...]) != Link(before: bytes.suffix(4095)))
    #expect(Link.start.covered == 0)
  }
}
