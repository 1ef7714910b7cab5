import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.small)) struct StreamOffsetTests {
  @Test func `a stream offset is an integer in JSON`() throws {
    let epoch = Sidecar.RedactionEpoch(from: 1_099_511_627_776, rules: "r")
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let json = try encoder.encode(epoch)
    #expect(String(decoding: json, as: UTF8.self) == #"{"from":1099511627776,"rules":"r"}"#)
    #expect(try JSONDecoder().decode(Sidecar.RedactionEpoch.self, from: json) == epoch)
  }

  @Test func `the difference of stream offsets is a byte count`() {
    let (start, end): (StreamOffset, StreamOffset) = (10, 25)
    let count: ByteCount = end - start
    #expect(count == 15 && start + count == end && end - count == start)
    #expect((start..<end).byteCount == count && (start..<start).byteCount == 0)
    #expect(start - end == -15)
  }

  @Test func `file positions and stream offsets differ by the base`() {
    let source = Sidecar.Source(
      path: "/log", device: 1, inode: 1, base: 100, length: nil, headLength: 0, headHash: "")
    #expect(source.position(of: 20) == 120 && source.offset(of: 120) == 20)
  }
}
