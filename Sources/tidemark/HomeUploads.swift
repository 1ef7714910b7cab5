import Foundation
import Platform
import SessionLog
import Sync
import TidemarkUpload

/// Root's uploads of other users' homes, each by a process of its own; see ``HomeProcess``.
///
/// Two homes are uploaded at a time, in an order that no user can influence.
struct HomeUploads {
  /// Maximum bytes of objects that a process sends.
  static let byteLimit: ByteCount = 8 << 30

  /// Exit statuses of the processes, and of the pass in this one.
  private var statuses: [ExitStatus] = []
  /// The status of all together: what is wrong with one home is not wrong with the machine.
  var status: ExitStatus {
    let shared = ExitStatus(of: statuses)
    return statuses.contains(.ok) && ![.ok, .tryLater].contains(shared) ? .partial : shared
  }
  /// Starts another process than an upload; for tests.
  var replacement: ((Home) throws -> SupervisedProcess)?
  private let arguments: [String]
  private let maxRequests: Int?
  private let isAlone: Bool

  /// - Parameters:
  ///   - upload: the command that the processes run.
  ///   - prunes: whether to prune rotated parts.
  init(_ upload: Upload, prunes: Bool) {
    var arguments = ["upload"]
    func add(_ name: String, _ value: String?) { if let value { arguments += [name, value] } }
    add("--transfers", upload.transfers.map(String.init))
    add("--limit-rate", upload.limitRate?.description)
    add("--wait", upload.wait.map { "\($0.seconds)s" })
    let flags = [
      ("--allow-plaintext", upload.allowPlaintext), ("--dry-run", upload.dryRun),
      ("--now", upload.now), ("--json", upload.json), ("--without-pruning", !prunes),
      ("--watched", Console.errorIsTerminal || upload.watched),
    ]
    arguments += flags.filter(\.1).map(\.0)
    arguments += Array(repeating: "-v", count: upload.diagnostics.verbose)
    self.arguments = arguments
    maxRequests = upload.maxRequests
    isAlone = upload.limitRate != nil || upload.maxRequests != nil
  }

  /// Adds the status of a pass in this process.
  mutating func add(_ status: ExitStatus) { statuses.append(status) }

  /// Uploads from homes.
  ///
  /// - Parameters:
  ///   - homes: other users' homes.
  ///   - open: sessions that may be open in homes that are not uploaded.
  ///   - isStoreDown: asks the store.
  /// - Returns: the round, which all processes have ended.
  /// - Throws: ``Platform/SystemError`` if no process can be started.
  mutating func run(
    _ homes: [Home], besides open: OpenSessions, asking isStoreDown: () async -> Bool
  ) async throws -> UploadRound {
    let used = replacement == nil ? try UnusedHomes.removed(from: homes) : homes
    var round = UploadRound(
      used, besides: open, maxRequests: maxRequests, random: Machine.current.random)
    repeat {
      try SupervisedProcess.run(atOnce: isAlone ? 1 : 2) {
        while let home = round.next() {
          if let process = try start(home, round.requests) { return (home, process) }
          round.ended(home, nil)
        }
        return nil
      } ended: { home, process in
        round.ended(home, collect(process, of: home))
      }
    } while await round.continues(asking: isStoreDown)
    return round
  }

  private func start(_ home: Home, _ requests: Int?) throws -> SupervisedProcess? {
    if let replacement { return try replacement(home) }
    return try HomeProcess.start(
      arguments + (requests.map { ["--max-requests", "\($0)"] } ?? []), for: home,
      within: Upload.budget.time + Hooks.longest)
  }

  /// Prints the output of a home's process; returns its report.
  private mutating func collect(_ process: SupervisedProcess, of home: Home) -> UploadRound.Report?
  {
    HomeProcess.relayOutput(of: process, in: home)
    if let problem = HomeProcess.problem(of: process, within: Upload.budget.time) {
      Console.complain(
        "\(home.path): the upload is not complete: \(problem); the next one continues, and other homes are "
          + "unaffected")
    }
    let status: ExitStatus =
      switch process.end {
      case .exited(let code): ExitStatus(rawValue: code) ?? .partial
      case .overdue, .stopped, .killed(SIGALRM), .killed(SIGXCPU): .tryLater
      case .stuck, .killed, nil: .partial
      }
    statuses.append(status)
    return try? JSONDecoder().decode(UploadRound.Report.self, from: Data(process.outputs[0].bytes))
  }
}
