import ArgumentParser
import Foundation
import Platform
import Simulation

/// Runs histories generated from seeds, each twice, and shrinks those that fail.
@main struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Run random histories of homes and a store, and check that nothing is lost.",
    discussion: """
      Each history runs twice and must do the same both times. A history that fails is shrunk and \
      printed as Swift, to be pasted into NamedHistory.swift. Exit code 1 when any fails.
      """)

  @Option(help: "Seed of the first history.")
  var first: UInt64 = 1
  @Option(help: "Number of histories.")
  var count: UInt64 = 100
  @Option(help: "Steps of a history.")
  var steps = 30
  @Option(help: "'withstood' leaves out what the product is known not to withstand yet; or 'all'.")
  var hazards = HistoryGenerator.Hazards.withstood
  @Option(help: "Hazards to add to those withstood: names of actions and faults, with commas.")
  var also = ""
  @Option(help: "Actions to make frequent: names, with commas.")
  var often = ""
  @Option(help: "Rules to judge by, with commas; all by default.")
  var rules = ""
  @Option(help: "Name of the folder to work in; runs at the same time need one each.")
  var worker = "0"
  @Flag(help: "Print what happens in the first history, which is shrunk first if it fails.")
  var trace = false
  @Flag(inversion: .prefixedNo, help: "Shrink histories that fail.")
  var shrink = true
  @Flag(help: "Run each history once, and stop at the first that fails, without shrinking it.")
  var untilFound = false

  func run() async throws {
    Self.makeHashingDeterministic()
    let memory = "/dev/shm"
    let place =
      (File.exists(memory) ? memory : NSTemporaryDirectory()) + "/tidemark-simulation-\(getuid())"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    guard let lock = try FileLock.tryExclusive("\(place)/\(worker).lock") else {
      throw ValidationError("worker '\(worker)' is in use; name another with --worker")
    }
    defer { withExtendedLifetime(lock) {} }
    let simulation = Simulation(in: "\(place)/\(worker)")
    if trace { return try await printTrace(simulation) }
    let begun = ContinuousClock.now
    var (histories, done, failed) = (0, 0, 0)
    for seed in first..<(first + count) {
      let history = history(seed)
      let outcome = try await simulation.run(history)
      let again = untilFound ? outcome : try await simulation.run(history)
      histories += 1
      done += outcome.steps
      let found = outcome.violations.first { step, violation in
        rules.isEmpty || Self.names(rules).contains(violation.rule.rawValue)
      }
      if outcome.trace != again.trace {
        failed += 1
        print("seed \(seed): determinism: \(try await Self.difference(history, simulation))")
      } else if let (step, violation) = found {
        failed += 1
        print("seed \(seed), step \(step): \(violation)")
        fflush(nil)
        if untilFound { break }
        if shrink { print(await Self.shrink(history, violation.rule, simulation)) }
      }
    }
    let seconds = (ContinuousClock.now - begun) / .seconds(1)
    let perMinute = Int(Double(done) / max(seconds, 0.001) * 60)
    print(
      "\(histories) histories, \(done) steps, \(perMinute) a minute, \(failed) failed")
    if failed > 0 { throw ExitCode(1) }
  }

  private func history(_ seed: UInt64) -> History {
    var generator = HistoryGenerator(
      seed: seed, steps: steps, hazards, also: Self.names(also), often: Self.names(often))
    return generator.make()
  }

  private static func names(_ text: String) -> Set<String> {
    Set(text.split(separator: ",").map(String.init))
  }

  private func printTrace(_ simulation: Simulation) async throws {
    var simulation = simulation
    simulation.keepsLines = true
    var outcome = try await simulation.run(history(first))
    if shrink, let rule = outcome.violations.first?.violation.rule {
      let shrunk = await Self.shrink(history(first), rule, simulation)
      print(shrunk)
      outcome = try await simulation.run(shrunk)
    }
    for line in outcome.lines { print(line) }
    for (step, violation) in outcome.violations { print("step \(step): \(violation)") }
  }

  private static func shrink(
    _ history: History, _ rule: Violation.Rule, _ simulation: Simulation
  ) async -> History {
    await Shrinker { history in
      let outcome = try? await simulation.run(history)
      return outcome?.violations.first?.violation.rule == rule
    }.shrink(history)
  }

  /// The first difference between two runs of a history.
  private static func difference(
    _ history: History, _ simulation: Simulation
  ) async throws -> String {
    var simulation = simulation
    simulation.keepsLines = true
    let first = try await simulation.run(history).lines
    let second = try await simulation.run(history).lines
    guard let pair = zip(first, second).first(where: !=) else { return "not again" }
    return "'\(pair.0)', then '\(pair.1)'"
  }

  /// Restarts in a process in which sets and dictionaries have the same order each time.
  private static func makeHashingDeterministic() {
    let variable = "SWIFT_DETERMINISTIC_HASHING"
    guard ProcessInfo.processInfo.environment[variable] == nil else { return }
    setenv(variable, "1", 1)
    var arguments = CommandLine.arguments.map { strdup($0) }
    arguments.append(nil)
    execv(Bundle.main.executablePath ?? CommandLine.arguments[0], arguments)
    print("simulate: cannot start itself again")
    Self.exit(withError: ExitCode(71))
  }
}

extension HistoryGenerator.Hazards: ExpressibleByArgument {}
