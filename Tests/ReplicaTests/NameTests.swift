import ObjectStore
import Replica
import SessionLog
import TestSupport
import Testing

@Suite struct NameTests {
  private static let id = "20260122t143005z-k3f9a7c2"

  @Test(arguments: SeededGenerator.cases(2000)) func segmentNamesRoundTrip(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let start = Int64.random(in: 0..<(1 << 39), using: &generator)
    let name = SegmentName(
      session: try #require(SessionID(Self.id)),
      generation: Int.random(in: 1...999, using: &generator),
      range: start..<(start + Int64.random(in: 1...(1 << 24), using: &generator)),
      hash: "0123456789abcdef", stored: Int64.random(in: 0...(8 << 20), using: &generator))
    #expect(SegmentName(name.fileName) == name)
    let victim = Int.random(in: 0..<name.fileName.count, using: &generator)
    var bytes = Array(name.fileName.utf8)
    bytes[victim] = UInt8.random(in: 0x20...0x7e, using: &generator)
    let text = String(decoding: bytes, as: UTF8.self)
    // Whatever is read as a name is written the same way.
    if let read = SegmentName(text) { #expect(read.fileName == text) }
  }

  @Test(arguments: [
    "", ".", "\(id).g1.000000000000-000000000000.0123456789abcdef.5.log.zst",
    "\(id).g0.000000000000-000000000001.0123456789abcdef.5.log.zst",
    "\(id).g1.000000000002-000000000001.0123456789abcdef.5.log.zst",
    "\(id).g1.0-1.0123456789abcdef.5.log.zst",
    "\(id).g1.000000000000-000000000001.0123456789ABCDEF.5.log.zst",
    "\(id).g1.000000000000-000000000001.0123456789abcdef.05.log.zst",
    "\(id).g1.000000000000-000000000001.0123456789abcdef.5.log.zst.tmp",
    "../\(id).g1.000000000000-000000000001.0123456789abcdef.5.log.zst",
  ]) func notASegment(text: String) { #expect(SegmentName(text) == nil) }

  @Test func revisionNamesRoundTrip() throws {
    let name = RevisionName(
      session: try #require(SessionID(Self.id)), number: 3, status: .terminated,
      length: 4_194_304, json: Array("{}".utf8))
    #expect(name.fileName == "\(Self.id).s0003.terminated.000004194304.44136fa355b3678a.2.json")
    #expect(RevisionName(name.fileName) == name)
    #expect(RevisionName("\(Self.id).s3.terminated.000004194304.44136fa355b3678a.2.json") == nil)
  }
}

@Suite struct RemoteSessionTests {
  private func session(_ ranges: [Range<Int64>]) throws -> RemoteSession {
    let id = try #require(SessionID("20260122t143005z-k3f9a7c2"))
    let segments = ranges.map {
      SegmentName(session: id, generation: 1, range: $0, hash: "0123456789abcdef", stored: 1)
    }
    return RemoteSession(
      folder: SessionFolder(device: "d", session: id), session: id, segments: segments)
  }

  @Test(
    arguments: [
      ([], 0, 0), ([0..<10], 10, 1), ([0..<10, 10..<20], 20, 2), ([0..<10, 12..<20], 10, 1),
      ([5..<10], 0, 0), ([0..<10, 10..<20, 0..<20], 20, 1),
      ([0..<10, 10..<20, 0..<20, 20..<25], 25, 2),
    ] as [([Range<Int64>], Int64, Int)]) func mark(
      ranges: [Range<Int64>], mark: Int64, cover: Int
    ) throws
  {
    let remote = try session(ranges)
    #expect(remote.mark == mark)
    #expect(remote.cover(upTo: mark).count == cover)
    #expect(remote.overlaps.isEmpty)
  }

  @Test func crossingSegmentsAreUnlawful() throws {
    #expect(try session([0..<10, 5..<15]).overlaps.count == 1)
    #expect(try session([0..<20, 5..<15, 15..<20]).overlaps.isEmpty)
  }
}

@Suite struct SegmentGroupTests {
  /// Stored sizes of segments of 10 bytes each, the limit, and the ranges of the groups in tens.
  @Test(
    arguments: [
      ([], 100, []), ([1], 100, []), ([1, 1], 100, [0..<2]), ([1, 25, 1], 100, []),
      ([1, 1, 25, 1, 1, 1], 100, [0..<2, 3..<6]), ([20, 20, 20, 20, 20, 20], 100, [0..<5]),
      ([24, 24, 24, 24, 24, 24], 100, [0..<4, 4..<6]), ([100, 1, 1], 100, [1..<3]),
    ] as [([Int64], Int64, [Range<Int64>])]) func groups(
      stored: [Int64], limit: Int64, groups: [Range<Int64>]
    ) throws
  {
    let id = try #require(SessionID("20260122t143005z-k3f9a7c2"))
    let segments = stored.enumerated().map { number, stored in
      SegmentName(
        session: id, generation: 1, range: Int64(number) * 10..<Int64(number) * 10 + 10,
        hash: "0123456789abcdef", stored: stored)
    }
    let found = SegmentGroup.groups(of: segments, limit: limit)
    #expect(found.map { $0.range.lowerBound / 10..<$0.range.upperBound / 10 } == groups)
    #expect(found.allSatisfy { $0.stored <= limit && $0.count == $0.range.count / 10 })
  }
}
