import ArgumentParser
import Fleet
import Platform
import SessionLog

/// `tidemark examine`, which root's commands start for another user's home; see ``Examination``.
struct Examine: AsyncParsableCommand, HomeCommand {
  static let configuration = CommandConfiguration(
    commandName: "examine", abstract: "Report on a user's home to root's process.",
    shouldDisplay: false)

  /// What to find out.
  enum Subject: String, ExpressibleByArgument {
    /// A ``HomeReport``.
    case status
    /// ``Fleet/DeviceMetrics``.
    case metrics
    /// The names of the scenarios that unsealed sessions declare.
    case scenarios
    /// ``UnusedHomes``: of all homes, without a user.
    case unused
  }

  @Argument(help: .hidden)
  var subject: Subject
  @Option(help: .hidden)
  var homeOf: String?
  @Flag(help: .hidden)
  var json = false
  @OptionGroup(visibility: .hidden) var zone: ZoneOptions
  @OptionGroup(visibility: .hidden) var diagnostics: DiagnosticOptions

  /// A person waits for the report, and any number of users can make theirs take so long.
  static let budget = ProcessBudget(time: .seconds(60), memory: 2 << 30)

  func openHome(of user: String) throws -> CommandContext {
    try CommandContext(examining: user, logger: diagnostics.logger())
  }

  func run() async throws {
    guard subject != .unused else { return try UnusedHomes.report() }
    guard let opened = HomeProcess.setup else {
      throw Failure(.usage, "'tidemark status' as root starts this command for each user's home")
    }
    do {
      let setup = try opened.get()
      try setup.home.create()
      switch subject {
      case .status: answer(try HomeReport(on: setup, asJSON: json, zone.zone))
      case .metrics: answer(try await setup.metrics())
      case .scenarios: answer(try DeclaredScenarios(setup.home).names().map(\.description))
      case .unused: break
      }
    } catch {
      HomeProcess.report(Examination.Answer<HomeReport>(error: "\(error)"))
      throw ExitStatus(error)
    }
  }

  private func answer(_ value: some Codable) {
    HomeProcess.report(Examination.Answer(value: value))
  }
}
