import ArgumentParser
import TestSupport
import Testing

@testable import tidemark

/// Which options each command has, by what it does: one grammar.
@Suite(.tags(.small)) struct OptionGrammarTests {
  /// A kind of command, which decides the options it must have.
  private enum Trait { case selects, changes, prints }

  /// Every command.
  ///
  /// `run` and `log` record, `play` draws, and `scenario test` answers by its exit
  /// code; the scratch objects of `doctor` are its checks.
  private static let traits: [String: Set<Trait>] = [
    "init": [.changes, .prints], "doctor": [.prints], "run": [], "log": [], "play": [],
    "import": [.changes, .prints], "upload": [.changes, .prints], "list": [.selects, .prints],
    "show": [.selects, .prints], "tail": [.selects, .prints], "grep": [.selects, .prints],
    "export": [.selects, .changes, .prints], "pull": [.selects, .changes, .prints],
    "verify": [.selects, .changes, .prints], "reap": [.selects, .changes, .prints],
    "delete": [.selects, .changes, .prints], "keep": [.selects, .changes, .prints],
    "restore": [.changes, .prints], "why": [.prints], "redact": [.selects, .changes, .prints],
    "status": [.prints], "retry": [.selects, .changes, .prints], "crashes": [.selects, .prints],
    "alert pass": [.changes, .prints], "alert status": [.prints],
    "alert silence": [.changes, .prints], "config check": [.prints], "config show": [.prints],
    "scenario list": [.prints], "scenario enable": [.changes, .prints],
    "scenario disable": [.changes, .prints], "scenario forget": [.changes, .prints],
    "scenario test": [],
  ]

  private static let options: [Trait: Set<String>] = [
    .selects: ["--device", "--all-devices", "--app", "--failed", "--since", "--until"],
    .changes: ["--dry-run"], .prints: ["--json"],
  ]

  private struct Command {
    let name: String
    let type: any ParsableCommand.Type
  }

  /// Commands without subcommands, with the names of those above.
  private static func commands() -> [Command] {
    var found: [Command] = []
    func add(_ command: any ParsableCommand.Type, _ above: String) {
      let name = above + (command.configuration.commandName ?? "")
      let subcommands = command.configuration.subcommands
      for subcommand in subcommands where subcommand.configuration.shouldDisplay {
        add(subcommand, "\(name) ")
      }
      if subcommands.isEmpty { found.append(Command(name: name, type: command)) }
    }
    for command in Tidemark.configuration.subcommands where command.configuration.shouldDisplay {
      add(command, "")
    }
    return found
  }

  /// The lines of a command's help that begin with options.
  private static func lines(of command: any ParsableCommand.Type) -> [Substring] {
    Tidemark.helpMessage(for: command, columns: 200).split(separator: "\n")
      .filter { $0.hasPrefix("  -") }
  }

  @Test func `every command is classified, and has the options of its kind`() {
    let commands = Self.commands()
    #expect(Set(commands.map(\.name)) == Set(Self.traits.keys))
    for command in commands {
      let name = command.name
      let words = Self.lines(of: command.type).flatMap { $0.prefix(60).split { " ,".contains($0) } }
      let options = Set(words.filter { $0.hasPrefix("--") }.map(String.init))
      for trait in Self.traits[name] ?? [] {
        let missing = (Self.options[trait] ?? []).subtracting(options)
        #expect(missing.isEmpty, "\(name) lacks \(missing.sorted())")
      }
    }
  }

  @Test func `placeholders are lower-case words from one list`() {
    let known: Set = [
      "category", "column", "device", "factor", "file", "folder", "format", "id", "level", "name",
      "names", "n", "path", "pattern", "reason", "size", "sort", "stream", "text", "time", "when",
    ]
    var found: Set<String> = []
    for command in Self.commands() {
      for line in Self.lines(of: command.type) {
        guard let start = line.firstIndex(of: "<"), let end = line[start...].firstIndex(of: ">"),
          line.distance(from: line.startIndex, to: start) < 40
        else { continue }
        found.insert(String(line[line.index(after: start)..<end]))
      }
    }
    #expect(found.subtracting(known).isEmpty, "\(found.subtracting(known).sorted())")
  }
}
