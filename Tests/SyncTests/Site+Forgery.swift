import Crypto
import Delta
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport

extension Site {
  /// Puts an object whose name fits a log, which anybody can read in the store, and that holds nothing of
  /// it.
  @discardableResult
  func forge(insteadOf bytes: [UInt8], of session: SessionID) async throws -> SegmentName {
    let object = Array("not a log\n".utf8)
    let name = SegmentName(
      session: session, generation: 1, range: 0..<StreamOffset(bytes.count),
      hash: String(Hex.text(SHA256.hash(data: bytes)).prefix(16)),
      stored: ByteCount(object.count))
    _ = try await store.put(try await remote(session).folder.key + name.fileName, object)
    return name
  }

  /// Puts a valid segment with other bytes than the log's, like somebody who may write to the store.
  @discardableResult
  func forge(
    _ bytes: [UInt8], at start: StreamOffset, of session: SessionID
  ) async throws -> SegmentName {
    let encoder = try SegmentEncoder()
    try bytes.withUnsafeBytes {
      try encoder.append($0, lines: 1, times: nil, levels: [0, 0, 1, 0, 0, 0, 0])
    }
    let object = encoder.finish(link: Link(before: []))
    let name = SegmentName(
      session: session, generation: 1, range: start..<start + ByteCount(bytes.count),
      hash: String(Hex.text(SHA256.hash(data: bytes)).prefix(16)),
      stored: ByteCount(object.count))
    _ = try await store.put(try await remote(session).folder.key + name.fileName, object)
    return name
  }
}
