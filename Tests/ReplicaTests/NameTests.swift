import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.small)) struct NameTests {
  private static let id = "20260122t143005z-k3f9a7c2"

  /// A name with one byte changed, missing or added.
  private static func damaged(
    _ name: String, using generator: inout SeededGenerator
  ) -> String {
    var bytes = Array(name.utf8)
    let victim = Int.random(in: 0..<bytes.count, using: &generator)
    let byte =
      Bool.random(using: &generator)
      ? UInt8.random(in: 0x20...0x7e, using: &generator) : bytes.randomElement(using: &generator)
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: bytes.remove(at: victim)
    case 1: bytes.insert(byte ?? 0x30, at: victim)
    default: bytes[victim] = byte ?? 0x30
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: SeededGenerator.cases(2000))
  func `segment names survive formatting and parsing`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let start = StreamOffset(Int64.random(in: 0..<(1 << 39), using: &generator))
    let generation = Int.random(in: 1...999, using: &generator)
    let name = SegmentName(
      session: try #require(SessionID(Self.id)), generation: generation,
      range: start..<(start + ByteCount(Int64.random(in: 1...(1 << 24), using: &generator))),
      hash: "0123456789abcdef",
      stored: ByteCount(Int64.random(in: 0...(8 << 20), using: &generator)),
      kind: generation > 1 && Bool.random(using: &generator) ? .delta : .plain)
    #expect(SegmentName(name.fileName) == name)
    #expect(name.fileName.hasSuffix(name.kind == .plain ? ".log.zst" : ".delta.zst"))
    let text = Self.damaged(name.fileName, using: &generator)
    // Text that parses as a name is written the same way.
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
    "\(id).g1.000000000000-000000000001.0123456789abcdef.5.delta.zst",
    "\(id).g02.000000000000-000000000001.0123456789abcdef.5.delta.zst",
    "\(id).g2.000000000000-000000000001.0123456789abcdef.5.copy.zst",
    "\(id).g1000000.000000000000-000000000001.0123456789abcdef.5.log.zst",
    "../\(id).g1.000000000000-000000000001.0123456789abcdef.5.log.zst",
  ]) func `an invalid segment name is refused`(text: String) { #expect(SegmentName(text) == nil) }

  @Test func `revision names have the documented form`() throws {
    let name = RevisionName(
      session: try #require(SessionID(Self.id)), number: 3, status: .terminated,
      length: 4_194_304, json: Array("{}".utf8))
    #expect(name.fileName == "\(Self.id).s0003.terminated.000004194304.44136fa355b3678a.2.json")
    #expect(RevisionName(name.fileName) == name)
    #expect(RevisionName("\(Self.id).s3.terminated.000004194304.44136fa355b3678a.2.json") == nil)
    let second = RevisionName(
      session: name.session, number: 3, status: .active, generation: 2, length: 4_194_304,
      json: Array("{}".utf8))
    #expect(second.fileName == "\(Self.id).s0003.active.g2.000004194304.44136fa355b3678a.2.json")
  }

  @Test(arguments: SeededGenerator.cases(2000))
  func `revision names survive formatting and parsing`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let name = RevisionName(
      session: try #require(SessionID(Self.id)),
      number: Int.random(in: 1...99_999, using: &generator),
      status: try #require([SessionStatus.active, .crashed].randomElement(using: &generator)),
      generation: Bool.random(using: &generator) ? 1 : .random(in: 1...999_999, using: &generator),
      length: StreamOffset(Int64.random(in: 0..<(1 << 39), using: &generator)),
      json: [UInt8.random(in: 0...255, using: &generator)])
    #expect(RevisionName(name.fileName) == name)
    let text = Self.damaged(name.fileName, using: &generator)
    if let read = RevisionName(text) { #expect(read.fileName == text) }
  }

  @Test(arguments: ["g1.", "g0.", "g02.", "g1000000.", "2.", "g2.g2.", "g."])
  func `a revision name with an invalid generation is refused`(generation: String) {
    let name = "\(Self.id).s0003.active.\(generation)000004194304.44136fa355b3678a.2.json"
    #expect(RevisionName(name) == nil)
  }
}

