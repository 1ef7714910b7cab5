import ArgumentParser
import TestSupport
import Testing

@testable import tidemark

/// The help of every command, and its errors for unknown arguments.
@Suite(.tags(.small)) struct HelpTests {
  private static var commands: [any ParsableCommand.Type] {
    Tidemark.configuration.subcommands.flatMap { [$0] + $0.configuration.subcommands }
  }

  @Test(arguments: [60, 80, 200])
  func `help texts match their snapshots at every width`(columns: Int) {
    var text = Tidemark.helpMessage(columns: columns) + "\n"
    for command in Self.commands {
      let name = command.configuration.commandName ?? ""
      text += "\n==== \(name)\n" + Tidemark.helpMessage(for: command, columns: columns) + "\n"
    }
    Snapshot.expect(text, is: "help-\(columns).txt")
  }

  @Test func `the help of every command shows an example`() {
    for command in Self.commands
    where command.configuration.subcommands.isEmpty && command.configuration.shouldDisplay {
      let parts = command.configuration.discussion.split(
        separator: "Examples:\n", omittingEmptySubsequences: false)
      #expect(
        parts.count == 2 && parts.last?.contains("tidemark ") == true,
        "\(command.configuration.commandName ?? "")")
    }
  }

  private static let mistakes = [
    "list --since yore", "list --since 90", "list --until 25:00", "list --since -2h", "list -n x",
    "list --sort colour",
    "list --columns id,size", "list --alll", "show", "show --level LOUD x", "show --raw --plain x",
    "show --stream both x", "grep", "grep ( x", "grep -c -l x", "grep --color sometimes x",
    "grep -m -1 x", "tail --every soon", "export x", "export -o y", "export -o y --format pdf x",
    "pull", "upload --every 0", "upload --transfers 0", "upload --limit-rate 10",
    "upload --limit-rate fast", "upload --max-requests 1", "reap --older-than -1d",
    "reap --all-devices", "delete", "delete --all x", "keep", "keep x --for 11y",
    "keep x --for 4000d", "restore", "verify --sample 3", "verify --dry-run", "redact",
    "redact --preview --dry-run", "play x --speed 0", "init", "run", "log LOUD x", "config chek",
    "tial -20", "frob", "ls", "rm x", "help foo", "show x --app y", "retry x --failed",
    "reap --device x", "reap --install-lifecycle --app x", "crashes --since yesterday --until 2d",
    "grep x --since 2026-11-22T10:00:00Z --until 2026-11-22T09:00:00Z",
  ]

  @Test func `messages for mistyped commands match their snapshot`() {
    var text = ""
    for mistake in Self.mistakes {
      let words = ShortOptions.expanded(mistake.split(separator: " ").map(String.init))
      text += "$ tidemark \(mistake)\n"
      do {
        try Tidemark.expectCommand(words)
        _ = try Tidemark.parseAsRoot(words)
        text += "accepted\n"
      } catch {
        text += Tidemark.message(for: error) + "\n"
      }
    }
    Snapshot.expect(text, is: "mistakes.txt")
  }
}
