import Platform
import SessionLog
import TestSupport
import Testing
import TidemarkUpload

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

  @Test(arguments: [
    ("a\nb", "a b"), ("a\r\nb\rc", "a␍ b␍c"), ("a\u{1b}[31mb\u{1b}[0m", "a␛[31mb␛[0m"),
    ("ü\u{202e}x", "ü\\u202ex"), ("", ""),
  ])
  func `a line with text from elsewhere stays one line without colours`(
    text: String, shown: String
  ) {
    #expect(String(decoding: TerminalText.line(text), as: UTF8.self) == shown + "\n")
  }

  @Test(arguments: [
    "x\n20260122t143005z-victim01  ok  1.2 MB, whole", "x\r\nok", "x\u{1b}[32mok\u{1b}[0m\u{9b}0m",
    "x\u{2028}ok\u{202e}",
  ])
  func `what a report and a table repeat stays one line without colours`(text: String) throws {
    let session = try #require(SessionID("20260122t143005z-k3f9a7c2"))
    let found = VerificationPass.Finding(session: session, result: .failed, problem: text)
    let line = Verify.text(found)
    #expect(line.lines(width: nil) == [line.text])
    let cell = Table.Cell(text, short: text)
    for shown in [line.text, cell.text, cell.short ?? "\n"] {
      #expect(!shown.unicodeScalars.contains { $0.isInvisible }, "\(shown)")
    }
    #expect(Console.coloured(text, .red).unicodeScalars.count { $0 == "\u{1b}" } == 2)
  }

  @Test func `of many refused folders ten are named`() {
    let lines = RefusedHomes.lines(
      (0..<300).map { RefusedHome("/var/lib/tidemark/x\($0)", because: "is a file") })
    #expect(lines.count == 11 && lines.last == "skipped: 290 more folders")
    #expect(RefusedHomes.lines([]).isEmpty)
  }
}