@Suite(.tags(.small)) struct RemoteSessionTests {
  private func session(
    _ ranges: [Range<StreamOffset>], generation: Int = 1
  ) throws -> RemoteSession {
    let id = try #require(SessionID("20260122t143005z-k3f9a7c2"))
    let segments = ranges.map {
      SegmentName(
        session: id, generation: generation, range: $0, hash: "0123456789abcdef", stored: 1)
    }
    return RemoteSession(
      folder: SessionFolder(device: "d", session: id), session: id, segments: segments)
  }

  @Test(
    arguments: [
      ([], 0, 0), ([0..<10], 10, 1), ([0..<10, 10..<20], 20, 2), ([0..<10, 12..<20], 10, 1),
      ([5..<10], 0, 0), ([0..<10, 10..<20, 0..<20], 20, 1),
      ([0..<10, 10..<20, 0..<20, 20..<25], 25, 2),
    ] as [([Range<StreamOffset>], StreamOffset, Int)])
  func `the mark is where the segments' contiguous cover ends`(
    ranges: [Range<StreamOffset>], mark: StreamOffset, cover: Int
  ) throws {
    let remote = try session(ranges)
    #expect(remote.mark == mark)
    #expect(remote.cover(upTo: mark).count == cover)
    #expect(remote.overlaps.isEmpty)
    let later = try session(ranges, generation: 2)
    #expect(later.mark == 0 && later.mark(of: 2) == mark)
  }

  @Test func `segments that overlap without containment are found`() throws {
    #expect(try session([0..<10, 5..<15]).overlaps.count == 1)
    #expect(try session([0..<20, 5..<15, 15..<20]).overlaps.isEmpty)
  }

  @Test func `of two revisions with one number the sealed and then the longer one counts`() throws {
    let first = try session([])
    func revision(_ status: SessionStatus, _ length: StreamOffset, _ json: String = "")
      -> RevisionName
    {
      RevisionName(
        session: first.session, number: 3, status: status, generation: 1, length: length,
        json: Array(json.utf8))
    }
    let seal = revision(.crashed, 10)
    let rows = [
      ([revision(.active, 20), seal], seal),
      ([seal, revision(.terminated, 9)], seal),
      ([revision(.active, 5), revision(.active, 20)], revision(.active, 20)),
    ]
    for (revisions, expected) in rows {
      for order in [revisions, revisions.reversed()] {
        let remote = RemoteSession(
          folder: first.folder, session: first.session, revisions: order)
        #expect(remote.revision == expected)
      }
    }
    let equal = [revision(.crashed, 10, "a"), revision(.crashed, 10, "b")]
    let picked = [equal, equal.reversed()].map {
      RemoteSession(folder: first.folder, session: first.session, revisions: $0).seal
    }
    #expect(picked[0] == picked[1])
  }

  @Test func `the newest revision determines the generation`() throws {
    let first = try session([0..<10, 10..<20, 5..<12])
    let second = ([0..<15, 15..<18] as [Range<StreamOffset>]).map {
      SegmentName(
        session: first.session, generation: 2, range: $0, hash: "0123456789abcdef", stored: 1,
        kind: .delta)
    }
    var remote = RemoteSession(
      folder: first.folder, session: first.session, segments: second + first.segments)
    #expect(remote.generation == 1 && remote.mark == 20 && remote.overlaps.count == 2)
    #expect(remote.mark(of: 2) == 18 && remote.mark(of: 3) == 0)
    #expect(remote.segment(at: 16, of: 2)?.range == 15..<18)

    remote = RemoteSession(
      folder: first.folder, session: first.session, segments: remote.segments,
      revisions: [(1, 1), (3, 2), (2, 3)].map { number, generation in
        RevisionName(
          session: first.session, number: number, status: .active, generation: generation,
          length: 18, json: [])
      })
    #expect(remote.generation == 2 && remote.mark == 18 && remote.overlaps.isEmpty)
    #expect(remote.segment(at: 3)?.kind == .delta)
    #expect(remote.cover(upTo: 15).count == 1 && remote.cover(upTo: 20, of: 1).count == 2)
  }
}

