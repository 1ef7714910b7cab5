import Foundation
import TestServers
import TestSupport
import Testing

/// Runs the commands of the README and the guides, as a reader would, in a home of its own.
@Suite(.tags(.large)) struct GuideRunTests {
  /// Lines that are not run, by the reason.
  private static let excluded: [String: Set<String>] = [
    "needs a server and a login of the reader": [
      "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_REGION=eu-central-1",
      "export AWS_ENDPOINT_URL=https://minio.example:9000",
      "export TIDEMARK_WEBDAV_USER=anna TIDEMARK_WEBDAV_PASSWORD=…",
      "tidemark init s3://bucket/logs",
      "tidemark init https://cloud.example/remote.php/dav/files/anna/logs",
      "tidemark init https://host.example/dav/logs",
      "Scripts/list-sessions.sh s3://bucket/logs",
      "Scripts/export-session.sh -o session.log 20260122t143005z s3://bucket/logs",
      "Scripts/reap-remote.sh --older-than 30d https://host/dav/logs",
    ],
    "changes the whole machine": [
      "tidemark init --machine URL", "tidemark list --user NAME", "tidemark show ID --user NAME",
    ],
    "builds the package or runs its tests": [
      "swift build", "Scripts/demo", "Scripts/test", "Scripts/test --only 'RecordTests'",
      "Scripts/test --full", "Scripts/simulate", "Scripts/simulate --first 7 --count 1 --trace",
      "Scripts/mutants --only NAME",
    ],
  ]
  /// Placeholders in guides, and the shell text that replaces them here.
  private static let substitutes = [
    (" ID", " $ID"), ("20260122t143005z-k3f9a7c2", "$ID"),
    ("file:///srv/logs", "$URL"), ("/var/lib/node_exporter", "$FOLDER"),
  ]
  /// Commands that need something done first.
  private static let preparations = [
    "tidemark restore ID":
      "tidemark keep --release $ID >/dev/null; tidemark delete --local --yes $ID",
    "ls 20260122t143005z-k3f9a7c2.s*.json | tail -n 1 | xargs jq -r '.objects[]' "
      + "| xargs cat | zstd -d > session.log": "cd $(dirname store/devices/*/*/$ID.s0001.*)",
  ]
  /// Commands of a script that is being recorded.
  private static let inSession: Set = [
    #"tidemark log warning "disk at 91 %""#,
    #"tidemark log debug --scenario Checkout "basket: 3""#,
  ]
  /// Exit codes other than 0: a crash makes the alert fire.
  private static let statuses: [String: Int32] = ["tidemark alert --check": 1]

  private let program: Program
  private let chat: ScriptedServer

  init() throws {
    program = try Program()
    chat = try ScriptedServer(Array(repeating: ScriptedServer.answer("200 OK"), count: 9))
  }

  /// Makes the programs, files, sessions and rules that the guides mention.
  ///
  /// A shell does it: files written by this process may still be open in other tests' children.
  private func prepare() async throws {
    let alerts = try #require(GuideTests.block("yaml", in: "Alerts.md", containing: "alerts:"))
    let rules = try #require(
      GuideTests.block("yaml", in: "SecretsAndConsent.md", containing: "redact:"))
    let files = [
      "alerts.yaml": alerts.replacing("https://hooks.example/services/x", with: chat.url),
      "rules.yaml": rules, "FILE": "2026-01-22 14:30:05 INFO customer=12 paid\n",
    ]
    for (name, text) in files { try program.folder.write(text, to: name) }
    let made = try await bash(
      """
      mkdir bin
      ln -s "$T" bin/tidemark
      for name in bin/some-program bin/vim nightly-job shop; do
        printf '#!/bin/sh\\necho "connection time-out"\\n' >$name
        chmod +x $name
      done
      tidemark init "$URL"
      tidemark run --no-upload --app service -- sh -c 'echo ERROR: lost >&2; kill -9 $$' || true
      tidemark run --no-upload -- ./nightly-job
      tidemark upload
      mv alerts.yaml home/
      """)
    #expect(made.status == 0, "\(made.text)\(made.errors)")
  }

  private func bash(_ script: String) async throws -> Command.Result {
    var environment = program.environment
    environment["T"] = Program.path
    environment["PATH"] = program.folder.path + "/bin:/usr/bin:/bin:/opt/homebrew/bin"
    return try await Command(
      ["/bin/bash", "-e", "-o", "pipefail", "-c", "cd \"$FOLDER\"\n" + script],
      environment: environment
    ).run()
  }

  /// A script for a command of a guide.
  private func script(for command: String, of example: GuideTests.Example) -> String {
    var line = command
    for (text, substitute) in Self.substitutes { line = line.replacing(text, with: substitute) }
    let preparation = Self.preparations[command].map { $0 + " >/dev/null\n" } ?? ""
    if example.file.hasSuffix("Format.md") {
      return "cd store; set -- devices/*/*/*.terminated.*.json; seal=$1\n" + line
    }
    guard Self.inSession.contains(command) else { return preparation + line }
    return "cat >in-session <<'END'\n\(line)\nEND\ntidemark run -- /bin/bash -e in-session"
  }

  @Test func `every command in a guide runs`() async throws {
    try await prepare()
    let listed = try await program.list("--app", "nightly-job")
    let id = try #require(listed.first?["sessionId"] as? String)
    var seen: Set<String> = []
    let reasons = Self.excluded.values.reduce(into: Set()) { $0.formUnion($1) }
    for example in GuideTests.commands {
      let command = example.command
      guard seen.insert(command).inserted, !reasons.contains(command) else { continue }
      let result = try await bash("ID=\(id)\n" + script(for: command, of: example))
      #expect(
        result.status == Self.statuses[command] ?? 0,
        "\(example.file): \(command)\n\(result.text.suffix(500))\(result.errors.suffix(500))")
    }
    #expect(chat.received.count >= 2, "a test message, and the crash")
    let listedHere =
      reasons.union(Self.preparations.keys).union(Self.inSession).union(Self.statuses.keys)
    #expect(listedHere.subtracting(seen) == [], "no guide has these lines any more")
    #expect(seen.count > 60)
  }
}
