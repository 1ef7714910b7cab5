import Delta
import TestSupport
import Testing

@Suite struct SegmentTests {
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

  @Test(arguments: SeededGenerator.cases(400)) func roundTrip(number: Int) throws {
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

  @Test(arguments: SeededGenerator.cases(2000)) func damageIsAnErrorNeverOtherBytes(
    number: Int
  ) throws {
    var generator = SeededGenerator(case: number)
    let bytes = NastyText.make(20, &generator)
    var segment = try encode([bytes])
    let victim = Int.random(in: 0..<segment.count, using: &generator)
    segment[victim] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    // A flipped bit may stand where the format ignores it; what comes out must be the same then.
    if let decoded = try? decode(segment, bytes.count) { #expect(decoded == bytes) }
    let cut = Array(segment.prefix(Int.random(in: 0..<segment.count, using: &generator)))
    #expect(throws: SegmentError.self) { try decode(cut, bytes.count) }
  }

  @Test func indexOfATickIsSmall() throws {
    let frame = Array("2026-01-22T14:30:05.123Z [INFO] [Net] hello\n".utf8)
    let segment = try encode([frame], link: Link(before: ArraySlice(repeating: 1, count: 9000)))
    let length = try SegmentIndex.decode(endOf: segment[...]).length
    #expect(length <= 120)
  }

  @Test func unknownSectionsAreSkippedAndVersionsAreNot() throws {
    var segment = try encode([Array("a\n".utf8)])
    let index = try SegmentIndex.decode(endOf: segment[...]).index
    #expect(index.rawLength == 2)
    segment[segment.count - 8] = 9
    #expect(throws: SegmentError.self) { try SegmentIndex.decode(endOf: segment[...]) }
  }

  @Test func anotherLengthThanPromisedIsRefused() throws {
    let segment = try encode([Array("abc\n".utf8)])
    #expect(throws: SegmentError.self) { try decode(segment, 3) }
  }

  @Test func linkCoversTheLast4096Bytes() {
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    #expect(Link(before: bytes[...]) == Link(before: bytes.suffix(4096)))
    #expect(Link(before: bytes[...]) != Link(before: bytes.suffix(4095)))
    #expect(Link.start.covered == 0)
  }
}
