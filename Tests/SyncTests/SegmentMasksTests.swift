import Platform
import Redaction
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Masks in segments that are read a piece at a time.
@Suite(.tags(.small)) struct SegmentMasksTests {
  private typealias Part = (range: Range<StreamOffset>, bytes: [UInt8])

  private static let keyLine = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghABC=\n"
  private static let lines = [
    "a line of words without anything to mask\n", "DB_PASSWORD=hunter2hunter2hunter2\n",
    "using ghp_0123456789abcdefghijABCDEFGHIJ012345 now\n", "-----END RSA PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----\n" + String(repeating: keyLine, count: 40),
    "-----BEGIN RSA PRIVATE KEY-----\n" + String(repeating: keyLine, count: 300),
  ].map { Array($0.utf8) }

  /// A log in which little is masked.
  private static func log(_ length: Int, _ random: inout SeededGenerator) -> [UInt8] {
    var log: [UInt8] = []
    while log.count < length {
      for _ in 0..<Int.random(in: 0...400, using: &random) { log += lines[0] }
      log += lines.randomElement(using: &random) ?? []
    }
    return Array(log.prefix(length))
  }

  /// Segments that follow each other, overlap or leave gaps, in the order of reading.
  private static func parts(of log: [UInt8], _ random: inout SeededGenerator) -> [Part] {
    var parts: [Part] = []
    var start = 0
    while start < log.count {
      let end = min(log.count, start + Int.random(in: 1...40_000, using: &random))
      var bytes = Array(log[start..<end])
      // Another writer's segment may have other bytes.
      if Int.random(in: 0..<8, using: &random) == 0 { bytes = Self.log(bytes.count, &random) }
      parts.append((StreamOffset(start)..<StreamOffset(end), bytes))
      switch Int.random(in: 0..<8, using: &random) {
      case 0: start = end + Int.random(in: 1...200, using: &random)
      case 1: start = Int.random(in: start...end, using: &random)
      default: start = end
      }
    }
    return parts.sorted {
      ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
    }
  }

  /// What is masked in the bytes of all segments at once.
  private static func masked(in parts: [Part]) -> [Range<StreamOffset>] {
    var found: [Range<StreamOffset>] = []
    func examine(_ text: [UInt8], from start: StreamOffset) {
      found += Redactor.standard.redactions(in: text).map {
        start + ByteCount($0.range.lowerBound)..<start + ByteCount($0.range.upperBound)
      }
    }
    var (start, text): (StreamOffset, [UInt8]) = (.zero, [])
    for (range, bytes) in parts {
      let end = start + ByteCount(text.count)
      if text.isEmpty || range.lowerBound > end {
        examine(text, from: start)
        (start, text) = (range.lowerBound, bytes)
        continue
      }
      if range.lowerBound < end { examine(bytes, from: range.lowerBound) }
      if range.upperBound > end { text += bytes.dropFirst(Int(end - range.lowerBound)) }
    }
    examine(text, from: start)
    return found
  }

  private static func read(
    _ part: Part, into masks: inout SegmentMasks, upTo end: Int, _ random: inout SeededGenerator
  ) {
    masks.begin(part.range)
    var position = 0
    while position < end {
      let next = min(end, position + Int.random(in: 1...15_000, using: &random))
      part.bytes[position..<next].withUnsafeBytes { masks.add($0) }
      position = next
    }
  }

  @Test(arguments: SeededGenerator.cases(60))
  func `the masked segments are those of all bytes at once`(number: Int) {
    var random = SeededGenerator(case: number)
    let log = Self.log(Int.random(in: 1...300_000, using: &random), &random)
    let parts = Self.parts(of: log, &random)
    let stride = Int.random(in: 10_000...50_000, using: &random)
    var masks = SegmentMasks(of: parts.map(\.range), by: .standard, stride: stride)
    var readable: [Part] = []
    for part in parts {
      var next = masks
      // A segment may turn out to be damaged at any of its bytes.
      if Int.random(in: 0..<10, using: &random) == 0 {
        let end = Int.random(in: 0...part.bytes.count, using: &random)
        Self.read(part, into: &next, upTo: end, &random)
        continue
      }
      Self.read(part, into: &next, upTo: part.bytes.count, &random)
      next.endSegment()
      masks = next
      readable.append(part)
    }
    masks.finish()
    let masked = Self.masked(in: readable)
    for (range, _) in parts {
      let isMasked = masked.contains { $0.overlaps(range) }
      #expect(masks.isMasked(in: range) == isMasked, "\(range), stride \(stride)")
    }
  }

  @Test func `a key over three segments is masked in each of them`() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\n" + String(repeating: Self.keyLine, count: 30)
    let log = Array("\(key)-----END RSA PRIVATE KEY-----\nand more\n".utf8)
    let bounds = [0, 20, 900, 1_800, log.count - 5, log.count].map { StreamOffset($0) }
    let ranges = zip(bounds, bounds.dropFirst()).map { $0..<$1 }
    var masks = SegmentMasks(of: ranges, by: .standard)
    for range in ranges {
      masks.begin(range)
      log[range.indices].withUnsafeBytes { masks.add($0) }
      masks.endSegment()
    }
    masks.finish()
    #expect(ranges.map { masks.isMasked(in: $0) } == [false, true, true, true, false])
  }
}
