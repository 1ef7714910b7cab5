import Foundation
import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.medium)) struct ReplayTests {
  @Test(arguments: SeededGenerator.cases(20))
  func `a replay gives the program's output in time order`(number: Int) throws {
    var random = SeededGenerator(case: number)
    let home = try TestHome()
    let writer = try home.writer()
    let printed = NastyText.make(200, &random)
    var rest = printed[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(Int.random(in: 1...300, using: &random)))
      rest = rest.dropFirst(piece.count)
      piece.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      home.clock.advance(seconds: Int64.random(in: 0...90, using: &random))
      writer.tick()
      if Bool.random(using: &random) {
        writer.record(
          .window(columns: 80, rows: Int.random(in: 1...99, using: &random), terminal: nil))
      }
    }
    try writer.end(.exit(0))

    var replay = Replay()
    var output: [UInt8] = []
    var times: [Timestamp] = []
    func record(_ time: Timestamp?, _ event: Replay.Event) {
      if let time { times.append(time) }
      if case .output(let bytes) = event { output += bytes }
    }
    var log = try home.log(writer.session)[...]
    while !log.isEmpty {
      let piece = Array(log.prefix(Int.random(in: 1...500, using: &random)))
      log = log.dropFirst(piece.count)
      piece.withUnsafeBytes { replay.add($0, record) }
    }
    replay.finish(record)
    #expect(output == printed)
    #expect(times == times.sorted())
  }

  @Test func `an asciicast has a header, rising times and whole characters`() throws {
    let start = Timestamp(milliseconds: 1_769_092_205_123)
    func at(_ milliseconds: Int64) -> Timestamp {
      Timestamp(milliseconds: start.milliseconds + milliseconds)
    }
    var cast = Asciicast(title: "vim", startedAt: start)
    var bytes: [UInt8] = []
    bytes += try cast.lines(at: at(0), .window(columns: 100, rows: 40, terminal: "xterm"))
    bytes += try cast.lines(at: at(5), .output(Array("a\u{1b}[1m\r\n".utf8) + [0xe2, 0x82]))
    bytes += try cast.lines(at: at(1250), .output([0xac, 0xff]))
    // Setting a clock back does not move events back.
    bytes += try cast.lines(at: at(900), .window(columns: 80, rows: 24, terminal: nil))
    bytes += try cast.lines(at: at(2000), .output([0xf0, 0x9f]))
    bytes += try cast.finish()
    let lines = try String(decoding: bytes, as: UTF8.self).split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8))
    }
    let header = try #require(lines[0] as? [String: Any])
    #expect(header["version"] as? Int == 2 && header["width"] as? Int == 100)
    #expect(header["height"] as? Int == 40 && header["timestamp"] as? Int == 1_769_092_205)
    let events = lines.dropFirst().compactMap { $0 as? [Any] }
    #expect(events.map { $0[0] as? Double } == [0.005, 1.25, 1.25, 2])
    #expect(events.map { $0[1] as? String } == ["o", "o", "r", "o"])
    #expect(
      events.map { $0[2] as? String } == ["a\u{1b}[1m\r\n", "€\u{fffd}", "80x24", "\u{fffd}"])
  }

  @Test(arguments: [
    ("plain ü €\r\n\t\u{8}\u{7}", "plain ü €\r\n\t\u{8}\u{7}"),
    ("\u{1b}[1;31mred\u{1b}[0m\u{1b}[K\u{1b}[2;3H", "\u{1b}[1;31mred\u{1b}[0m\u{1b}[K\u{1b}[2;3H"),
    ("\u{1b}[?1049h\u{1b}[?25l\u{1b}[4h", "\u{1b}[?1049h\u{1b}[?25l\u{1b}[4h"),
    ("\u{1b}(0qq\u{1b}(B\u{1b}7\u{1b}8\u{1b}M", "\u{1b}(0qq\u{1b}(B\u{1b}7\u{1b}8\u{1b}M"),
    // Titles, the clipboard, keys, any request to the terminal.
    ("a\u{1b}]52;c;aGk=\u{7}b\u{1b}]0;x\u{1b}\\c", "abc"),
    ("a\u{1b}P$q\"p\u{1b}\\b\u{1b}_x\u{1b}\\c\u{1b}^y\u{1b}\\d", "abcd"),
    ("a\u{1b}[6n\u{1b}[c\u{1b}[>c\u{1b}[5nb\u{5}\u{1b}Zc", "abc"),
    ("a\u{1b}[21t\u{1b}[?2004h\u{1b}[?1000hb\u{1b}[?25;1000lc", "abc"),
    ("a\u{1b}[>4;2m\u{1b}[?4m\u{1b}[1!pb", "ab"),
    ("a\u{1b}cb", "ab"),
    // A character set that ends in something else.
    ("a\u{1b}(\u{1b}]52;c;aGk=\u{7}b", "ab"),
    ("a\u{1b}(\u{5}0b\u{1b}(%5c\u{1b}#8d", "a\u{1b}(0b\u{1b}(%5cd"),
    ("a\u{1b}]0;x\u{1b}[31mb\u{1b}[6nc", "a\u{1b}[31mbc"),
    // As one character, U+009B begins a control sequence on some terminals.
    ("a\u{9b}6nb", "a6nb"),
    // Marks that reverse the direction of writing, between characters of two to four bytes.
    ("ä\u{202e}漢\u{2066}\u{61c}😀\u{200f}b", "ä漢😀b"),
    ("unfinished \u{1b}[12", "unfinished "),
    // Modes that would stay: local echo, new lines, the origin of lines.
    ("a\u{1b}[12l\u{1b}[20h\u{1b}[4;20h\u{1b}[?6h\u{1b}[?4h\u{1b}[25h\u{1b}[??25hb", "ab"),
    // Tab stops and character sets that would stay.
    ("a\u{1b}[3g\u{1b}[g\u{1b}Hb\u{1b}*0\u{1b}+0\u{1b}-A\u{1b}nc", "abc"),
    ("\u{1b})0\u{e}q\u{f}", "\u{1b})0\u{e}q\u{f}"),
    // Repetitions for hours.
    ("a\u{1b}[80b\u{1b}[99999999b\u{1b}[1001b\u{1b}[99999999999999999999Lb", "a\u{1b}[80bb"),
    (
      "\u{1b}[999;999H\u{1b}[0;38:2::255:0:9m\u{1b}[;Hb",
      "\u{1b}[999;999H\u{1b}[0;38:2::255:0:9m\u{1b}[;Hb"
    ),
  ]) func `the terminal filter passes only sequences that draw`(text: String, passed: String) {
    var whole = TerminalFilter()
    #expect(String(decoding: whole.pass(Array(text.utf8)), as: UTF8.self) == passed)
    var split = TerminalFilter()
    let pieces = text.utf8.flatMap { split.pass([$0]) }
    #expect(String(decoding: pieces, as: UTF8.self) == passed)
  }

  /// Setting the whole screen as the scrolling region moves the cursor to its first line.
  @Test func `resetting the terminal leaves the cursor in place`() {
    let reset = "\(TerminalFilter.reset)"
    #expect(reset.contains("\u{1b}7\u{1b}[r\u{1b}8"))
    #expect(reset.hasPrefix("\u{0f}\u{1b}7\u{1b}[?1049l"))
    #expect(reset.contains("\u{1b}[4l") && !reset.contains("\n"))
    #expect(reset.contains("\u{1b}(B\u{1b})B"))
  }

  /// Longer forms of U+009B, ESC and NUL; surrogates; numbers beyond Unicode; cut characters.
  @Test(
    arguments: [
      [0xe0, 0x80, 0x9b], [0xe0, 0x82, 0x9b], [0xf0, 0x80, 0x82, 0x9b], [0xf0, 0x80, 0x80, 0x9b],
      [0xc1, 0x9b], [0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
      [0xe2, 0x82], [0xc2, 0x9b], [0xf5, 0x80, 0x80, 0x80],
    ] as [[UInt8]])
  func `bytes that are no character of UTF-8 do not pass`(bytes: [UInt8]) {
    var filter = TerminalFilter()
    #expect(filter.pass(Array("a".utf8) + bytes + Array("[cb".utf8)) == Array("a[cb".utf8))
    #expect(filter.pass(Array("€\u{fffd}😀".utf8)) == Array("€\u{fffd}😀".utf8))
  }

  @Test(arguments: SeededGenerator.cases(50))
  func `the terminal filter blocks all other sequences in any input`(number: Int) {
    var random = SeededGenerator(case: number)
    let alphabet =
      Array("\u{1b}\u{1b}[]PX^_\\()#0123;?>!$ cntmhlHqz".utf8) + [0x07, 0x05, 0x9b, 0xc2, 0x90]
    let bytes = (0..<500).compactMap { _ in alphabet.randomElement(using: &random) }
    var filter = TerminalFilter()
    let passed = String(decoding: filter.pass(bytes), as: UTF8.self)
    var again = TerminalFilter()
    #expect(String(decoding: again.pass(Array(passed.utf8)), as: UTF8.self) == passed)
    let after = passed.unicodeScalars.split(separator: "\u{1b}").dropFirst().compactMap(\.first)
    #expect(!after.contains { "]PX^_cZ".unicodeScalars.contains($0) })
    #expect(!passed.utf8.contains(0x05) && !passed.unicodeScalars.contains("\u{9b}"))
  }
}