/// An object too large for any writer has a foreign name.
@Suite(.tags(.small)) struct LargestObjectTests {
  private static let id = "20260122t143005z-k3f9a7c2"

  @Test func `a name with a size beyond the limit is foreign`() {
    func segment(_ stored: ByteCount) -> SegmentName? {
      SegmentName("\(Self.id).g1.000000000000-000004194304.0123456789abcdef.\(stored).log.zst")
    }
    func revision(_ stored: ByteCount) -> RevisionName? {
      RevisionName("\(Self.id).s0003.active.000004194304.0123456789abcdef.\(stored).json")
    }
    #expect(segment(8 << 20) != nil && segment(8 << 20 + 1) == nil)
    #expect(revision(1 << 20) != nil && revision(1 << 20 + 1) == nil)
  }

  @Test func `an object in the folder of another day than its session's is skipped`() async throws {
    let store = MemoryStore()
    for day in ["2026-01-22", "2026-01-23"] {
      let folder = SessionFolder(device: "d", day: day)
      store[folder.key + "\(Self.id).g1.000000000000-000000000001.0123456789abcdef.5.log.zst"] =
        [0, 0, 0, 0, 0]
      let listed = try await FolderListing(folder, in: store).sessions
      #expect(listed.keys.map(\.day) == (day == "2026-01-22" ? [day] : []))
    }
  }

  /// A listed object larger than any of ours is not a truncated upload, which would need repair.
  @Test func `a listed object beyond the size limit is skipped`() async throws {
    let folder = SessionFolder(device: "d", day: "2026-01-22")
    let names = (1...3).map { number in
      "\(Self.id).g1.\(number)00000000000-\(number)00000000001.0123456789abcdef.5.log.zst"
    }
    let store = MemoryStore()
    store[folder.key + names[0]] = [UInt8](repeating: 0, count: 8 << 20 + 1)
    store[folder.key + names[1]] = [0, 0, 0, 0]
    store[folder.key + names[2]] = [0, 0, 0, 0, 0]
    let remote = try await FolderListing(folder, in: store).sessions.values.first
    #expect(remote?.segments.map(\.fileName) == [names[2]])
    #expect(remote?.damagedSegments.map(\.name.fileName) == [names[1]])
    #expect(remote?.keys.count == 3)
  }
}

@Suite(.tags(.small)) struct SegmentGroupTests {
  /// Stored sizes of segments of 10 bytes each, the limit, and the ranges of the groups in tens.
  @Test(
    arguments: [
      ([], 100, []), ([1], 100, []), ([1, 1], 100, [0..<2]), ([1, 25, 1], 100, []),
      ([1, 1, 25, 1, 1, 1], 100, [0..<2, 3..<6]), ([20, 20, 20, 20, 20, 20], 100, [0..<5]),
      ([24, 24, 24, 24, 24, 24], 100, [0..<4, 4..<6]), ([100, 1, 1], 100, [1..<3]),
    ] as [([ByteCount], ByteCount, [Range<Int>])])
  func `adjacent small segments are grouped up to the limit`(
    stored: [ByteCount], limit: ByteCount, groups: [Range<Int>]
  ) throws {
    let id = try #require(SessionID("20260122t143005z-k3f9a7c2"))
    let segments = stored.enumerated().map { number, stored in
      SegmentName(
        session: id, generation: 1,
        range: StreamOffset(number * 10)..<StreamOffset(number * 10 + 10),
        hash: "0123456789abcdef", stored: stored)
    }
    let found = SegmentGroup.groups(of: segments, limit: limit)
    #expect(found.map { Int($0.range.lowerBound) / 10..<Int($0.range.upperBound) / 10 } == groups)
    #expect(
      found.allSatisfy { $0.stored <= limit && ByteCount($0.count) == $0.range.byteCount / 10 })
    // As many as fit into a length, however little they take.
    let short = SegmentGroup.groups(of: segments, limit: limit, longest: 20)
    #expect(short.allSatisfy { $0.count == 2 } && short.isEmpty == found.isEmpty)
  }
}
