import ArgumentParser
import Foundation
import ObjectStore
import Platform
import SessionLog
import Sync

/// `tidemark config check`.
struct ConfigCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the configuration without asking the store.",
    discussion: """
      Reads the configuration, the store's URL, the files with secrets and the sources. 'tidemark \
      doctor' tries the store. Exit code 78 when something is wrong; notes alone are no error.

      With --json one object: configuration, problems, notes.

      Examples:
        tidemark config check
        tidemark config check --file new.yaml
      """)

  @Option(help: "The configuration to check instead of the one in use.", completion: .file())
  var file: String?
  @Flag(help: "One JSON object.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  private struct Report: Encodable {
    let configuration: String
    var problems: [String] = []
    var notes: [String] = []
  }

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let path = file ?? Home.locate(environment: environment).configurationPath
    var report = Report(configuration: path)
    if FileManager.default.fileExists(atPath: path) {
      do {
        var wrong: [String] = []
        let settings = try Settings(path: path) { wrong.append($0.description) }
        report.problems = wrong
        try check(settings, environment, &report)
      } catch let error as Failure {
        report.problems.append(error.description)
      }
    } else if file != nil {
      report.problems.append("\(path) does not exist")
    } else {
      report.notes.append(
        "\(path) does not exist: the defaults count; 'tidemark init URL' writes it")
    }
    if json {
      Console.say(try Console.json(report))
    } else {
      for problem in report.problems { Console.complain(problem) }
      for note in report.notes { Console.say("note: \(note)") }
      if report.problems.isEmpty { Console.say("\(path): ok") }
    }
    if !report.problems.isEmpty { throw ExitStatus.configuration }
  }

  private func check(
    _ settings: Settings, _ environment: [String: String], _ report: inout Report
  ) throws {
    var settings = settings
    StoreChoice().apply(to: &settings, environment: environment)
    if let store = settings.store {
      do {
        let url = try StoreURL(store, allowsPlaintext: settings.storeSettings.allowsPlaintext)
        _ = try settings.store(at: url, environment: environment)
      } catch {
        report.problems.append("store: \(error)")
      }
      if settings.consent == nil {
        report.problems.append(
          "there is no 'consent:', so nothing leaves this machine; add 'consent: logs' or 'metadata'"
        )
      }
    } else if !settings.hasNoStore {
      report.notes.append("no store is named; 'tidemark init URL' names one")
    }
    if settings.store != nil, let note = Self.note(on: settings.retention) {
      report.notes.append(note)
    }
    for key in ["webdav.password-file", "webdav.token-file", "s3.secret-access-key-file"] {
      guard let file = settings.written[key]?.text else { continue }
      checkSecret(file, key, &report)
    }
    if try settings.exposesHeartbeat(in: report.configuration) {
      report.notes.append(
        "heartbeat: every user of this machine can read its URL in \(report.configuration), and could "
          + "send it in your place; 'chmod 600' the file unless other users record by it")
    }
    for (index, source) in settings.sources.enumerated() {
      let files = try source.matchingFiles { report.problems.append("\($0)") }
      if files.isEmpty {
        report.notes.append("sources[\(index)]: \(source.path.description) matches no file")
      }
    }
    for setting in EffectiveSetting.all(settings, report.configuration, environment) {
      if case .environment(let name) = setting.origin, settings.written[setting.key] != nil {
        report.notes.append("\(name) of this environment overrides '\(setting.key)'")
      }
    }
  }

  /// A note if remote copies expire before the local ones; nil if they do not.
  static func note(on retention: Retention) -> String? {
    guard retention.local > retention.remote else { return nil }
    return "retention: 'local' (\(Age.text(retention.local))) is longer than 'remote' "
      + "(\(Age.text(retention.remote))): remote copies are deleted first, and the local ones are the "
      + "only ones from then on"
  }

  private func checkSecret(_ path: String, _ key: String, _ report: inout Report) {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
      return report.problems.append("\(key): cannot read \(path)")
    }
    let mode = (attributes[.posixPermissions] as? NSNumber)?.uint16Value ?? 0
    if mode & 0o077 != 0 {
      report.problems.append("\(key): others may read \(path); run 'chmod 600 \(path)'")
    }
  }
}
