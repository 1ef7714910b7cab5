import Crypto
import Delta
import LogRecords

/// The generations of a stream in memory: written like an uploader, read like a reader.
package struct Generations {
  /// A segment; its range and hash are what a name would state.
  package struct Segment {
    /// The generation it belongs to.
    package let generation: Int
    /// Offsets in that generation's stream, in bytes.
    package let range: Range<Int64>
    /// SHA-256 over the stream bytes.
    package let hash: [UInt8]
    /// The object.
    package var object: [UInt8]
  }

  /// Every segment of every generation, in order.
  package var segments: [Segment] = []
  /// Stream bytes that the newest generation copied.
  package private(set) var copied: Int64 = 0
  /// Stream bytes that it could not copy.
  package private(set) var literal: Int64 = 0

  private var map = SourceMap(generation: 1)
  private var signature = SignatureFile()
  private let encoder: SegmentEncoder
  private let maximumInstructions: Int

  /// Makes an empty stream.
  ///
  /// - Parameter maximumInstructions: number of instructions after which a delta segment ends.
  /// - Throws: ``Delta/SegmentError`` if there is not enough memory.
  package init(maximumInstructions: Int = DeltaInstructions.maximumCount) throws {
    self.maximumInstructions = maximumInstructions
    encoder = try SegmentEncoder()
  }

  /// The newest generation.
  package var newest: Int { map.generation }

  /// Size of the newest generation's objects in bytes.
  package var storedLength: Int {
    segments.lazy.filter { $0.generation == newest }.reduce(0) { $0 + $1.object.count }
  }

  /// Adds a plain segment to the newest generation.
  ///
  /// - Parameters:
  ///   - bytes: stream bytes, at least one.
  ///   - stream: the whole stream, these bytes included.
  /// - Throws: ``Delta/SegmentError``.
  package mutating func grow(_ bytes: ArraySlice<UInt8>, of stream: [UInt8]) throws {
    try put(Array(bytes), literals: Array(bytes), instructions: nil, stream)

    var builder = SignatureBuilder(from: signature.signature.end)
    stream[Int(signature.signature.end)..<bytes.endIndex].withUnsafeBytes { builder.append($0) }
    _ = signature.append(builder.takeBlocks())
  }

  /// Makes a new generation, as deltas against the newest.
  ///
  /// - Parameters:
  ///   - stream: its bytes.
  ///   - pieces: the same bytes, in the pieces to append.
  /// - Throws: ``Delta/SegmentError``.
  package mutating func replace(with stream: [UInt8], in pieces: [[UInt8]]) throws {
    let basis = map
    map = SourceMap(generation: basis.generation + 1)
    var encoder = DeltaEncoder(basis: BlockIndex(signature.signature))
    var builder = SignatureBuilder()
    var open: (stream: [UInt8], literals: [UInt8], instructions: DeltaInstructions) = (
      [], [], .init()
    )

    func add(_ piece: DeltaEncoder.Piece) throws {
      if let block = piece.block { builder.append(block) }
      open.stream += piece.bytes
      if let source = piece.source {
        for range in try basis.sources(of: source) { open.instructions.append(.copy(range)) }
      } else {
        open.literals += piece.bytes
        open.instructions.append(.literal(Int64(piece.bytes.count)))
      }
      guard open.instructions.list.count >= maximumInstructions else { return }
      try finish()
    }
    func finish() throws {
      guard !open.stream.isEmpty else { return }
      try put(open.stream, literals: open.literals, instructions: open.instructions, stream)
      open = ([], [], .init())
    }
    for piece in pieces { try piece.withUnsafeBytes { try encoder.append($0, add) } }
    try encoder.finish(add)
    try finish()
    signature = SignatureFile()
    _ = signature.append(builder.takeBlocks())
    (copied, literal) = (encoder.copiedLength, encoder.literalLength)
  }

  /// Reads a generation.
  ///
  /// - Throws: ``Delta/SegmentError`` for damage.
  package func read(_ generation: Int) throws -> [UInt8] {
    let decoder = try SegmentDecoder()
    var readers: [SegmentReader] = []
    for segment in segments {
      readers.append(
        try SegmentReader(
          segment.object, generation: segment.generation,
          length: segment.range.upperBound - segment.range.lowerBound, decoder: decoder))
    }
    var out: [UInt8] = []
    for (number, segment) in segments.enumerated() where segment.generation == generation {
      guard readers[number].index.link == Link(before: out[...]) else {
        throw SegmentError(.corrupt, "a segment does not continue the stream")
      }
      let start = out.count
      for instruction in readers[number].index.instructions.list {
        switch instruction {
        case .literal(let count):
          let offset = Int64(out.count - start)
          try readers[number].read(offset..<offset + count) { out += $0 }
        case .copy(let source):
          try copy(source, from: &readers, to: &out)
        }
      }
      guard segment.hash == Array(SHA256.hash(data: out[start...])) else {
        throw SegmentError(.corrupt, "a segment holds other bytes than its name says")
      }
    }
    return out
  }

  private func copy(
    _ source: StreamRange, from readers: inout [SegmentReader], to out: inout [UInt8]
  ) throws {
    var missing = source.length
    for (number, segment) in segments.enumerated() where segment.generation == source.generation {
      let wanted = source.range.clamped(to: segment.range)
      if wanted.isEmpty { continue }
      let start = segment.range.lowerBound
      let part = wanted.lowerBound - start..<wanted.upperBound - start
      try readers[number].read(part) { out += $0 }
      missing -= part.upperBound - part.lowerBound
    }
    guard missing == 0 else { throw SegmentError(.corrupt, "a copy reaches beyond its source") }
  }

  private mutating func put(
    _ bytes: [UInt8], literals: [UInt8], instructions: DeltaInstructions?, _ stream: [UInt8]
  ) throws {
    let start = map.length
    for from in stride(from: 0, to: literals.count, by: SegmentEncoder.frameLength) {
      let frame = literals[from..<min(literals.count, from + SegmentEncoder.frameLength)]
      try frame.withUnsafeBytes {
        var statistics = LogStatistics()
        statistics.add($0)
        statistics.finish()
        try encoder.append(
          $0, lines: statistics.lines, times: statistics.milliseconds, levels: statistics.counts,
          scenarios: instructions == nil && $0.last == 0x0a ? statistics.allScenarios : nil)
      }
    }
    if let instructions {
      try map.append(instructions)
    } else {
      map.appendOwn(Int64(bytes.count))
    }
    let object = encoder.finish(link: Link(before: stream[..<Int(start)]), delta: instructions)
    segments.append(
      Segment(
        generation: newest, range: start..<map.length, hash: Array(SHA256.hash(data: bytes)),
        object: object))
  }
}
