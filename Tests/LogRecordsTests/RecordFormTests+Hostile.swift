import LogRecords
import Platform
import TestSupport
import Testing

/// Damaged and hostile lines.
extension RecordFormTests {
  static var allLines: [String] {
    [bracketed, syslog, pairs, web, log4j, phones, unknown].flatMap { $0.map(\.line) }
  }

  @Test func `every truncated line is read without failure`() {
    let forms = [RecordForm.json, .logfmt, .syslog]
    let ends: [UInt8] = [0, 0xff, 0x5c, 0x22, 0x5b, 0x3a]
    for line in Self.allLines {
      let bytes = Array(line.utf8)
      for cut in 0...bytes.count {
        readable(Array(bytes[..<cut]), after: forms[cut % forms.count])
        readable(bytes[..<cut] + [ends[cut % ends.count]], after: forms[cut / 2 % forms.count])
      }
    }
  }

  /// Reads a line where a form is expected.
  private func readable(_ bytes: [UInt8], after form: RecordForm) {
    guard let telling = Self.tellingLine[form] else {
      Issue.record("no line tells of \(form)")
      return
    }
    var reader = RecordReader(.asIs, reference: Self.reference, zone: Self.utc)
    _ = telling.withUnsafeBytes { reader.read($0) }
    bytes.withUnsafeBytes { line in
      guard let head = reader.read(line) else { return }
      let isInside =
        head.category.upperBound <= line.count && head.message.upperBound <= line.count
      if !isInside { Issue.record("\(head) is not in \(bytes)") }
    }
  }

  private static let tellingLine: [RecordForm: [UInt8]] = Dictionary(
    [bracketed, syslog, pairs, web, log4j, phones].flatMap { $0 }.compactMap { test in
      test.form.map { ($0, Array(test.line.utf8)) }
    }, uniquingKeysWith: { first, _ in first })

  @Test(arguments: SeededGenerator.cases(400))
  func `filters and statistics lose no bytes`(number: Int) {
    var generator = SeededGenerator(case: number)
    var log: [UInt8] = []
    for _ in 0..<Int.random(in: 1...60, using: &generator) {
      var line = Array(Self.allLines.randomElement(using: &generator)!.utf8)
      if Bool.random(using: &generator) {
        line.insert(
          contentsOf: NastyText.make(1, &generator),
          at: Int.random(in: 0...line.count, using: &generator))
      }
      log += line + [0x0a]
    }
    if Bool.random(using: &generator) { log.removeLast() }
    let pieces = NastyText.cut(log, &generator)
    var all = RecordFilter()
    var high = RecordFilter(levels: .from(.warning))
    all.reader = RecordReader(.asIs, reference: Self.reference, zone: Self.utc)
    high.reader = all.reader
    var kept: [UInt8] = []
    var chosen: [UInt8] = []
    for piece in pieces {
      piece.withUnsafeBytes { bytes in
        all.add(bytes) { kept += $0.bytes }
        high.add(bytes) { chosen += $0.bytes }
      }
    }
    all.finish { kept += $0.bytes }
    high.finish { chosen += $0.bytes }
    #expect(kept == log)
    // Whole lines are omitted.
    var rest = lines(log)[...]
    for line in lines(chosen) {
      guard let found = rest.firstIndex(of: line) else {
        Issue.record("\(line) is no line of the log")
        break
      }
      rest = rest[(found + 1)...]
    }
    let whole = counted([log])
    let cut = counted(pieces)
    #expect(whole.counts == cut.counts && whole.categoryNames == cut.categoryNames)
    #expect(whole.milliseconds == cut.milliseconds)
  }

  @Test(arguments: ["{\"a\":\"", "[", "<", "x=\"", "2026-01-22 14:30:05 ", "", "\0", "((((", "T:"])
  func `only the first bytes of a long line determine its form`(start: String) {
    let first = Array(start.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 4096)
    var heads: [RecordHead?] = []
    for filler in "[\"}E= \u{1b}".utf8 {
      let line = first + [UInt8](repeating: filler, count: 1 << 20)
      var reader = RecordReader(.asIs, reference: Self.reference, zone: Self.utc)
      heads.append(line.withUnsafeBytes { reader.read($0) })
    }
    #expect(heads.allSatisfy { $0 == heads[0] })
    let line = first + [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20) + [0x0a]
    #expect(counted([line]).counts.reduce(0, +) == 1)
  }
}
