import LogRecords
import TestSupport
import Testing

/// Patterns, and the lines around their matches.
@Suite(.tags(.small)) struct SearchTests {
  private func match(_ pattern: LinePattern, _ line: some Sequence<UInt8>) -> Range<Int>? {
    Array(line).withUnsafeBytes { pattern.match(in: $0) }
  }

  @Test(
    arguments: [
      ("a+b", "xaab", 1..<4), ("^x", "ax", nil), ("b$", "ab", 1..<2), ("a|c", "bc", 1..<2),
      ("(ab){2}", "aababab", 1..<5), ("[[:digit:]]+", "a12", 1..<3), ("", "", 0..<0),
      ("a.c", "a\u{0}c", 0..<3), ("^a[^b]c$", "a\u{0}c", 0..<3), ("c", "a\u{0}c", 2..<3),
    ] as [(String, String, Range<Int>?)])
  func `regular expressions match as in grep`(
    pattern: String, line: String, expected: Range<Int>?
  ) throws {
    #expect(match(try LinePattern(pattern), line.utf8) == expected)
  }

  @Test func `patterns match bytes that are not valid UTF-8`() throws {
    #expect(match(try LinePattern("b.d"), [0xff, 0x62, 0xc3, 0x64, 0xfe]) == 1..<4)
    #expect(match(try LinePattern("ü"), Array("\u{0}\u{0}ü".utf8)) == 2..<4)
    #expect(match(try LinePattern("GRÜN", ignoresCase: true), "grÜn".utf8) == 0..<5)
    #expect(match(try LinePattern("x", isFixed: true), [0, 0xff, 0x78]) == 2..<3)
  }

  @Test(arguments: [#"\.[](){}*+?^$|"#, "a.b", "\\", "{", "^$"])
  func `fixed text is matched literally`(text: String) throws {
    for ignoresCase in [false, true] {
      let pattern = try LinePattern(text, isFixed: true, ignoresCase: ignoresCase)
      #expect(match(pattern, ("ab" + text + "ab").utf8) == 2..<2 + text.utf8.count)
      #expect(match(pattern, "acb".utf8) == nil)
    }
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `fixed text is found at its first occurrence`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    func letters(_ count: ClosedRange<Int>) -> [UInt8] {
      (0..<Int.random(in: count, using: &generator)).map { _ in
        UInt8.random(in: 0x61...0x62, using: &generator)
      }
    }
    let (line, text) = (letters(0...40), letters(1...4))
    let pattern = try LinePattern(String(decoding: text, as: UTF8.self), isFixed: true)
    let expected = line.indices.first { line[$0...].starts(with: text) }
    #expect(match(pattern, line)?.lowerBound == expected)
  }

  @Test(arguments: SeededGenerator.cases(400))
  func `a long line is found where a match in it is`(number: Int) throws {
    var generator = SeededGenerator(case: number)
    func text(_ characters: String, _ count: ClosedRange<Int>) -> String {
      String(
        (0..<Int.random(in: count, using: &generator)).compactMap { _ in
          characters.randomElement(using: &generator)
        })
    }
    let pattern: LinePattern
    do {
      pattern = try LinePattern(text("abx()|*+?^$.[]\\", 1...8))
    } catch is PatternError {
      return
    }
    let filling = String(repeating: ["x", "y", "xy"][number % 3], count: 512)
    for line in [filling + text("abxy1)", 0...6), text("abxy1)", 0...6) + filling] {
      let isFound = Array(line.utf8).withUnsafeBytes { pattern.isFound(in: $0) }
      #expect(isFound == (match(pattern, line.utf8) != nil), "\(line.suffix(8))")
    }
  }

  /// A search that begins anew at each position would take hours.
  @Test func `a line of many beginnings of a match is searched in one run`() throws {
    let pattern = try LinePattern("error.*failed")
    let line = Array(String(repeating: "error ", count: 1 << 19).utf8)
    #expect(!line.withUnsafeBytes { pattern.isFound(in: $0) })
    let end = Array("failed".utf8)
    #expect((line + end).withUnsafeBytes { pattern.isFound(in: $0) })
  }

  @Test(arguments: ["a\nb", "(", "[a", "a{2,1}"])
  func `an invalid pattern is refused`(text: String) {
    #expect(throws: PatternError.self) { try LinePattern(text) }
  }

  @Test func `all matches in a line are found`() throws {
    let pattern = try LinePattern("^a|b*")
    let found = Array("aabxbb".utf8).withUnsafeBytes { pattern.matches(in: $0) }
    #expect(found == [0..<1, 2..<3, 4..<6])
  }

  /// Compared with a check of each line: that it is near enough to a match.
  @Test(arguments: SeededGenerator.cases(400))
  func `context lines are those near a match`(number: Int) {
    var generator = SeededGenerator(case: number)
    let before = Int.random(in: 0...3, using: &generator)
    let after = Int.random(in: 0...3, using: &generator)
    let matches = (0..<40).map { _ in Int.random(in: 0..<6, using: &generator) == 0 }
    var expected: [String] = []
    var last = -1
    for line in matches.indices {
      let near = max(0, line - after)...min(matches.count - 1, line + before)
      guard matches[near].contains(true) else { continue }
      if last >= 0, line > last + 1, before + after > 0 { expected.append("--") }
      expected.append("\(line)\(matches[line] ? ":" : "-")")
      last = line
    }
    var found: [String] = []
    var context = MatchContext(before: before, after: after)
    for line in matches.indices {
      Array("\(line)".utf8).withUnsafeBytes { bytes in
        let record = RecordLine(bytes: bytes, head: nil, isStart: true, offset: 0)
        context.add(record, isMatch: matches[line]) { piece in
          switch piece {
          case .match(let line): found.append(String(decoding: line.text, as: UTF8.self) + ":")
          case .context(let line): found.append(String(decoding: line.text, as: UTF8.self) + "-")
          case .separator: found.append("--")
          }
        }
      }
    }
    #expect(found == expected)
  }
}
