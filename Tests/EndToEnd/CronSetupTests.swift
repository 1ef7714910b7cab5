import Foundation
import TestServers
import TestSupport
import Testing

/// The setup that `init` leaves for cron, which has none of a shell's environment.
@Suite(.tags(.large)) struct CronSetupTests {
  /// Runs a script as cron would: with the account's variables only.
  private func inCron(_ program: Program, _ script: String) async throws -> Command.Result {
    try await program.shell(
      "env -i HOME=\"$HOME\" PATH=/usr/bin:/bin TIDEMARK_HOME=\"$TIDEMARK_HOME\" T=\"$T\" \(script)"
    )
  }

  @Test(arguments: [Endpoint.Kind.webdav, .s3])
  func `init saves the credentials, and uploads from cron use them`(
    _ kind: Endpoint.Kind
  ) async throws {
    let endpoint = try Endpoint(kind)
    let program = try Program(endpoint)
    let ready = try await program.run("init", endpoint.url, "--json")
    #expect(ready.status == 0, "\(ready.errors)")
    #expect(ready.text.contains(#""cron":"ok""#), "\(ready.text)")
    let name = kind == .webdav ? "webdav-password" : "s3-secret-access-key"
    let file = "\(program.home)/\(name)"
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    let configuration = try String(contentsOfFile: program.home + "/tidemark.yaml", encoding: .utf8)
    #expect(configuration.contains("-file: '\(file)'"))
    let secret = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
    #expect(!secret.isEmpty && !configuration.contains(": \(secret)"))
    #expect(try await program.run("run", "--no-upload", "--", "echo", "hello").status == 0)
    let sent = try await inCron(program, "\"$T\" upload")
    #expect(sent.status == 0 && sent.errors.isEmpty && sent.text.isEmpty, "\(sent.errors)")
    #expect(try await inCron(program, "\"$T\" config check").status == 0)
    #expect(try await program.list().first?["location"] as? String == "both")
  }

  @Test func `init --no-save names the variables that cron lacks`() async throws {
    let endpoint = try Endpoint(.webdav)
    let program = try Program(endpoint)
    let ready = try await program.run("init", "--no-save", endpoint.url)
    #expect(ready.status == 0)
    #expect(ready.errors.contains("Not set in cron: TIDEMARK_"), "\(ready.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.home + "/webdav-password"))
  }

  @Test func `a configuration error is reported once an hour`() async throws {
    let program = try Program()
    let first = try await program.run("upload")
    #expect(first.status == 78 && first.errors.contains("tidemark init"))
    let second = try await program.run("upload")
    #expect(second.status == 78 && second.errors.isEmpty, "\(second.errors)")
    // A different error is reported at once.
    try "store: nonsense\n".write(
      toFile: program.home + "/tidemark.yaml", atomically: true, encoding: .utf8)
    let other = try await program.run("upload")
    #expect(
      other.status == 77 && other.errors.contains("there is no 'consent:'"), "\(other.errors)")
  }

  @Test(.enabled(if: getuid() == 0, "only root can give a file away"))
  func `root sends no logs that another user's configuration names`() async throws {
    let program = try Program()
    let path = program.home + "/tidemark.yaml"
    let log = program.folder.path + "/app.log"
    try await program.configure {
      $0.replacing("\nsources:\n", with: "\nsources:\n  - path: \(log)\n")
    }
    try "line\n".write(toFile: log, atomically: true, encoding: .utf8)
    #expect(chown(path, 65534, 65534) == 0)
    let refused = try await program.run("upload")
    #expect(refused.status == 78 && refused.errors.contains("chown root"), "\(refused.errors)")
    #expect(chown(path, 0, 0) == 0)
    #expect(try await program.run("upload").status == 0)
  }

  @Test func `status reports missing consent for a configured store`() async throws {
    let program = try Program()
    #expect(try await program.run("run", "--", "echo", "kept").status == 0)
    try "store: file://\(program.folder.path)/store\n".write(
      toFile: program.home + "/tidemark.yaml", atomically: true, encoding: .utf8)
    let status = try await program.run("status")
    #expect(status.status == 77, "\(status.text)")
    #expect(status.text.contains("consent        MISSING"))
    #expect(status.text.contains("store          file://"))
    let json = try await program.run("status", "--json")
    #expect(json.text.contains(#""sending":"consent-missing""#))
    #expect(json.text.contains(#""reason":"consent""#))
    let check = try await program.run("config", "check")
    #expect(check.status == 78 && check.errors.contains("consent"))
  }

  @Test func `an upload that finds another one running for long says so once an hour`() async throws
  {
    let program = try Program()
    // No command has run for longer than the machine, which may have started for these tests.
    try await program.configure { $0 + "\nstale-after: 3m\n" }
    try await program.record("echo", "hello")
    let result = try await program.shell(
      """
      exec 9>> $TIDEMARK_HOME/lock
      flock 9
      touch $TIDEMARK_HOME/lock
      $T upload 2>&1; echo $?
      touch -d '4 minutes ago' $TIDEMARK_HOME/lock
      $T upload 2> $FOLDER/errors; echo $?
      grep -c 'has run for [0-9]* m' $FOLDER/errors
      $T upload 2>&1; echo $?
      $T status > $FOLDER/status; echo $?
      grep -c '^busy .*has run for [0-9]* m' $FOLDER/status
      $T status --json | grep -c '"lockedSince":"'
      flock -u 9
      $T upload 2>&1; echo $?
      $T status --json | grep -c '"lockedSince":"'
      """)
    #expect(result.text == "0\n75\n1\n75\n75\n1\n1\n0\n0\n", "\(result.text)\(result.errors)")
  }
}
