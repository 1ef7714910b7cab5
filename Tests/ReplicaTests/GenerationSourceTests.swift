import Delta
import Foundation
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

/// The delta segments of a new generation.
@Suite(.tags(.medium)) struct GenerationSourceTests {
  private let local: TestHome

  init() throws { local = try TestHome() }

  /// Makes the segments of a stream, given its former content.
  ///
  /// - Returns: the segments, and the blocks of the stream.
  private func generation(
    of stream: [UInt8], after former: [UInt8], lengthLimit: ByteCount
  ) async throws -> (segments: [GenerationSource.Segment], blocks: [Signature.Entry]) {
    let path = local.folder + "/log"
    try Data(stream).write(to: URL(filePath: path))
    var builder = SignatureBuilder()
    former.withUnsafeBytes { builder.append($0) }
    var file = SignatureFile()
    _ = file.append(builder.takeBlocks())
    var basis = SourceMap(generation: 1)
    basis.appendOwn(Int64(former.count))
    let source = try GenerationSource(
      LocalStream(path: path), session: #require(StoredGenerations.session), generation: 2,
      range: .zero..<StreamOffset(stream.count), signature: file.signature, basis: basis,
      storedLimit: .max, lengthLimit: lengthLimit)
    var segments: [GenerationSource.Segment] = []
    while let segment = try await source.next() { segments.append(segment) }
    return (segments, await source.takeBlocks())
  }

  /// The stream bytes of segments.
  private func read(
    _ segments: [GenerationSource.Segment], from former: [UInt8]
  ) throws -> [UInt8] {
    let decoder = try SegmentDecoder()
    var bytes: [UInt8] = []
    for segment in segments {
      let name = segment.encoded.name
      var reader = try SegmentReader(
        segment.encoded.body, generation: name.generation, length: name.length.bytes,
        decoder: decoder)
      var offset: Int64 = 0
      for instruction in reader.index.instructions.list {
        switch instruction {
        case .literal(let count): try reader.read(offset..<offset + count) { bytes += $0 }
        case .copy(let source):
          bytes += former[Int(source.range.lowerBound)..<Int(source.range.upperBound)]
        }
        offset += instruction.length
      }
    }
    return bytes
  }

  @Test(
    arguments: [
      (20_000, true), (20_000, false), (100_000, true), (100_000, false), (1, true),
    ] as [(Int, Bool)])
  func `a segment ends at the length limit, whether its bytes are copies or new`(
    limit: Int, isCopied: Bool
  ) async throws {
    var generator = SeededGenerator(case: 1, seed: 1)
    let former = EditScript.random(200_000, &generator)
    let new = EditScript.random(isCopied ? 5_000 : 200_000, &generator)
    var stream = new
    if isCopied {
      stream = former
      stream.insert(contentsOf: new, at: 90_000)
    }
    let limited = try await generation(of: stream, after: former, lengthLimit: ByteCount(limit))
    let segments = limited.segments
    // A block is not divided.
    let longest = ByteCount(limit) + ByteCount(BlockSplitter.maximum)
    #expect(segments.count > 1)
    #expect(segments.allSatisfy { $0.encoded.name.length < longest })
    #expect(segments.dropLast().allSatisfy { $0.encoded.name.length >= ByteCount(limit) })
    let ranges = segments.map(\.encoded.name.range)
    #expect(ranges.first?.lowerBound == .zero)
    #expect(ranges.last?.upperBound == StreamOffset(stream.count))
    #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    #expect(try read(segments, from: former) == stream)
    let copied = segments.map(\.copied).total
    #expect(isCopied ? copied > 150_000 : copied == 0)

    // The limit changes nothing but where segments end.
    let whole = try await generation(of: stream, after: former, lengthLimit: .max)
    #expect(whole.segments.count == 1 && whole.segments.map(\.copied).total == copied)
    #expect(whole.blocks == limited.blocks)
  }
}
