import TestSupport
import Testing

@testable import Delta

@Suite(.tags(.small)) struct DeltaInstructionsTests {
  private func make(_ count: Int, _ generator: inout SeededGenerator) -> DeltaInstructions {
    var instructions = DeltaInstructions()
    for _ in 0..<count {
      let length = Int64.random(in: 1...5000, using: &generator)
      if Bool.random(using: &generator) {
        instructions.append(.literal(length))
      } else {
        let start = Int64.random(in: 0...1 << 39, using: &generator)
        instructions.append(
          .copy(
            StreamRange(
              generation: Int.random(in: 1...3, using: &generator), range: start..<start + length)))
      }
    }
    return instructions
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `instructions survive encoding and decoding`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    let instructions = make(Int.random(in: 0...40, using: &generator), &generator)
    let encoded = instructions.encoded()
    #expect(try DeltaInstructions(encoded: encoded[...]) == instructions)
  }

  @Test(arguments: SeededGenerator.cases(2000))
  func `corrupted bytes fail to decode or decode to valid instructions`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    var bytes = make(Int.random(in: 1...6, using: &generator), &generator).encoded()
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
        in: 0...255, using: &generator)
    }
    guard let read = try? DeltaInstructions(encoded: bytes[...]) else { return }
    #expect(read.list.allSatisfy { $0.length > 0 })
    #expect(read.length == read.list.reduce(0) { $0 + $1.length })
    #expect(try DeltaInstructions(encoded: read.encoded()[...]) == read)
  }

  @Test(
    arguments: [
      [0x00], [0x03], [0x04, 0x04], [0x05, 0x00], [0x06, 0x00, 0x00], [0x06, 0x01, 0x01],
      [0x06, 0x01], [0x06], [0x06, 0x01, 0x00, 0x06, 0x01, 0x00], [0x06, 0x01, 0x00, 0x05, 0x00],
      [0x06, 0xc0, 0x84, 0x3d, 0x00], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
      [0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
      [0x06, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    ] as [[UInt8]]) func `invalid instruction bytes are refused`(bytes: [UInt8])
  {
    #expect(throws: SegmentError.self) { try DeltaInstructions(encoded: bytes[...]) }
  }

  @Test func `more than the maximum number of instructions is refused`() {
    var instructions = DeltaInstructions()
    for number in 0...DeltaInstructions.maximumCount {
      let start = Int64(number) * 10
      instructions.append(.copy(StreamRange(generation: 1, range: start..<start + 1)))
    }
    #expect(throws: SegmentError.self) {
      try DeltaInstructions(encoded: instructions.encoded()[...])
    }
  }

  @Test func `adjacent instructions of one kind are merged`() {
    var instructions = DeltaInstructions()
    instructions.append(.literal(3))
    instructions.append(.literal(0))
    instructions.append(.literal(4))
    instructions.append(.copy(StreamRange(generation: 1, range: 5..<9)))
    instructions.append(.copy(StreamRange(generation: 1, range: 9..<11)))
    instructions.append(.copy(StreamRange(generation: 2, range: 11..<12)))
    #expect(
      instructions.list == [
        .literal(7), .copy(StreamRange(generation: 1, range: 5..<11)),
        .copy(StreamRange(generation: 2, range: 11..<12)),
      ])
    #expect(instructions.length == 14)
    #expect(instructions.literalLength == 7)
  }

  @Test func `a copied range resolves to the generation that holds its bytes`() throws {
    var second = SourceMap(generation: 2)
    var instructions = DeltaInstructions()
    instructions.append(.literal(10))
    instructions.append(.copy(StreamRange(generation: 1, range: 100..<120)))
    instructions.append(.literal(5))
    try second.append(instructions)
    second.appendOwn(5)
    #expect(second.length == 40)
    #expect(
      try second.sources(of: 5..<38) == [
        StreamRange(generation: 2, range: 5..<10), StreamRange(generation: 1, range: 100..<120),
        StreamRange(generation: 2, range: 30..<38),
      ])
    #expect(try second.sources(of: 12..<12).isEmpty)
    #expect(throws: SegmentError.self) { try second.sources(of: 30..<41) }
    var first = SourceMap(generation: 1)
    #expect(throws: SegmentError.self) { try first.append(instructions) }
  }
}
