import TestSupport
import Testing

@testable import tidemark

/// What reaches a terminal of names and messages that somebody else chose.
@Suite(.tags(.small)) struct TerminalTextTests {
  @Test(arguments: [
    (true, "a\u{1b}[31mb\u{1b}[0m", "a\u{1b}[31mb\u{1b}[0m"),
    (true, "a\u{1b}[5mb\u{1b}]0;x", "a␛[5mb␛]0;x"),
    (false, "a\u{1b}[31mb", "a␛[31mb"),
    (true, "a\u{3164}\u{34f}\u{fe01}\u{fffc}\u{2800}b", "a\\u3164\\u034f\\ufe01\\ufffc\\u2800b"),
    (true, "⚠\u{fe0f} ü 漢", "⚠\u{fe0f} ü 漢"),
  ]) func `only our colours and visible characters remain`(
    keepsColours: Bool, text: String, shown: String
  ) {
    let bytes = Array(text.utf8).withUnsafeBytes {
      TerminalText.harmless($0, keepsColours: keepsColours)
    }
    #expect(String(decoding: bytes, as: UTF8.self) == shown)
  }

  @Test func `of many refused folders ten are named`() {
    let lines = RefusedHomes.lines(
      (0..<300).map { RefusedHome("/var/lib/tidemark/x\($0)", because: "is a file") })
    #expect(lines.count == 11 && lines.last == "skipped: 290 more folders")
    #expect(RefusedHomes.lines([]).isEmpty)
  }
}
