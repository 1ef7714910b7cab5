import Foundation
import SessionLog
import TestSupport
import Testing

/// Scenarios from a shell user's point of view.
@Suite(.tags(.medium)) struct ScenarioCommandTests {
  @Test func `scenario records are written only while the scenario is enabled`() async throws {
    let program = try Program()
    func record(_ message: String) async throws -> Command.Result {
      try await program.shell(
        """
        $T run --no-upload --scenario Net --scenario Other -- sh -c '
          echo "declared $TIDEMARK_SCENARIOS"
          $T log info --scenario Net "\(message)"; $T log info --scenario Net "\(message)"
          $T log info always'
        """)
    }
    func log() async throws -> String {
      let id = try #require(await program.list().first?["sessionId"] as? String)
      return String(decoding: try program.log(id), as: UTF8.self)
    }
    let unknown = try await program.run("scenario", "enable", "Net")
    #expect(unknown.status == 64 && unknown.errors.contains("there is no scenario Net"))

    let off = try await record("hidden")
    #expect(off.status == 0 && off.text.contains("declared Net,Other\n"))
    // The first record left out in a session is reported.
    #expect(off.errors.components(separatedBy: "scenario Net is off").count == 2)
    let hidden = try await log()
    #expect(hidden.contains("[Session] SCENARIO Net off: 2 records not written\n"))
    #expect(!hidden.contains("hidden") && hidden.contains("[Script] always\n"))
    #expect(hidden.contains("[Session] SCENARIO Net off\n"))
    #expect(try await program.run("scenario", "test", "Net").status == 1)

    let tried = try await program.shell(
      "$T scenario enable Net --dry-run && $T scenario disable Net --dry-run && "
        + "$T scenario forget Net --dry-run")
    #expect(
      tried.text == "would switch Net on\nwould switch Net off\nwould forget Net\n",
      "\(tried.errors)")
    #expect(try await program.run("scenario", "test", "Net").status == 1)

    #expect(try await program.run("scenario", "enable", "Net", "--for", "1h").status == 0)
    #expect(try await program.run("scenario", "test", "Net").status == 0)
    let listed = try await program.run("scenario", "list")
    #expect(listed.text.contains("Net") && listed.text.contains("(until "))
    let rows = try await program.run("scenario", "list", "--json").text.split(separator: "\n")
    #expect(rows.count == 2 && rows.first?.contains("\"isEnabled\":true") == true)

    #expect(try await record("shown").status == 0)
    let shown = try await log()
    #expect(shown.matches(of: /\[INFO\] \[Script\] \{Net\} shown\n/).count == 2)

    #expect(try await program.run("scenario", "disable", "Net").status == 0)
    // Use without a declaration declares it.
    let first = try await program.shell(
      "$T run --no-upload -- sh -c '$T log info --scenario New x; $T log info --scenario New y'")
    #expect(first.errors.components(separatedBy: "scenario New is off").count == 2)
    #expect(try await program.run("scenario", "forget", "Other").status == 0)
    #expect(try await program.run("scenario", "test", "Other").status == 1)
    let wrong = try await program.run("scenario", "test", "a{b")
    #expect(wrong.status == 64 && wrong.errors.contains("invalid scenario"))
  }
}
