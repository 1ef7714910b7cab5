import ArgumentParser
import Foundation
import LogRecords
import Logging
import Platform

/// Diagnostics of a command on standard error; none unless requested.
struct DiagnosticOptions: ParsableArguments {
  /// The variable that sets a level without an option, in cron or in `run`.
  static let variable = "TIDEMARK_LOG"
  static let help = ArgumentHelp(
    "Report what happens and why on standard error; twice: also every request.",
    discussion: "Three times: also what libcurl reports. Secrets are taken out.")

  @Flag(name: .shortAndLong, help: Self.help)
  var verbose: Int

  /// The logger for options and environment.
  ///
  /// - Throws: ``Failure`` for a value of the variable that is not a level.
  func logger() throws -> Logger { try Self.logger(verbosity: verbose) }

  /// The same, for a command that works even if the variable is invalid.
  func loggerOrComplaint() -> Logger {
    do {
      return try logger()
    } catch {
      Console.complain("\(error)")
      return .off
    }
  }

  /// The logger for a number of `-v`; the environment may set a more verbose level.
  static func logger(
    verbosity: Int, environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> Logger {
    let asked: Logger.Level? =
      switch verbosity {
      case ..<1: nil
      case 1: .info
      case 2: .debug
      default: .trace
      }
    let levels = try [asked, level(environment[variable] ?? "")].compactMap(\.self)
    guard let level = levels.min() else { return .off }
    return Logger(label: "tidemark") { _ in DiagnosticHandler(level) }
  }

  private static let levels: [Logger.Level] = [.error, .warning, .info, .debug, .trace]

  private static func level(_ text: String) throws -> Logger.Level? {
    guard !text.isEmpty else { return nil }
    guard let level = levels.first(where: { $0.rawValue == text.lowercased() }) else {
      let known = levels.map(\.rawValue).joined(separator: ", ")
      throw Failure(
        .configuration,
        "invalid \(variable) '\(String(printable: text.utf8))'; use \(known), or unset it")
    }
    return level
  }
}
