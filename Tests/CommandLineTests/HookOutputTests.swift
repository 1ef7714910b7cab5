import TestSupport
import Testing

@testable import tidemark

/// What commands of `on-crash` print that run as the owner of a session.
@Suite(.tags(.small)) struct HookOutputTests {
  @Test func `each line names the user who may have written it`() {
    let output = Array("sent\n\ntidemark: /home/x: all is lost\r\u{1b}[2J\nlast".utf8)
    #expect(
      Hooks.lines(output, of: "crash", for: "anna") == [
        "on-crash of anna: sent",
        "on-crash of anna: tidemark: /home/x: all is lost \\u{1b}[2J",
        "on-crash of anna: last",
      ])
    #expect(Hooks.lines([], of: "stale", for: "anna").isEmpty)
  }

  @Test func `there are few lines, and none is long`() {
    let line = String(repeating: "x", count: 9999) + "\n"
    let output = String(repeating: line, count: 25)
    let lines = Hooks.lines(Array(output.utf8), of: "stale", for: "anna")
    #expect(lines.count == 21 && lines.last == "on-stale of anna: and 5 more lines")
    #expect(lines.allSatisfy { $0.count < 500 })
  }
}
