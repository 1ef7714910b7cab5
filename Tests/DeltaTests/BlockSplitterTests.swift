import TestSupport
import Testing

@testable import Delta

@Suite(.tags(.small)) struct BlockSplitterTests {
  private func split(_ pieces: [[UInt8]]) -> (lengths: [Int], splitter: BlockSplitter) {
    var splitter = BlockSplitter()
    var lengths: [Int] = []
    for piece in pieces {
      piece.withUnsafeBytes { splitter.append($0) { lengths.append($0.length) } }
    }
    return (lengths, splitter)
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `block boundaries do not depend on how input is divided`(number: Int) {
    var generator = SeededGenerator(case: number)
    let stream = EditScript.stream(150_000, &generator)
    let whole = split([stream])
    let parts = split(EditScript.pieces(of: stream, &generator))
    #expect(whole.lengths == parts.lengths)
    #expect(whole.lengths.reduce(0, +) + whole.splitter.openLength == stream.count)
    #expect(
      whole.lengths.allSatisfy { (BlockSplitter.minimum...BlockSplitter.maximum).contains($0) })
    #expect(whole.splitter.hashedLength <= stream.count)
  }

  @Test(arguments: SeededGenerator.cases(100))
  func `a fresh splitter continues from any boundary`(number: Int) {
    var generator = SeededGenerator(case: number)
    let stream = EditScript.stream(150_000, &generator)
    let lengths = split([stream]).lengths
    let kept = Int.random(in: 0...lengths.count, using: &generator)
    let start = lengths.prefix(kept).reduce(0, +)
    #expect(split([Array(stream[start...])]).lengths == Array(lengths.dropFirst(kept)))
  }

  @Test func `input fed byte by byte splits like the whole`() {
    var generator = SeededGenerator(case: 0)
    let stream = EditScript.random(60_000, &generator)
    #expect(split(stream.map { [$0] }).lengths == split([stream]).lengths)
  }

  @Test func `random bytes make blocks of the average length`() {
    var generator = SeededGenerator(case: 0, seed: 1)
    let lengths = split([EditScript.random(2 << 20, &generator)]).lengths
    let average = lengths.reduce(0, +) / lengths.count
    #expect((3500...4700).contains(average))
  }

  @Test func `each block level is half as frequent as the one below`() {
    var generator = SeededGenerator(case: 1, seed: 1)
    var splitter = BlockSplitter()
    var levels: [Int] = []
    EditScript.random(2 << 20, &generator).withUnsafeBytes {
      splitter.append($0) { levels.append($0.level) }
    }
    for level in 1...2 {
      let share = levels.count >> level
      #expect((share / 2...share * 2).contains(levels.count { $0 >= level }))
    }
  }

  /// Signatures are compared across versions of the program.
  @Test func `boundaries of a fixed stream never change between versions`() {
    // Not from the seeded generator, whose seed changes.
    let stream = (0..<60_000).map { UInt8(truncatingIfNeeded: ($0 * $0) >> 7 ^ $0 * 31) }
    let zeros = [UInt8](repeating: 0, count: 30_000)
    let lengths = split([stream + zeros]).lengths
    #expect(
      lengths == [
        2997, 2911, 6983, 3435, 3055, 2911, 6983, 3435, 3055, 2911, 6983, 3435, 3055, 2911, 16_384,
        16_384,
      ])
  }

  @Test(arguments: [1, 2, 7, 64, 65, 1000, 1983, 1984])
  func `a repeating pattern makes few distinct blocks`(length: Int) {
    var generator = SeededGenerator(case: length, seed: 1)
    let pattern = EditScript.random(length, &generator)
    let stream = (0..<300_000).map { pattern[$0 % length] }
    var hasher = BlockHasher()
    var blocks: [Block] = []
    stream.withUnsafeBytes { hasher.append($0) { block, _ in blocks.append(block) } }
    // The first block begins where the pattern does, the others at a boundary. Random bytes have
    // one boundary in 2 KiB: more than eight in a pattern is a chance of one in a million.
    #expect(Set(blocks.dropFirst().map(\.hash)).count <= 8)
  }

  @Test(arguments: [0, 1, 100, 1980, 1984])
  func `block lengths stay within limits for adversarial boundaries`(filler: Int) throws {
    // A position at which the hash of 64 bytes ends a block, as soon as a block may end or slightly
    // later.
    var generator = SeededGenerator(case: filler)
    var window: [UInt8] = []
    repeat {
      window = EditScript.random(64, &generator)
    } while window.reduce(UInt64(0)) {
      ($0 << 1) &+ GearTable.numbers[Int($1)]
    } >= 1 << 53
    let unit = EditScript.random(filler, &generator) + window
    let stream = (0..<400_000).map { unit[$0 % unit.count] }
    let (lengths, splitter) = split([stream])
    #expect(lengths.count <= stream.count / BlockSplitter.minimum)
    #expect(lengths.count >= stream.count / BlockSplitter.average - 1)
    #expect(splitter.hashedLength <= stream.count)
  }

  @Test(arguments: SeededGenerator.cases(200))
  func `an edit moves only the boundaries near it`(number: Int) throws {
    var generator = SeededGenerator(case: number, seed: 1)
    var stream = EditScript.random(200_000, &generator)
    let before = boundaries(of: stream)
    let place = Int.random(in: 0..<100_000, using: &generator)
    stream.insert(contentsOf: EditScript.line(&generator), at: place)
    let grown = stream.count - 200_000
    let after = Set(boundaries(of: stream))
    #expect(before.filter { $0 < place }.allSatisfy(after.contains))
    // Two random streams resynchronize within a few blocks.
    let missing = before.filter { $0 >= place && !after.contains($0 + grown) }
    #expect(missing.count < 12)
  }

  private func boundaries(of stream: [UInt8]) -> [Int] {
    var end = 0
    return split([stream]).lengths.map { length in
      end += length
      return end
    }
  }
}
