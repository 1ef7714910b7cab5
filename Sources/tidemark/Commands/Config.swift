import ArgumentParser

/// `tidemark config check` and `tidemark config show`.
struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Check the configuration, or show the effective settings and their origin.",
    discussion: """
      Examples:
        tidemark config check
        tidemark config show --all
      """,
    subcommands: [ConfigCheck.self, ConfigShow.self])
}
