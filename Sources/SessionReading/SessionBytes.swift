import LogRecords
import Platform
import Replica
import SessionLog

/// A session's bytes by position, local or remote.
enum SessionBytes: PositionedBytes {
  case local(LocalStream)
  case remote(RangedStreamReader)
  /// From the store up to an offset, from this machine after it.
  case both(RangedStreamReader, upTo: StreamOffset, LocalStream)

  func read(_ range: Range<Int64>) async throws -> [UInt8] {
    var read: [UInt8] = []
    try await self.read([Range(range)]) { read += $1 }
    return read
  }

  /// Delivers ranges in pieces, each with its offset.
  ///
  /// - Parameter ranges: in order and disjoint.
  func read(
    _ ranges: [Range<StreamOffset>], _ body: (StreamOffset, UnsafeRawBufferPointer) throws -> Void
  ) async throws {
    switch self {
    case .local(let log): try Self.read(ranges, of: log, body)
    case .remote(let parts): try await parts.read(ranges, body)
    case .both(let parts, let end, let log):
      let there = ranges.map { $0.clamped(to: 0..<end) }.filter { !$0.isEmpty }
      try await parts.read(there, body)
      try Self.read(ranges.map { $0.clamped(to: end..<max(end, $0.upperBound)) }, of: log, body)
    }
  }

  /// Expects that nothing is missing in the store.
  func expectWhole() async throws {
    switch self {
    case .local: break
    case .remote(let parts), .both(let parts, _, _): try await parts.expectWhole()
    }
  }

  private static func read(
    _ ranges: [Range<StreamOffset>], of log: LocalStream,
    _ body: (StreamOffset, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    for range in ranges {
      var offset = range.lowerBound
      try log.forEachPiece(of: range) { bytes in
        try body(offset, bytes)
        offset += ByteCount(bytes.count)
      }
    }
  }
}
