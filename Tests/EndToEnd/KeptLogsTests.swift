import Foundation
import TestServers
import TestSupport
import Testing

/// The program keeps logs that might be lost, and says so.
@Suite(.tags(.medium)) struct KeptLogsTests {
  @Test func `a lost device record is reported until its sessions are sent again`() async throws {
    let program = try Program()
    #expect(try await program.run("init", program.environment["URL"] ?? "").status == 0)
    let result = try await program.shell(
      """
      cd "$FOLDER"
      mkfifo more ready
      $T run --no-upload -- sh -c 'echo first; echo >ready; read x <more' >/dev/null &
      read x <ready
      until grep -q first home/sessions/*/*.log; do :; done
      $T upload && $T status >/dev/null && rm home/device.json
      $T status; echo "status $?"
      $T upload; echo "upload $?"
      $T upload; echo "upload $?"
      $T status >/dev/null; echo "status $?"
      echo >more; wait
      $T upload; echo "upload $?"
      $T verify >/dev/null; echo "verify $?"
      """)
    let lines = result.text.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("device changed 1 session recorded as device ") })
    let codes = lines.filter { $0.hasSuffix(" 0") || $0.hasSuffix(" 1") }.suffix(6)
    #expect(
      codes == ["status 1", "upload 1", "upload 0", "status 0", "upload 0", "verify 0"],
      "\(result.text)\(result.errors)")
    #expect(result.errors.contains("sent again as"), "\(result.errors)")
  }

  @Test func `what only reads leaves the home of another machine alone`() async throws {
    let program = try Program()
    #expect(try await program.run("init", program.environment["URL"] ?? "").status == 0)
    try await program.record("echo", "sent")
    let result = try await program.shell(
      """
      cd "$TIDEMARK_HOME"
      jq '.machineId = "elsewhere" | del(.machines)' device.json >other && mv other device.json
      cp device.json was; id=$(jq -r .deviceId was)
      $T list >/dev/null; $T grep sent >/dev/null; $T why a >/dev/null 2>&1
      $T status --json | grep -q "$id" && $T doctor --json | grep -q "$id" && echo known
      cmp device.json was && ls control/key*
      """)
    let lines = result.text.split(separator: "\n")
    #expect(lines == ["known", "control/key.json"], "\(result.text)\(result.errors)")
  }

  /// A former id may be that of a machine which the home was copied from.
  @Test func `sealed sessions of a lost device id are read, and deleted by name only`() async throws
  {
    let program = try Program()
    try await program.run("init", program.environment["URL"] ?? "")
    try await program.record("echo", "sent")
    let session = try #require(try await program.list().first?["sessionId"] as? String)
    let result = try await program.shell(
      """
      cd "$TIDEMARK_HOME"; rm device.json
      $T verify; echo "verify $?"
      $T show --remote \(session) | tail -1; $T pull ../mirror; ls ../mirror/*/*/*.log | wc -l
      $T delete --all --yes; echo "delete $?"
      $T show --remote \(session) | wc -l
      $T delete \(session) --yes; echo "delete $?"
      find "${URL#file://}" -name '\(session)*' | wc -l
      """)
    let lines = result.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines.contains("verify 0") && lines.contains { $0.contains("SESSION END") })
    #expect(lines.filter { $0 == "delete 0" }.count == 2 && lines.last == "0", "\(lines)")
    #expect(lines.contains("1"), "\(lines)")
    #expect(result.errors.contains("the remote copies of 1 session stay"), "\(result.errors)")
  }

  @Test func `a session whose objects are gone is not said to be kept remotely`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    try await program.run("init", endpoint.url)
    try await program.record("echo", "sent")
    let session = try #require(try await program.list().first?["sessionId"] as? String)
    #expect(try await program.run("keep", session).status == 0)
    let removed = try await program.shell("rm ${URL#file://}/devices/*/*/\(session).g1.*")
    #expect(removed.status == 0, "\(removed.errors)")
    let kept = try await program.run("keep", session)
    #expect(kept.status == 1 && kept.errors.contains("not whole"), "\(kept.errors)")
  }

  @Test func `reaping without a store keeps sessions that were never uploaded`() async throws {
    let program = try Program()
    try await program.run("init", program.environment["URL"] ?? "")
    let result = try await program.shell(
      """
      $T run --no-upload -- echo sent >/dev/null && $T upload
      $T run --no-upload -- echo unsent >/dev/null
      sed -i 's/^store: .*//; s/^consent: .*//' "$TIDEMARK_HOME/tidemark.yaml"
      \(Program.makesLocalSessionsOld)
      $T reap --older-than 1s --yes --explain; echo "reap $?"
      ls "$TIDEMARK_HOME"/sessions/*/*.log | wc -l
      """)
    #expect(result.text.hasSuffix("reap 0\n2\n"), "\(result.text)\(result.errors)")
    #expect(result.text.contains("none is configured to prove its remote copy against"))
  }

  /// Only a configuration that says so disables sending permanently.
  @Test(arguments: [
    ("", "", 1), ("store: s3://bucket/logs", "", 1), ("consent: logs", "", 1),
    ("store: s3://bucket/logs\nconsent: none", "", 0), ("consent: none", "", 0),
    ("store: none", "", 0), ("consent: none", "TIDEMARK_STORE=s3://bucket/logs", 0),
  ])
  func `age alone decides only where nothing is to be sent`(
    configuration: String, variable: String, left: Int
  ) async throws {
    let program = try Program()
    let result = try await program.shell(
      """
      $T run --no-upload -- echo unsent >/dev/null
      echo '\(configuration)' >"$TIDEMARK_HOME/tidemark.yaml"
      \(Program.makesLocalSessionsOld)
      \(variable) $T reap --local --older-than 1s --yes --explain; echo "reap $?"
      ls "$TIDEMARK_HOME"/sessions/*/*.log 2>/dev/null | wc -l
      """)
    #expect(result.text.hasSuffix("reap 0\n\(left)\n"), "\(result.text)\(result.errors)")
    if left > 0 { #expect(result.text.contains("'store: none'"), "\(result.text)") }
  }

  @Test func `a folder store that was emptied is no store`() async throws {
    let program = try Program()
    try await program.run("init", program.environment["URL"] ?? "")
    let result = try await program.shell(
      """
      $T run --no-upload -- echo sent >/dev/null && $T upload
      rm -r "$FOLDER"/store/*
      \(Program.makesLocalSessionsOld)
      $T reap --local --older-than 1s --yes; echo "reap $?"
      $T run --no-upload -- echo unsent >/dev/null
      $T upload; echo "upload $?"
      ls "$FOLDER"/store | wc -l; ls "$TIDEMARK_HOME"/sessions/*/*.log | wc -l
      """)
    #expect(result.text == "reap 78\nupload 78\n0\n2\n", "\(result.text)\(result.errors)")
  }
}
