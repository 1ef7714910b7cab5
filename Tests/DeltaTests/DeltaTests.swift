import TestSupport
import Testing

@testable import Delta

@Suite(.serialized, .tags(.small)) struct DeltaTests {
  @Test(arguments: SeededGenerator.cases(2000))
  func `every generation reads back as it was written`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    var generations = try Generations(
      maximumInstructions: [1, 3, 1000].randomElement(using: &generator) ?? 1)
    var streams = [EditScript.stream(120_000, &generator)]
    try grow(&generations, to: streams[0], from: 0, &generator)
    for generation in 2...Int.random(in: 2...4, using: &generator) {
      var stream = EditScript.apply(6, to: streams[generation - 2], &generator)
      try generations.replace(with: stream, in: EditScript.pieces(of: stream, &generator))
      #expect(generations.copied + generations.literal == stream.count)
      let deltaEnd = stream.count
      stream += EditScript.stream(30_000, &generator)
      try grow(&generations, to: stream, from: deltaEnd, &generator)
      streams.append(stream)
    }
    for (number, stream) in streams.enumerated() {
      #expect(try generations.read(number + 1) == stream)
    }
  }

  @Test(arguments: SeededGenerator.cases(4000))
  func `reading damaged segments fails or returns the original bytes`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    var generations = try Generations(maximumInstructions: 4)
    let first = EditScript.stream(20_000, &generator) + EditScript.line(&generator)
    try grow(&generations, to: first, from: 0, &generator)
    let second = EditScript.apply(4, to: first, &generator)
    try generations.replace(with: second, in: [second])
    let victim = Int.random(in: 0..<generations.segments.count, using: &generator)
    var object = generations.segments[victim].object
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: object.removeLast(Int.random(in: 1...object.count, using: &generator))
    case 1: object.removeFirst(Int.random(in: 1...object.count, using: &generator))
    case 2: object = generations.segments.randomElement(using: &generator)?.object ?? []
    default:
      let place = Int.random(in: 0..<object.count, using: &generator)
      object[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    }
    generations.segments[victim].object = object
    if let read = try? generations.read(2) { #expect(read == second) }
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `forged instructions fail or return the original bytes`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    var generations = try Generations()
    let first = EditScript.random(40_000, &generator)
    try grow(&generations, to: first, from: 0, &generator)
    let second = EditScript.apply(4, to: first, &generator) + EditScript.line(&generator)
    try generations.replace(with: second, in: [second])
    #expect(try generations.read(2) == second)

    // The checksum is right, the content is not.
    let last = generations.segments.count - 1
    let object = generations.segments[last].object
    let (index, length) = try SegmentIndex.decode(endOf: object[...])
    let encoded = try #require(index.delta).encoded()
    var lawful = 0
    for place in [0, Int.random(in: 0..<encoded.count, using: &generator)] {
      for bit in 0..<8 {
        var bytes = encoded
        bytes[place] ^= 1 << bit
        guard let forged = try? DeltaInstructions(encoded: bytes[...]) else { continue }
        lawful += 1
        generations.segments[last].object =
          object.dropLast(length)
          + SegmentIndex(frames: index.frames, link: index.link, delta: forged).encoded()
        do {
          #expect(try generations.read(2) == second)
        } catch is SegmentError {}
      }
    }
    // At the first position some bits change a length only.
    #expect(lawful > 0)
  }

  @Test func `without a signature, the delta holds every byte literally`() throws {
    var generator = SeededGenerator(case: 1)
    let stream = EditScript.random(50_000, &generator)
    var encoder = DeltaEncoder(basis: BlockIndex(Signature()))
    var out: [UInt8] = []
    stream.withUnsafeBytes { bytes in
      encoder.append(bytes) { piece in
        #expect(piece.source == nil)
        out += piece.bytes
      }
    }
    encoder.finish { out += $0.bytes }
    #expect(out == stream)
    #expect(encoder.literalLength == 50_000)
    #expect(encoder.copiedLength == 0)
  }

  @Test func `a delta after pruning and appending holds little more than new bytes`() throws {
    var generator = SeededGenerator(case: 2, seed: 1)
    let basis = EditScript.random(2 << 20, &generator)
    let stream = Array(basis[200_000...]) + EditScript.random(10_000, &generator)
    let generations = try delta(from: basis, to: stream)
    #expect(generations.literal < 10_000 + 3 * Int64(BlockSplitter.maximum))
    #expect(generations.segments.last?.object.count ?? .max < 10_000 + 3 * BlockSplitter.maximum)
    let index = try SegmentIndex.decode(endOf: generations.segments[1].object[...]).index
    #expect(index.instructions.list.count == 3)
  }

  @Test func `each redacted line costs about a block`() throws {
    var generator = SeededGenerator(case: 3, seed: 1)
    let basis = EditScript.random(3 << 20, &generator)
    var stream = basis
    for place in stride(from: 30_000, to: 3 << 20, by: 100_000) {
      for offset in 0..<30 { stream[place + offset] = UInt8(ascii: "*") }
    }
    let generations = try delta(from: basis, to: stream)
    #expect(generations.literal < 32 * 2 * Int64(BlockSplitter.average))
  }

  @Test func `moved parts are copied rather than sent again`() throws {
    var generator = SeededGenerator(case: 4, seed: 1)
    let basis = EditScript.random(600_000, &generator)
    let stream = Array(basis[300_000...] + basis[..<300_000])
    #expect(try delta(from: basis, to: stream).literal < 4 * Int64(BlockSplitter.maximum))
  }

  @Test(arguments: [1, 64, 1900])
  func `the delta of repetitive input is small`(length: Int) throws {
    var generator = SeededGenerator(case: length, seed: 1)
    let pattern = EditScript.random(length, &generator)
    let basis = (0..<600_000).map { pattern[$0 % length] }
    let stream = Array((basis + basis).dropLast(77))
    let generations = try delta(from: basis, to: stream)
    #expect(generations.literal < 3 * Int64(BlockSplitter.maximum))
    #expect(try generations.read(2) == stream)
    let index = try SegmentIndex.decode(endOf: generations.segments[1].object[...])
    #expect(index.index.instructions.list.count < 8)
  }

  @Test(arguments: [0, 1, 3, 300])
  func `the number of lookups grows only with the stream's length`(gibibyte: Int) {
    // A basis whose last block begins far out, so that all levels are searched.
    var generator = SeededGenerator(case: gibibyte)
    var signature = Signature()
    let hash = EditScript.random(16, &generator).withUnsafeBytes { ContentHash(of: $0) }
    signature.append(
      [Signature.Entry(length: gibibyte << 30 + 4096, hash: hash)]
        + [Signature.Entry(length: 4096, hash: hash)])
    for stream in [
      [UInt8](repeating: 0, count: 1 << 20), EditScript.random(1 << 20, &generator),
    ] {
      var encoder = DeltaEncoder(basis: BlockIndex(signature))
      var pieces = 0
      stream.withUnsafeBytes { encoder.append($0) { _ in pieces += 1 } }
      encoder.finish { _ in pieces += 1 }
      let levels = BlockLevel.of(Int64(gibibyte) << 30) + 1
      #expect(encoder.lookups <= levels * (stream.count / BlockSplitter.minimum))
      #expect(pieces <= stream.count / BlockSplitter.minimum + 1)
      #expect(encoder.literalLength == stream.count)
    }
  }

  @Test(arguments: [1, 2, 5])
  func `larger blocks at high offsets are still found`(gibibyte: Int) throws {
    var generator = SeededGenerator(case: gibibyte, seed: 1)
    let tail = EditScript.random(1 << 20, &generator)
    let start = Int64(gibibyte) << 30
    var builder = SignatureBuilder(from: start)
    tail.withUnsafeBytes { builder.append($0) }
    var signature = Signature()
    let hash = EditScript.random(16, &generator).withUnsafeBytes { ContentHash(of: $0) }
    signature.append([Signature.Entry(length: Int(start), hash: hash)])
    signature.append(builder.takeBlocks())

    var encoder = DeltaEncoder(basis: BlockIndex(signature))
    let stream = Array(tail[40_000...])
    var out: [UInt8] = []
    func add(_ piece: DeltaEncoder.Piece) {
      if let source = piece.source {
        #expect(source.count == piece.bytes.count)
        out += tail[Int(source.lowerBound - start)..<Int(source.upperBound - start)]
      } else {
        out += piece.bytes
      }
    }
    for piece in EditScript.pieces(of: stream, &generator) {
      piece.withUnsafeBytes { encoder.append($0, add) }
    }
    encoder.finish(add)
    #expect(out == stream)
    #expect(encoder.copiedLength > stream.count / 2)
  }

  private func delta(from basis: [UInt8], to stream: [UInt8]) throws -> Generations {
    var generations = try Generations()
    try generations.grow(basis[...], of: basis)
    try generations.replace(with: stream, in: [stream])
    return generations
  }

  /// Adds the missing bytes in ticks of any length.
  private func grow(
    _ generations: inout Generations, to stream: [UInt8], from start: Int,
    _ generator: inout SeededGenerator
  ) throws {
    var start = start
    while start < stream.count {
      let end = Int.random(in: start + 1...stream.count, using: &generator)
      try generations.grow(stream[start..<end], of: stream)
      start = end
    }
  }
}
