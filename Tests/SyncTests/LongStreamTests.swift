import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A stream ends at the largest offset that names can express.
@Suite(.tags(.small)) struct LongStreamTests {
  @Test func `no name is made for an offset beyond its digits`() throws {
    let session = try #require(SessionID("20260122t143005z-aaaaaaaa"))
    let last = SegmentName.highestOffset
    try RemoteWriter.expectName(for: last, of: session)
    #expect(throws: ReplicaError.self) {
      try RemoteWriter.expectName(for: last + 1, of: session)
    }
    func name(_ end: StreamOffset) -> SegmentName {
      SegmentName(
        session: session, generation: 1, range: (end - 1)..<end, hash: "0123456789abcdef",
        stored: 9)
    }
    #expect(SegmentName(name(last).fileName) == name(last))
    #expect(SegmentName(name(last + 1).fileName) == nil)
  }
}
