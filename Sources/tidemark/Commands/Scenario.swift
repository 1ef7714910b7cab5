import ArgumentParser
import Foundation
import LogRecords
import Platform
import SessionLog

/// `tidemark scenario`: which kinds of records are written.
struct Scenario: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Switch on and off which named scenarios are recorded.",
    discussion: """
      A program declares scenarios ('tidemark run --scenario NAME', the library, or a first record) \
      and marks records as theirs. Such a record is written only while its scenario is on; records \
      without one always are. A scenario is off until it is switched on, and stays what it is when \
      programs and machine restart. Programs that run notice a change within a second or two.

      Examples:
        tidemark scenario list
        tidemark scenario enable Checkout --for 30m
      """,
    subcommands: [
      ScenarioList.self, ScenarioEnable.self, ScenarioDisable.self, ScenarioTest.self,
      ScenarioForget.self,
    ])
}

extension ScenarioName {
  /// Parses a command-line argument.
  init(argument: String) throws {
    guard let name = ScenarioName(argument) else {
      throw ValidationError(
        "invalid scenario '\(String(oneLine: argument, limit: 80))': "
          + "1 to 64 bytes without braces and control characters")
    }
    self = name
  }
}

/// The home and the states that the subcommands share.
private struct ScenarioContext {
  let setup: CommandContext
  var file: ControlFile { ControlFile(setup.home) }

  init() throws { setup = try CommandContext(acceptsBadSettings: true, logger: .off) }

  /// The states, with scenarios that sessions declare but whose state was removed.
  func known() async throws -> [ScenarioName: ScenarioState] {
    var known = try file.scenarios()
    for name in try await declared() where known[name] == nil {
      known[name] = ScenarioState(created: .now())
    }
    return known
  }

  /// The scenarios that unsealed sessions declare; for root in machine-wide mode, those of all
  /// users.
  private func declared() async throws -> Set<ScenarioName> {
    guard setup.servesAllUsers else { return try DeclaredScenarios(setup.home).names() }
    var found = try DeclaredScenarios(setup.home).names()
    let others = try MachineWide.homes().homes.filter { $0 != setup.home }
    for (home, finding) in try Examination(.scenarios).findings(in: others, as: [String].self) {
      do {
        found.formUnion(try finding.get().compactMap { ScenarioName($0) })
      } catch {
        Console.complain("\(home.path): \(error)")
      }
    }
    return found
  }

  /// Switches a known scenario.
  ///
  /// - Parameters:
  ///   - dryRun: whether to print the changes without making them.
  ///   - asJSON: whether to print the result as JSON.
  func set(
    _ name: ScenarioName, _ isEnabled: Bool, until: Timestamp? = nil, dryRun: Bool, asJSON: Bool
  ) async throws {
    guard let declared = try await known()[name] else {
      throw Failure(
        .usage,
        "there is no scenario \(name); a program declares it: "
          + "tidemark run --scenario '\(name)' -- PROGRAM. "
          + "'tidemark scenario list' shows those that are known")
    }
    func say(_ hasChanged: Bool) throws {
      let result = ScenarioChange(
        scenario: name.description, isEnabled: isEnabled, until: until, hasChanged: hasChanged)
      Console.say(try Console.json(result))
    }
    let text = isEnabled ? "on" + (until.map { " until \($0)" } ?? "") : "off"
    guard !dryRun else {
      return asJSON ? try say(false) : Console.say("would switch \(name) \(text)")
    }
    let hasChanged = try file.change(on: .current) { states in
      states[name, default: declared].set(
        isEnabled, until: until, by: Account.current.name)
    }
    if asJSON { return try say(hasChanged) }
    Console.remark("\(name) is \(text)" + (hasChanged ? "" : " already"))
  }
}

/// The state of a scenario after a change.
private struct ScenarioChange: Encodable {
  let scenario: String
  var isEnabled: Bool?
  var until: Timestamp?
  let hasChanged: Bool
}

