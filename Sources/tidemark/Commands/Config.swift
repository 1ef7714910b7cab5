import ArgumentParser

/// `tidemark config check` and `tidemark config show`.
struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Check the configuration, or show what counts and where it comes from.",
    subcommands: [ConfigCheck.self, ConfigShow.self])
}
