import Delta
import Foundation
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Segments of logs that take little when compressed, or as copies, have a bounded length, too.
@Suite(.tags(.medium)) struct LongSegmentTests {
  private static let longest: ByteCount = 64 << 10

  @Test(.shiftedTime) func `a rewritten file is sent in delta segments of bounded length`()
    async throws
  {
    var folder = try AttachedFolder("app.log")
    folder.site.limits.longestSegment = Self.longest
    try folder.append(0..<8000, to: "app.log")
    for _ in 0..<4 { try await folder.tick() }
    let former = try String(contentsOfFile: folder.file("app.log"), encoding: .utf8)
    try #require(try await folder.onlyRemote() == former)
    let text = former.replacingOccurrences(of: "line 100 ", with: "changed line 100 ")
    try text.write(toFile: folder.file("new"), atomically: false, encoding: .utf8)
    try folder.rename("new", to: "app.log")
    try await folder.tick()
    #expect(try await folder.onlyRemote() == text)
    let session = try #require(folder.sidecars().first).sessionId
    let segments = try await folder.site.remote(session).segments(of: 2)
    // A block is not divided.
    let most = Self.longest + ByteCount(BlockSplitter.maximum)
    #expect(segments.count >= 4 && segments.allSatisfy { $0.length < most })
    #expect(segments.count { $0.kind == .delta } >= 4)
  }

  @Test func `a log that compresses well is sent in segments of bounded length`() async throws {
    let site = try site()
    let text = (0..<4000).map(Self.line).joined(separator: "\n") + "\n"
    let session = try site.local.session(Array(text.utf8))
    try await site.upload()
    try await site.expectSealedAndEqual(session)
    let segments = try await site.remote(session).cover(upTo: .max)
    // The frame that reaches the limit is not divided.
    let most = Self.longest + ByteCount(try site.context().objectLimit.frameLength)
    #expect(segments.count >= 4 && segments.allSatisfy { $0.length < most })
  }

  @Test func `the segments that replace small ones at the end have a bounded length`()
    async throws
  {
    let site = try site()
    let writer = try site.local.writer()
    for tick in 0..<20 {
      for number in 0..<100 { writer.print(Self.line(tick * 100 + number)) }
      try await site.upload()
    }
    try writer.end(.exit(0))
    try await site.upload()
    try await site.expectSealedAndEqual(writer.session)
    let segments = try await site.remote(writer.session).cover(upTo: .max)
    #expect((4..<20).contains(segments.count))
    #expect(segments.allSatisfy { $0.length <= Self.longest })
  }

  private func site() throws -> Site {
    var site = try Site()
    (site.limits.largestObject, site.limits.smallestObject) = (32 << 10, 8 << 10)
    site.limits.longestSegment = Self.longest
    return site
  }

  private static func line(_ number: Int) -> String {
    "line \(number) \(String(repeating: "a", count: 90))"
  }
}
