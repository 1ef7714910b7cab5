import ArgumentParser
import Dispatch
import Platform

/// The command line.
struct Tidemark: AsyncParsableCommand {
  /// The version of the program and its packages.
  static let version = "0.1.1"

  static let configuration = CommandConfiguration(
    commandName: "tidemark",
    abstract: "Record programs' logs and upload them to your own storage.",
    discussion: """
      Start with 'tidemark init s3://bucket/logs' (or https://host/dav/logs, or file:///srv/logs), \
      then 'tidemark run -- PROGRAM', and 'tidemark upload' from cron.

      -v reports on standard error what a command does and why, -vv also every request, -vvv also what \
      libcurl reports; secrets are taken out. TIDEMARK_LOG=info, debug or trace asks for the same \
      without an option, warning or error for failures only.

      Exit codes: 0 ok, 1 partial, 64 usage, 65 integrity, 69 tool missing, 75 try later, \
      77 authentication or consent, 78 configuration.
      """,
    version: version,
    // Each has an explicit name: deriving it from the type's name would cost every start
    // milliseconds.
    subcommands: [
      Init.self, Doctor.self, Run.self, Log.self, Play.self, Import.self, Upload.self, List.self,
      Show.self, Tail.self, Grep.self, Export.self, Pull.self, Verify.self, Reap.self,
      Delete.self, Keep.self, Restore.self, Why.self, Redact.self, Status.self, Retry.self,
      Alert.self, Crashes.self, Config.self, Scenario.self, Examine.self, RunAs.self,
    ])

  static func main() async {
    do {
      let arguments = ShortOptions.expanded(Array(CommandLine.arguments.dropFirst()))
      try expectCommand(arguments)
      var command = try parseAsRoot(arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      ExitStatus.leave(ExitStatus.ok.rawValue)
    } catch {
      ExitStatus.leave(with: error, as: Self.self)
    }
  }

  /// Rejects an unknown command, and suggests a known one.
  static func expectCommand(_ words: [String]) throws {
    var known = configuration.subcommands
    for (index, word) in words.enumerated() {
      guard !known.isEmpty, !word.hasPrefix("-") else { return }
      if word == "help", index == 0 { continue }
      guard let command = known.first(where: { $0.configuration.commandName == word }) else {
        let names = known.compactMap { $0.configuration.commandName }
        let hint = Suggestion.hint(for: word, among: names)
        throw Failure(
          .usage,
          "unknown command '\(String(oneLine: word, limit: 80))'\(hint.isEmpty ? ";" : hint) "
            + "'tidemark --help' lists the commands")
      }
      known = command.configuration.subcommands
    }
  }
}

/// The entry point of the process.
@main enum Start {
  static func main() {
    // Rights belong to a thread: they can all be given up only while there is one.
    HomeProcess.assumeRights(CommandLine.arguments)
    Task { @MainActor in await Tidemark.main() }
    dispatchMain()
  }
}
