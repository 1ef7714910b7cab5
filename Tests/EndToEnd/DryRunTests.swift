import TestServers
import TestSupport
import Testing

/// Dry runs change nothing and do not wait; failed work is not reported as done.
@Suite(.tags(.large)) struct DryRunTests {
  @Test func `a dry run needs no lock of the home`() async throws {
    let program = try Program()
    try await program.configure { $0 }
    try await program.record("echo", "hello")
    let result = try await program.shell(
      """
      id=$($T list --json | sed 's/.*"session":"\\([^"]*\\)".*/\\1/')
      echo line > $FOLDER/file.log
      $T run --no-upload -- echo more > /dev/null
      exec 9> $TIDEMARK_HOME/lock
      flock 9
      for command in "delete $id" "reap --older-than 1s --yes" "keep $id" retry "retry --moved" \\
        "import $FOLDER/file.log" "restore --from $FOLDER $id" "redact --apply-remote"; do
        $T $command --dry-run > /dev/null 2>> $FOLDER/errors || echo "$command: $?"
      done
      $T upload --dry-run --json | grep -o '"logBytes":[0-9]*' | tail -n 1
      $T delete $id --yes 2> /dev/null || echo "delete: $?"
      """)
    // There is no mirror to restore from.
    let expected = [
      "restore --from \(program.folder.path) \(try await id(program)): 64", "delete: 75", "",
    ]
    let lines = result.text.split(separator: "\n", omittingEmptySubsequences: false)
    let (bytes, others) = (
      lines.filter { $0.hasPrefix("\"logBytes\"") }, lines.filter { !$0.hasPrefix("\"logBytes\"") }
    )
    #expect(others.map(String.init) == expected, "\(result.errors)")
    // The second session is not sent yet.
    #expect(bytes.count == 1 && bytes != ["\"logBytes\":0"], "\(bytes)")
  }

  /// The oldest session.
  private func id(_ program: Program) async throws -> String {
    try #require(try await program.list().last?["session"] as? String)
  }

  /// The trash cannot be made where a file has its name.
  @Test(arguments: [[], ["--local"]])
  func `reap exits with 1 when it cannot remove a session`(_ side: [String]) async throws {
    let program = try Program()
    _ = try await program.shell(
      "mkdir -p $TIDEMARK_HOME && echo 'store: none' > $TIDEMARK_HOME/tidemark.yaml")
    _ = try await program.shell("$T run -- echo hello; touch $TIDEMARK_HOME/trash")
    try await program.makeLocalSessionsOld()
    let result = try await program.run(["reap", "--older-than", "1s", "--yes", "--force"] + side)
    #expect(result.status == 1 && result.errors.contains("cannot remove"), "\(result.errors)")
    let lines = try await program.run(
      ["reap", "--older-than", "1s", "--yes", "--force", "--json"] + side)
    #expect(lines.text.contains("\"deleted\":false"), "\(lines.text)")
  }
}
