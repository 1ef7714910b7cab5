import ArgumentParser
import Foundation
import Platform
import SessionLog
import Sync

/// `tidemark config show`.
struct ConfigShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show each setting's effective value, and where it comes from.",
    discussion: """
      Origins are a line of the configuration, a variable of the environment, or the default. Of each \
      entry of 'sources' the files are listed that match at present. Secrets are not shown.

      With --json one object a line: key, value, origin (file, environment or default), where (the \
      path and line, or the variable); of sources: key, value, origin, where, files.

      Examples:
        tidemark config show
        tidemark config show --json | jq 'select(.origin == "environment")'
      """)

  @Flag(help: "All settings, also those that are neither set nor have a default.")
  var all = false
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  struct Line: Encodable {
    let key: String
    let value: String?
    let origin: String
    let where_: String?
    var files: [String]?

    enum CodingKeys: String, CodingKey {
      case key, value, origin, files
      case where_ = "where"
    }
  }

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let home = Home.locate(environment: environment)
    let settings = try Settings(path: home.configurationPath)
    let values = EffectiveSetting.all(settings, home.configurationPath, environment)
      .filter { all || $0.value != nil }
    if json {
      for value in values {
        Console.say(
          try Console.json(
            Line(
              key: value.key, value: value.value, origin: value.origin.word,
              where_: value.origin.place)))
      }
    } else {
      Console.show(Self.table(values))
    }
    try show(settings, home)
  }

  /// The table of settings.
  static func table(_ values: [EffectiveSetting]) -> Table {
    var table = Table([
      .init(name: "key"), .init(name: "value", least: 12),
      .init(name: "origin", least: 12, keepsEnd: true),
    ])
    for value in values {
      table.add([
        .init(value.key), .init(String(oneLine: value.value ?? "")), .init(value.origin.text),
      ])
    }
    return table
  }

  /// Maximum number of a source's files that are listed for a person.
  private static let fewFiles = 10

  private func show(_ settings: Settings, _ home: Home) throws {
    for (index, source) in settings.sources.enumerated() {
      let files = try source.matchingFiles { Console.complain("\($0)") }
      if json {
        Console.say(
          try Console.json(
            Line(
              key: "sources[\(index)]", value: source.path.description, origin: "file",
              where_: home.configurationPath, files: files)))
        continue
      }
      Console.say()
      Console.say(
        "sources: \(String(oneLine: source.path.description)) matches "
          + Plural.text(files.count, "file"))
      for file in files.prefix(Self.fewFiles) { Console.say("  \(String(oneLine: file))") }
      if files.count > Self.fewFiles {
        Console.say("  and \(files.count - Self.fewFiles) more; --json lists all")
      }
    }
  }
}
