import ArgumentParser
import Foundation
import HTTPTransport
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync

/// `tidemark doctor`.
struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check every store operation Tidemark needs, and show what cron would use.",
    discussion: """
      In devices/DEVICE/probe, or in probe where the store is new, it puts, overwrites, reads, lists \
      and deletes scratch objects, the largest of 8 MiB, and reads each back: there are servers that \
      answer success for writes that they drop. On WebDAV that empty folder stays. A store whose \
      marker is missing although it should be there is not tried: exit code 78. A missing right is \
      named, with what grants it. Exit code 0 when all that is needed works, 77 when the login is \
      refused or a right is missing.

      With --json one object: store, surroundings (name, home, configuration, store, credentials, \
      deviceId, key, exposed, problem), missingInCron, checks (check, outcome, sent, received, missingRight), \
      grant.

      Examples:
        tidemark doctor
        tidemark doctor s3://other-bucket/logs
      """)

  @Argument(help: "Another store than the configured one.")
  var url: String?
  @Flag(help: "One JSON object.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  private struct Check: Encodable {
    let check: ProbeFinding.Check
    let outcome: ProbeFinding.Outcome
    let sent: String
    let received: String
    let missingRight: String?
  }

  private struct Report: Encodable {
    let store: String
    let surroundings: [EnvironmentReport]
    let missingInCron: [String]
    let checks: [Check]
    let grant: String?
  }

  func run() async throws {
    let (shell, cron) = await EnvironmentReport.ofThisUser()
    let all = [shell, cron] + [await EnvironmentReport.ofTheMachine()].compactMap(\.self)
    if !json { show(all) }

    let setup = try CommandContext(isNeeded: false, logger: diagnostics.logger())
    let store = try url.map { try setup.storeURL($0) } ?? setup.storeURL()
    let rights = NeededRights(store)
    let opened = try setup.settings.store(
      at: store, environment: setup.environment, policy: .once)
    if !json { Console.say("\(opened.location):") }
    var folder = "\(SessionFolder.deviceKey(setup.device.deviceId))probe/"
    do {
      let isReady = try await FormatMarker.check(
        opened, isUsed: UsedStores.load(setup.home).contains(opened.location), create: false)
      // An empty folder below devices/ would make a new store look like one that lost its marker.
      if !isReady || !setup.hasHome { folder = FormatMarker.probeFolder }
    } catch let error as StoreError where error.code == .authentication {
      // Some stores answer a read of a missing object like this if listing is forbidden: the checks
      // find out.
    }
    let probe = StoreProbe(
      opened, prefix: "\(folder)\(SessionID.make(at: .now(), by: .current))",
      now: Machine.current.now,
      random: Machine.current.random)
    let findings = try await probe.run { if !json { show($0, rights) } }

    let isLoginRefused = findings.contains { $0.error?.refusesLogin == true }
    let refused = !isLoginRefused && findings.contains { $0.error?.code == .authentication }
    if json {
      let checks = findings.map {
        Check(
          check: $0.check, outcome: $0.outcome, sent: $0.sent, received: $0.received,
          missingRight: Self.missingRight($0, rights))
      }
      Console.say(
        try Console.json(
          Report(
            store: opened.location, surroundings: all,
            missingInCron: EnvironmentReport.missingInCron(), checks: checks,
            grant: refused ? rights.grant : nil)))
    } else if isLoginRefused {
      Console.say(lines: "\nLogin refused; permissions were not checked.")
    } else if refused {
      Console.say(lines: "\nThis grants what is needed, and nothing else:\n\(rights.grant)")
      let device = SessionFolder.deviceKey(setup.device.deviceId)
      if let grant = rights.deviceGrant(device) {
        Console.say(lines: "\nOnce the store is set up, this is enough for this device:\n\(grant)")
      }
    }
    let statuses = findings.filter { $0.outcome == .failed }.map { finding in
      finding.error.map { ExitStatus($0) } ?? .integrity
    }
    let status = ExitStatus(of: statuses)
    if status != .ok { throw status }
  }

  private static func missingRight(_ finding: ProbeFinding, _ rights: NeededRights) -> String? {
    guard let error = finding.error, error.code == .authentication, !error.refusesLogin else {
      return nil
    }
    return rights.right(for: finding.check)
  }

  // MARK: Text

  private func show(_ all: [EnvironmentReport]) {
    for line in Self.lines(of: all, missingInCron: EnvironmentReport.missingInCron()) {
      Console.say(line)
    }
    Console.say()
  }

  /// Describes the environments in which Tidemark ran.
  static func lines(of all: [EnvironmentReport], missingInCron missing: [String]) -> [ReportLine] {
    var lines: [ReportLine] = []
    func add(_ name: String, _ value: String, _ colour: Console.Colour? = nil) {
      let label = "  " + name.padded(to: 15)
      lines.append(ReportLine(label + value, colour, indent: label.count))
    }
    for one in all {
      let differences = one.differences(from: all[0])
      lines.append(
        ReportLine(
          one.name + (differences.isEmpty ? "" : " (other \(differences.joined(separator: ", ")))"),
          differences.isEmpty ? .bold : .yellow))
      add("home", one.home)
      add("configuration", one.configuration)
      add("store", one.store ?? "none")
      if let credentials = one.credentials { add("access key", credentials) }
      add("device", one.deviceId ?? "not made yet")
      if let key = one.key { add("signs with", key) }
      for path in one.exposed {
        add("exposed", "every user can read \(path): chmod 600 it", .yellow)
      }
      if let problem = one.problem { add("problem", problem, .red) }
    }
    if !missing.isEmpty {
      lines.append(ReportLine("Not set in cron: \(missing.joined(separator: " "))"))
    }
    return lines
  }

  private func show(_ finding: ProbeFinding, _ rights: NeededRights) {
    for line in Self.lines(of: finding, rights) { Console.say(line) }
  }

  /// Describes the result of a check.
  static func lines(of finding: ProbeFinding, _ rights: NeededRights) -> [ReportLine] {
    let (word, colour): (String, Console.Colour?) =
      switch finding.outcome {
      case .ok: ("ok", nil)
      case .note: ("note", .yellow)
      case .failed: ("FAILED", .red)
      case .skipped: ("skipped", .grey)
      }
    let mark = word.padded(to: 8)
    let name = finding.check.rawValue.padded(to: 17)
    var lines = [ReportLine("\(mark)\(name)\(finding.summary)", colour, indent: 25)]
    if let advice = finding.error?.advice, !advice.isEmpty {
      lines.append(ReportLine("        \(advice)", indent: 8))
    }
    if let right = missingRight(finding, rights) {
      lines.append(ReportLine("        missing right: \(right)", .red, indent: 8))
    }
    return lines
  }
}
