import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import tidemark

/// What root's `status` makes of what the processes of other users' homes report.
@Suite(.tags(.medium)) struct ExaminationTests {
  /// What is found in homes if each process runs a script instead of an examination.
  private func findings(
    _ scripts: [String], for time: Duration = .seconds(600), limit: Int = 1000
  ) throws -> [(found: [String]?, error: String)] {
    let homes = try scripts.map { _ in try TestHome() }
    let scriptOf = Dictionary(
      uniqueKeysWithValues: zip(homes.map { $0.home.path }, scripts))
    var examination = Examination(.scenarios)
    examination.replacement = { home in
      var child = ChildProcess(
        ["/bin/sh", "-c", scriptOf[home.path] ?? ""], environment: ["PATH": "/usr/bin:/bin"])
      child.defaultSignals = [SIGALRM]
      return try SupervisedProcess(
        child,
        reading: [
          .init(HomeProcess.resultDescriptor, limit: limit), .init(1, limit: 1000),
          .init(2, limit: 1000),
        ], for: time, on: .current)
    }
    let findings = try examination.findings(in: homes.map(\.home), as: [String].self)
    #expect(findings.map(\.home.path) == homes.map { $0.home.path })
    return findings.map { _, finding -> (found: [String]?, error: String) in
      do {
        return (try finding.get(), "")
      } catch {
        return (nil, "\(error)")
      }
    }
  }

  @Test func `a home that cannot be examined does not hide the others`() throws {
    let found = try findings([
      #"printf %s '{"value":["a"]}' >&3"#, "kill -9 $$", "exit 0", "printf %s '{' >&3; exit 1",
      #"printf %s '{"error":"no\u001b[2J\nroot"}' >&3; exit 78"#, "kill -ALRM $$",
      #"printf %s '{"value":["f"]}' >&3; kill -9 $$"#, #"printf %s '{"value":["g"]}' >&3; exit 1"#,
    ])
    #expect(found.map(\.found) == [["a"], nil, nil, nil, nil, nil, nil, ["g"]])
    let errors = found.map(\.error)
    #expect(errors[1].hasPrefix("not examined: its process was ended by signal 9; "))
    #expect(errors[1].contains("'tidemark status' examines it without a limit"))
    for error in [errors[2], errors[3]] {
      #expect(error.hasPrefix("not examined: its process reported nothing; "))
    }
    #expect(errors[4] == #"no\u{1b}[2J root"#)
    #expect(errors[5].hasPrefix("not examined: it took more than 1 m; "))
  }

  @Test func `a report that is late or too long is none`() throws {
    let late = try findings(["exec sleep 600"], for: .zero)
    #expect(late[0].error.hasPrefix("not examined: it took more than 1 m; "))
    let long = try findings([#"printf %s '{"value":["0123456789"]}' >&3"#], limit: 20)
    #expect(long[0].error.hasPrefix("not examined: there is too much to report; "))
  }

  @Test func `a report in JSON is one of its own home`() throws {
    let home = MachineWide.home(of: Account(id: 0))
    let path = #""home":"/var/lib/tidemark/root""#
    func checked(_ json: String) throws -> HomeReport {
      let fields: [String: Any] = [
        "lines": [String](), "json": json, "isOverdue": false, "isPartial": true,
      ]
      let report = try JSONDecoder().decode(
        HomeReport.self, from: JSONSerialization.data(withJSONObject: fields))
      return try report.checked(for: home)
    }
    #expect(try checked(#"{\#(path),"user":"root"}"#).isPartial)
    let forged = [
      "", "[]", "{}", #"{\#(path)}"#, #"{\#(path),"user":"bin"}"#,
      #"{"home":"/var/lib/tidemark/bin","user":"root"}"#,
      "{\(path),\"user\":\"root\",\r\n\"sending\":\"yes\"}",
      "{\(path),\"user\":\"root\"}\n{\(path),\"user\":\"bin\"}",
    ]
    for json in forged { #expect(throws: (any Error).self) { try checked(json) } }
  }

  @Test func `a report for people has lines without control characters`() throws {
    let json = #"""
      {"lines":[{"text":"a\u001b[2J\nuser  root","colour":"33","indent":-4}],"isOverdue":true,
        "isPartial":false}
      """#
    let report = try JSONDecoder().decode(HomeReport.self, from: Data(json.utf8))
    let checked = try report.checked(for: MachineWide.home(of: Account(id: 0)))
    #expect(checked.lines.map(\.text) == [#"a\u{1b}[2J user  root"#])
    #expect(checked.isOverdue && !checked.isPartial)
    #expect(checked.lines.flatMap { $0.lines(width: 8) }.count == 3)
  }
}
