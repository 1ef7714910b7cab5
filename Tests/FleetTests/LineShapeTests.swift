import TestSupport
import Testing

@testable import Fleet

@Suite(.tags(.small)) struct LineShapeTests {
  @Test(arguments: [
    ("2026-01-22T14:30:05.123Z lost 10.0.0.7:8080", "<time> lost <ip>"),
    ("2026/01/22 14:30:05,7 x", "<time> x"),
    ("14:30:05 x 2026-01-22 y", "<time> x <time> y"),
    ("2026-01-22T14:30:05+01:00", "<time>"),
    ("at 0x7ffd3a10 in main", "at <addr> in main"),
    ("id=123e4567-e89b-12d3-a456-426614174000;", "id=<id>;"),
    ("commit deadbeef42 by feedback", "commit <id> by feedback"),
    ("see 20260122t143005z-k3f9a7c2.log", "see <id>.log"),
    ("token a8Fk29xLq0Zz81MnPq", "token <id>"),
    ("worker12: 1,024.5 MB, -3 of 42%", "worker<n>: <n> MB, -<n> of <n>%"),
    ("open /tmp/a8s7d6/x.sock: no", "open <tmp>: no"),
    ("open '/run/user/1000/bus'", "open '<tmp>'"),
    ("/home/anna/app/main.py:42", "/home/<user>/app/main.py:<n>"),
    ("by [REDACTED:email*****], ok", "by [REDACTED:email], ok"),
    ("\u{1b}[31mred\u{1b}[0m   \t blank ", "red blank"),
    ("größe 5", "größe <n>"),
    ("1.2.3 is a version, 1.2.3.4.5 too", "<n> is a version, <n> too"),
    ("", ""), ("a[", "a["), ("\u{1b}[", ""), ("[REDACTED:x", "[REDACTED:x"), ("0x", "<n>x"),
    ("12:", "<n>:"), ("2026-01-", "<n>-<n>-"),
  ])
  func `variable parts of a line are replaced by placeholders`(line: String, shape: String) {
    #expect(LineShape.of(line) == shape)
  }

  @Test func `the shape of a long line is truncated`() {
    #expect(LineShape.of(String(repeating: "ab ", count: 5000)).count <= 300)
  }

  private func signature(_ lines: [String], app: String = "app", cause: String = "reboot") -> String
  {
    CrashSignature(app: app, cause: cause, lines: lines).id
  }

  @Test func `crashes that differ only in variable parts have the same signature`() {
    let time = "2026-01-22T14:30:05.123Z"
    let one = signature([
      "\(time) [INFO] [stdout] served 12 requests",
      "\(time) [ERROR] [stderr] worker 7 died at 0xab",
      "\(time) [INFO] [Session] SESSION END signal 11 (SIGSEGV)",
    ])
    let other = signature([
      "2026-02-02T00:00:00.000Z [INFO] [stdout] hello", "",
      "2026-02-02T00:00:00.000Z [ERROR] [stderr] worker 31 died at 0xcd",
    ])
    #expect(one == other)
    #expect(one != signature(["ERROR: x", "y"]))
    #expect(signature(["x"]) != signature(["x"], app: "other"))
    #expect(signature(["x"]) != signature(["x"], cause: "exit 1"))
    #expect(signature([]) != signature([], app: "other"))
  }

  @Test func `a signature starts at the error, else uses the last lines`() {
    let noise = (0..<9).map { "step \(Character(Unicode.Scalar(97 + UInt8($0))))" }
    #expect(signature(noise + ["ERROR: disk full"]) == signature(["ERROR: disk full"]))
    #expect(signature(noise) == signature(noise.suffix(5)))
    let title = CrashSignature(app: "a", cause: "b", lines: noise + ["ERROR: disk 7 full", "at x"])
      .title
    #expect(title == "ERROR: disk <n> full")
  }
}
