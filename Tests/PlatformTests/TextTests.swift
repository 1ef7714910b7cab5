import Platform
import TestSupport
import Testing

@Suite(.tags(.small)) struct TextTests {
  @Test func `hex has two digits per byte`() {
    #expect(Hex.text([0, 9, 0x0f, 0x10, 0xab, 0xff] as [UInt8]) == "00090f10abff")
    #expect(Hex.text([]) == "")
  }

  @Test(
    arguments: [
      ("plain é", "plain é"), ("a\r\nb\tc", "a  b c"), ("\u{1b}[31m\u{7f}", "\\u{1b}[31m\\u{7f}"),
      ("\u{202e}\u{2028}\u{e000}", "\\u{202e}\\u{2028}\\u{e000}"), ("", ""),
      ("\u{61c}\u{200b}\u{9b}\u{feff}", "\\u{61c}\\u{200b}\\u{9b}\\u{feff}"),
    ] as [(String, String)])
  func `foreign text is escaped to a single line`(text: String, shown: String) {
    #expect(String(oneLine: text) == shown)
  }

  @Test(
    arguments: [
      ("/var/log/a-b_1.log", "/var/log/a-b_1.log"), ("", "''"), ("a b", "'a b'"), ("-rf", "'-rf'"),
      ("x$(id>pwn)", "'x$(id>pwn)'"), ("a'b", #"'a'\''b'"#), ("~root", "'~root'"),
      ("é*", "'é*'"),
    ] as [(String, String)])
  func `a name is one word of a shell's command`(text: String, word: String) {
    #expect(text.shellWord == word)
  }

  @Test func `long text is truncated with an ellipsis`() {
    #expect(String(oneLine: "abcdef", limit: 3) == "abc…")
    #expect(String(oneLine: "abc", limit: 3) == "abc")
  }

  @Test func `durations are shown in rounded milliseconds`() {
    #expect(Duration.microseconds(1499).millisecondsText == "1 ms")
    #expect(Duration.microseconds(1500).millisecondsText == "2 ms")
  }

  @Test func `nouns agree with their numbers`() {
    #expect(Plural.text(0, "session") == "0 sessions" && Plural.text(1, "session") == "1 session")
    #expect(Plural.text(2, "copy", "copies") == "2 copies")
    #expect([1, 2, 3].map(Plural.times) == ["once", "twice", "3 times"])
  }
}
