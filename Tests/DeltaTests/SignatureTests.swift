import TestSupport
import Testing

@testable import Delta

@Suite(.tags(.small)) struct SignatureTests {
  /// The file that results when the stream comes in pieces, with a restart after some of them.
  private func file(_ pieces: [[UInt8]], restartEvery: Int) -> (file: SignatureFile, bytes: [UInt8])
  {
    var file = SignatureFile()
    var bytes: [UInt8] = []
    var builder = SignatureBuilder()
    let stream = pieces.flatMap { $0 }
    var fed = 0
    for (number, piece) in pieces.enumerated() {
      if number % restartEvery == 0 {
        file = SignatureFile(bytes)
        builder = SignatureBuilder(from: file.signature.end)
        stream[Int(file.signature.end)..<fed].withUnsafeBytes { builder.append($0) }
      }
      piece.withUnsafeBytes { builder.append($0) }
      fed += piece.count
      bytes += file.append(builder.takeBlocks())
    }
    return (file, bytes)
  }

  @Test(arguments: SeededGenerator.cases(300))
  func `a signature does not depend on uploads and restarts between appends`(number: Int) {
    var generator = SeededGenerator(case: number)
    let stream = EditScript.stream(150_000, &generator)
    let pieces = EditScript.pieces(of: stream, &generator)
    let restarts = Int.random(in: 1...10, using: &generator)
    let (written, bytes) = file(pieces, restartEvery: restarts)
    #expect(written.signature == file([stream], restartEvery: 1).file.signature)
    let read = SignatureFile(bytes)
    #expect(read.signature == written.signature)
    #expect(read.length == bytes.count)
  }

  @Test func `a torn signature file is read up to its last whole group`() {
    var generator = SeededGenerator(case: 1)
    let stream = EditScript.random(80_000, &generator)
    let pieces = [
      Array(stream[..<30_000]), Array(stream[30_000..<60_000]), Array(stream[60_000...]),
    ]
    let (whole, bytes) = file(pieces, restartEvery: 1)
    var ends: Set<Int> = [0]
    for count in 0...bytes.count {
      var torn = SignatureFile(Array(bytes[..<count]))
      ends.insert(torn.length)
      #expect(torn.length <= count)
      // The next tick truncates the rest, and its append makes the file complete again.
      var builder = SignatureBuilder(from: torn.signature.end)
      stream[Int(torn.signature.end)...].withUnsafeBytes { builder.append($0) }
      let mended = Array(bytes[..<torn.length]) + torn.append(builder.takeBlocks())
      #expect(SignatureFile(mended).signature == whole.signature)
    }
    #expect(ends.count == 5)
  }

  @Test func `a group with a flipped bit is never accepted`() {
    var generator = SeededGenerator(case: 2)
    let stream = EditScript.random(40_000, &generator)
    let (whole, bytes) = file(
      [Array(stream[..<20_000]), Array(stream[20_000...])], restartEvery: 1)
    for place in bytes.indices {
      for bit in 0..<8 {
        var garbled = bytes
        garbled[place] ^= 1 << bit
        let read = SignatureFile(garbled)
        #expect(read.length <= place)
        #expect(whole.signature.starts(with: read.signature))
      }
    }
  }

  @Test func `a group is accepted only at its own position`() {
    var generator = SeededGenerator(case: 3)
    let stream = EditScript.random(60_000, &generator)
    let (_, bytes) = file([Array(stream[..<30_000]), Array(stream[30_000...])], restartEvery: 1)
    let first = SignatureFile(bytes.dropLast()).length
    let header = Array(bytes[..<16])
    #expect(SignatureFile(header + bytes[first...]).signature.count == 0)
    #expect(SignatureFile(Array(bytes[..<first]) + bytes[16...]).length == first)
  }

  @Test func `a block takes at most 19 bytes in the signature file`() {
    var generator = SeededGenerator(case: 4)
    let (file, bytes) = file([EditScript.random(1 << 20, &generator)], restartEvery: 1)
    #expect(bytes.count <= 28 + 19 * file.signature.count)
  }

  /// Blocks as random bytes are split, more than it would be quick to split.
  ///
  /// That each level is half as frequent as the one below is tested by
  /// ``BlockSplitterTests``, "each block level is half as frequent as the one below".
  @Test(arguments: [(0, 1), (1, 2), (2, 4), (3, 4), (4, 8), (300, 256)])
  func `blocks grow with the offset in the stream`(gibibyte: Int, factor: Int) {
    var generator = SeededGenerator(case: 5, seed: 1)
    var builder = SignatureBuilder(from: Int64(gibibyte) << 30)
    let count = 100 * factor
    for _ in 0..<count {
      let level = generator.next().trailingZeroBitCount
      builder.append(
        Block(
          length: BlockSplitter.average, hash: ContentHash(of: EmptyCollection()), level: level))
    }
    let entries = builder.takeBlocks()
    let length = entries.reduce(0) { $0 + $1.length }
    #expect(builder.end == Int64(gibibyte) << 30 + Int64(length))
    #expect(count * BlockSplitter.average - length <= SignatureBuilder.maximumOpenLength)
    let average = BlockSplitter.average * factor
    #expect((average / 2...average * 2).contains(length / entries.count))
    let lawful = BlockLevel.lengths(BlockLevel.of(Int64(gibibyte) << 30))
    #expect(entries.allSatisfy { lawful.contains($0.length) })
  }

  @Test func `blocks of zeros at high offsets stay within the maximum length`() {
    var builder = SignatureBuilder(from: 300 << 30)
    [UInt8](repeating: 0, count: 17 << 20).withUnsafeBytes { builder.append($0) }
    #expect(builder.takeBlocks().map(\.length) == [16 << 20])
  }
}

extension Signature {
  fileprivate func starts(with other: Signature) -> Bool {
    other.count <= count
      && (0..<other.count).allSatisfy { hash($0) == other.hash($0) && range($0) == other.range($0) }
  }
}
