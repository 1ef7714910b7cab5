import TestSupport
import Testing

@testable import Sync

/// The names that rotation gives to logs.
@Suite(.tags(.small)) struct RotatedNameTests {
  @Test(arguments: [
    ("app.log.1", ["app.log"]), ("app.log-20260122", ["app.log"]),
    ("app.log.3.gz", ["app.log"]), ("app-20260122.log", ["app.log"]),
    ("app.1.log.zst", ["app.log"]), ("app.log-2026-01-22T10.00.00", ["app.log"]),
    ("www.example.com.1.log.gz", ["www.example.com.log"]),
    ("www.example.com-20260122.log", ["www.example.com.log"]),
    ("app.log.old", ["app.log"]), ("app-old.log.gz", ["app.log"]),
    ("Xorg.0.log.old", ["Xorg.0.log"]),
    ("app.log", []), ("app.log.gz", []), ("app.log.bak", []), ("older.log", []),
  ])
  func `the log that was rotated is among the originals of a name`(
    name: String, logs: [String]
  ) {
    #expect(Set(LogSource.originalNames(of: name[...])).isSuperset(of: logs))
    if logs.isEmpty { #expect(LogSource.originalNames(of: name[...]).isEmpty) }
  }

  /// Who writes logs chooses their names.
  @Test(arguments: [".", "1.", "1-", "-1.", ".1-_"])
  func `a name has few originals however it is made`(part: String) {
    let name = "x" + String(String(repeating: part, count: 250).prefix(254))
    #expect(LogSource.originalNames(of: name[...]).count < 2000)
    #expect(LogSource.originalNames(of: (name.prefix(251) + ".gz")[...]).count < 2000)
  }
}
