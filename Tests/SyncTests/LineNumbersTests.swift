import LogRecords
import TestSupport
import Testing

@testable import SessionReading

/// Numbers of lines while a log is read.
@Suite(.tags(.small)) struct LineNumbersTests {
  @Test(arguments: SeededGenerator.cases(100))
  func `each line that a search shows has its number`(number: Int) {
    var random = SeededGenerator(case: number)
    let text = Array((1...3_000).map { "\($0) is its number\n" }.joined().utf8)
    let pieces = EditScript.pieces(of: text, &random)
    var around = MatchContext(
      before: Int.random(in: 0...9, using: &random), after: Int.random(in: 0...2, using: &random))
    var numbers = LineNumbers()
    var filter = RecordFilter()
    var shown = 0
    func search(_ line: RecordLine) {
      let isMatch = Int.random(in: 0..<40, using: &random) == 0
      around.add(line, isMatch: isMatch) { piece in
        guard let line = piece.line else { return }
        let written = String(decoding: line.text.prefix { $0 != 0x20 }, as: UTF8.self)
        let counted = numbers.number(of: line).map { "\($0)" }
        #expect(counted == written)
        shown += 1
      }
    }
    for piece in pieces {
      piece.withUnsafeBytes { bytes in
        numbers.add(bytes)
        filter.add(bytes, search)
        numbers.forget(before: around.firstKept ?? filter.position)
      }
    }
    filter.finish(search)
    #expect(shown > 0)
  }

  @Test func `lines before an offset are forgotten, and others keep their numbers`() {
    var numbers = LineNumbers()
    Array("1\n2\n3\n4".utf8).withUnsafeBytes { numbers.add($0) }
    func counted() -> [Int?] {
      (0..<7).map { offset in
        numbers.number(
          of: RecordLine(
            bytes: UnsafeRawBufferPointer(start: nil, count: 0), head: nil, isStart: true,
            offset: Int64(offset)))
      }
    }
    #expect(counted() == [1, 1, 2, 2, 3, 3, 4])
    numbers.forget(before: 5)
    #expect(counted() == [nil, nil, nil, nil, 3, 3, 4])
  }
}