private struct ScenarioList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the known scenarios of this machine's home.",
    discussion: """
      With --json, one object a line: deviceId, device (its name), scenario, isEnabled, created, \
      revision, modifiedBy, until.

      Examples:
        tidemark scenario list
      """)

  @Flag(help: "One JSON object a line.")
  var json = false

  private struct Row: Encodable {
    let deviceId: String
    let device: String
    let scenario: String
    let isEnabled: Bool
    let created: Timestamp
    let revision: Int
    let modifiedBy: String?
    let until: Timestamp?
  }

  func run() async throws {
    let control = try ScenarioContext()
    let device = control.setup.device
    let now = Timestamp.now()
    let known = try await control.known().sorted { $0.key < $1.key }
    if json {
      for (name, state) in known {
        let isOn = state.isOn(at: now)
        Console.say(
          try Console.json(
            Row(
              deviceId: device.deviceId, device: device.deviceName,
              scenario: name.description, isEnabled: isOn, created: state.created,
              revision: state.revision, modifiedBy: state.modifiedBy,
              until: isOn ? state.until : nil)))
      }
      return
    }
    guard !known.isEmpty else {
      return Console.remark(
        "no scenario is known; a program declares one: tidemark run --scenario NAME -- PROGRAM")
    }
    var table = Table([.init(name: "scenario"), .init(name: "state", least: 12)])
    for (name, state) in known {
      table.add([.init(name.description), .init(state.text(at: now))])
    }
    Console.show(table)
  }
}

/// The scenario that a subcommand is about.
private struct ScenarioArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("The scenario.", valueName: "name"))
  var name: String

  func validate() throws { _ = try scenario() }

  /// The scenario's name.
  func scenario() throws -> ScenarioName { try ScenarioName(argument: name) }
}

/// How a change is made and printed.
private struct ScenarioChangeOptions: ParsableArguments {
  @Flag(help: "Change nothing; print what would change.")
  var dryRun = false
  @Flag(help: "One JSON object: scenario, isEnabled, until, hasChanged.")
  var json = false
}

private struct ScenarioEnable: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Write the records of a scenario from now on.",
    discussion: """
      Examples:
        tidemark scenario enable Checkout
        tidemark scenario enable Checkout --for 30m
      """)

  @OptionGroup var argument: ScenarioArgument
  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Switch it off again after this time, e.g. 30m.", valueName: "time"),
    transform: ArgumentValue.span)
  var duration: Duration?
  @OptionGroup var change: ScenarioChangeOptions

  func run() async throws {
    let until = duration.map { Timestamp.now() + $0 }
    try await ScenarioContext().set(
      argument.scenario(), true, until: until, dryRun: change.dryRun, asJSON: change.json)
  }
}

private struct ScenarioDisable: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable", abstract: "Leave the records of a scenario out from now on.",
    discussion: """
      Examples:
        tidemark scenario disable Checkout
      """)

  @OptionGroup var argument: ScenarioArgument
  @OptionGroup var change: ScenarioChangeOptions

  func run() async throws {
    try await ScenarioContext().set(
      argument.scenario(), false, dryRun: change.dryRun, asJSON: change.json)
  }
}

private struct ScenarioTest: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Exit with 0 where a scenario is on, with 1 where it is off.",
    discussion: """
      Examples:
        tidemark scenario test Checkout && tidemark log debug --scenario Checkout "$(dump-basket)"
      """)

  @OptionGroup var argument: ScenarioArgument

  func run() throws {
    let setup = try ScenarioContext().setup
    let isOn = ScenarioSwitch(setup.home, machine: .current).isOn(try argument.scenario())
    if !isOn { throw ExitCode(1) }
  }
}

private struct ScenarioForget: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Remove a scenario's setting until a program declares it again.",
    discussion: """
      Examples:
        tidemark scenario forget Checkout
      """)

  @OptionGroup var argument: ScenarioArgument
  @OptionGroup var change: ScenarioChangeOptions

  func run() throws {
    let name = try argument.scenario()
    let file = try ScenarioContext().file
    let isKnown =
      try change.dryRun
      ? file.scenarios()[name] != nil
      : file.change(on: .current) { $0.removeValue(forKey: name) != nil }
    guard isKnown else { throw Failure(.usage, "there is no scenario \(name)") }
    if change.json {
      let result = ScenarioChange(scenario: name.description, hasChanged: !change.dryRun)
      Console.say(try Console.json(result))
    } else if change.dryRun {
      Console.say("would forget \(name)")
    }
  }
}
