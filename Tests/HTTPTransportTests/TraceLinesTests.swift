import TestSupport
import Testing

@testable import HTTPTransport

@Suite(.tags(.small)) struct TraceLinesTests {
  private static let head = "PUT /k HTTP/1.1\r\nHost: h\r\nAuthorization: Basic c2VjcmV0\r\n\r\n"

  /// However libcurl splits its reports.
  @Test(arguments: [1, 2, 3, 7, 40, 1000])
  func `a head traced in pieces hides the same secrets`(_ size: Int) {
    var lines = TraceLines(SecretMask())
    var result: [String] = []
    let bytes = Array(Self.head.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      result += lines.add(.sent, bytes[start..<min(start + size, bytes.count)])
    }
    #expect(result == ["> PUT /k HTTP/1.1", "> Host: h", "> Authorization: Basic ***"])
  }

  @Test func `a folded header is masked to its end`() {
    var lines = TraceLines(SecretMask())
    let text = "Set-Cookie: a=1\r\n b=2\r\n\tc=3\r\nServer: x\r\n folded\r\n"
    #expect(
      lines.add(.received, text.utf8)
        == ["< Set-Cookie: ***", "<  ***", "<  ***", "< Server: x", "<  folded"])
  }

  @Test func `bodies are counted but never shown`() {
    var lines = TraceLines(SecretMask())
    lines.addBody(.sent, 100)
    lines.addBody(.sent, 23)
    #expect(lines.add(.note, "done\n".utf8) == ["> (123 bytes of body)", "* done"])
    lines.addBody(.received, 5)
    #expect(lines.finish() == ["< (5 bytes of body)"])
    #expect(lines.finish() == [])
  }

  @Test func `an incomplete header line is not shown`() {
    var lines = TraceLines(SecretMask())
    #expect(lines.add(.sent, "Authorizat".utf8) == [])
    #expect(lines.finish() == [])
    #expect(lines.add(.sent, "ion: Basic x\n".utf8) == ["> ion: Basic x"])
  }

  @Test func `control characters are escaped and long lines truncated`() {
    var lines = TraceLines(SecretMask())
    #expect(
      lines.add(.received, "X: \u{1b}[31m\u{202e}a\u{7f}\r\n".utf8)
        == ["< X: \\u{1b}[31m\\u{202e}a\\u{7f}"])
    let long = lines.add(.received, (String(repeating: "x", count: 20_000) + "\n").utf8)
    #expect(long.count == 1 && long[0].utf8.count < 9000 && long[0].hasSuffix("…"))
  }

  @Test(arguments: [1, 5, 12, 300])
  func `the part of a secret before the cut of a long line is masked`(_ distance: Int) {
    var lines = TraceLines(SecretMask(known: ["hunter22hunter22"]))
    let rest = String(repeating: "y", count: 600) + "\n"
    let line = "X: " + String(repeating: "x", count: 8189 - distance) + "hunter22hunter22" + rest
    for kind in [TraceLines.Kind.note, .received] {
      let shown = lines.add(kind, line.utf8)
      #expect(shown.count == 1 && !shown[0].contains("h") && shown[0].hasSuffix("***…"))
    }
  }
}
