import ArgumentParser
import Foundation
import Logging
import ObjectStore
import Platform
import SessionLog
import Sync
import TidemarkUpload

/// `tidemark upload`.
struct Upload: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Send what is new, seal what has ended, reap what is due: the cron line.",
    discussion: """
      Silent without a terminal when all went well, when another upload is running, and while a \
      store cannot be reached for less than 'stale-after'. A store that could not be reached, or \
      refused us, is left alone for 1, 2, 4 and up to 15 minutes; at a terminal it is asked. With --json one object is printed: \
      logBytes, storedBytes, objects, sealed, reaped, formerDevices, failures, error, status. Where the machine is \
      configured for all users, root sends everybody's sessions, and there is one object a user.
      """)

  @Option(help: "Go on and repeat after this time, 60s say.")
  var every: String?
  @Option(help: "Wait so long for another upload to end, 10s say, rather than leave it to that.")
  var wait: String?
  @Option(help: "Requests under way at once, 1 to 64; otherwise 12, or 32 small ones.")
  var transfers: Int?
  @Option(
    help: ArgumentHelp(
      "Bytes a second of all requests together, both ways: 500K, 2M.", valueName: "bytes"))
  var limitRate: String?
  @Option(
    help: ArgumentHelp(
      "Requests to send at the most, from 8; the next upload goes on.", valueName: "count"))
  var maxRequests: String?
  @Flag(help: "Accept http:// to another machine: all on the way may read logs and password.")
  var allowPlaintext = false
  @Flag(help: "Print what would be sent and send nothing.")
  var dryRun = false
  @Flag(help: "Try at once also what failed and whose next attempt is not due yet.")
  var now = false
  @Flag(help: "Print the result as JSON.")
  var json = false
  @Flag(help: ArgumentHelp("Started by a recorder, which reads what is said.", visibility: .hidden))
  var forRecorder = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if let transfers, !(1...64).contains(transfers) {
      throw ValidationError("--transfers takes a number from 1 to 64.")
    }
    if let limitRate, Settings.rate(limitRate) == nil {
      throw ValidationError("--limit-rate takes bytes a second from 1K, such as 500K or 2M.")
    }
    if let maxRequests, Settings.requests(maxRequests) == nil {
      throw ValidationError("--max-requests takes a number from 8.")
    }
    if let every, (Age.parse(every) ?? .zero) == .zero {
      throw ValidationError("--every takes a time such as 60s or 5m.")
    }
    if let wait, Age.parse(wait) == nil {
      throw ValidationError("--wait takes a time such as 10s.")
    }
  }

  func run() async throws {
    guard let every, let interval = Age.parse(every) else {
      let status = try await pass()
      if status != .ok { throw status }
      return
    }
    var pruned: ContinuousClock.Instant?
    while true {
      let isDue = pruned.map { $0.duration(to: .now) >= Self.pruneInterval } ?? true
      if isDue { pruned = .now }
      do {
        _ = try await pass(prunes: isDue)
      } catch  where ![.usage, .configuration].contains(ExitStatus(error)) {
        Console.complain("\(error)")
      }
      try await Task.sleep(for: interval)
    }
  }

  /// How often rotated parts are pruned by a process that goes on.
  private static let pruneInterval = Duration.hours(6)

  /// One pass over all homes that this process uploads from.
  private func pass(prunes: Bool = true) async throws -> ExitStatus {
    var choice = StoreChoice()
    choice.allowsPlaintext = allowPlaintext
    choice.limitRate = limitRate.flatMap(Settings.rate)
    choice.maximumRequests = maxRequests.flatMap(Settings.requests)
    choice.limitsRequests = true
    let places = try Workplace.all(
      transfers: transfers, choice: choice, logger: diagnostics.logger())
    let sites = places.map { place in
      UploadRound.Site(place.home, policy(of: place, prunes: prunes)) {
        try place.context(transfers: transfers)
      }
    }
    var round = UploadRound()
    round.patience = wait.flatMap(Age.parse) ?? .zero
    round.openElsewhere = try Workplace.openInRefusedHomes(besides: places)
    round.isFatal = { $0 is Failure }
    var statuses: Set<ExitStatus> = []
    guard !dryRun else {
      try await round.preview(sites) { site, outcome in
        statuses.insert(try report(outcome, of: site.home) { show($0) })
      }
      return ExitStatus(of: statuses)
    }
    // Lines of the log show what goes on, too.
    let progress = try diagnostics.logger().logLevel > .info ? ProgressBar() : nil
    try await round.run(sites) { _ in
      { event in
        progress?.note(event)
        Self.say(event)
      }
    } report: { site, outcome in
      statuses.insert(
        try report(outcome, of: site.home) { pass in
          try say(pass, of: site.home)
          return Self.status(of: pass.upload)
        })
    }
    return ExitStatus(of: statuses)
  }

  private func policy(of place: Workplace, prunes: Bool) -> UploadPolicy {
    var policy = UploadPolicy()
    policy.turn = now ? .all : Console.errorIsTerminal ? .passing : .due
    policy.sources = place.sources
    policy.retention = place.settings.retention
    // Where root serves all users, the store's retention is root's.
    policy.reapsRemote =
      place.servesAllUsers ? .always : place.home.owner == nil ? .onceUsed : .never
    policy.prunes = prunes
    policy.isWatched = Console.errorIsTerminal || forRecorder
    policy.staleAfter = place.settings.staleAfter
    return policy
  }

  private func show(_ preview: UploadPass.Preview) -> ExitStatus {
    for line in preview.attached { Console.say(line) }
    let plan = preview.upload
    for item in plan.items {
      let log = item.sent == nil ? "asks the store first" : item.unsent.text
      let what = item.consent == .metadata ? "its sidecar alone" : log
      let end = item.verdict.map { ", seals it (\($0.status.rawValue))" } ?? ""
      Console.say("\(item.session)  \(what)\(end)")
    }
    for session in plan.remains {
      Console.say("\(session)  deletes what its seal has made superfluous")
    }
    for held in plan.held { Console.say("\(held.session)  left alone: \(held.reason)") }
    Console.say("\(plan.items.count) sessions, \(plan.unsent.text) of log to send")
    return .ok
  }

  private struct Summary: Encodable {
    let user: String?
    let logBytes: ByteCount
    let storedBytes: ByteCount
    let objects: Int
    let sealed: Int
    let reaped: Int
    let formerDevices: [String: Int]
    let failures: [String: String]
    let leftBehind: [String: String]
    let error: String?
    let status: Int32
  }

  /// Says what became of a home.
  private func report<Result>(
    _ outcome: UploadRound.Outcome<Result>, of home: Home, done: (Result) throws -> ExitStatus
  ) throws -> ExitStatus {
    switch outcome {
    case .done(let result): return try done(result)
    case .busy:
      try diagnostics.logger().info("\(home.path): another upload holds the lock")
      Console.remark("another upload is running; it does this one's work")
      return .ok
    case .failed(let error as StoreError) where error.code == .exhausted:
      Console.remark("\(error)")
      return ExitStatus(error)
    case .failed(let error):
      Console.complain("\(home.path): \(ExitStatus.text(of: error))")
      return ExitStatus(error)
    }
  }

  private static func say(_ event: UploadPassEvent) {
    switch event {
    case .unreadable(let path, let reason): Console.complain("\(path): \(reason)")
    case .postponed(let postponement):
      // Without a terminal it is reported once; `status` says so as long as it is.
      if postponement.isNew || Console.errorIsTerminal { Console.complain(postponement.reason) }
    case .expiring(let sessions, let notice): Console.complain(expiring(sessions, within: notice))
    case .kept(let problem): Console.complain(problem)
    case .planned, .upload, .uploadEnded: break
    }
  }

  /// That the last copies of sessions expire soon, and what prevents it.
  private static func expiring(_ sessions: [SessionID], within notice: Duration) -> String {
    let named = sessions.prefix(5).map(\.description).joined(separator: ", ")
    let more = sessions.count > 5 ? " and \(sessions.count - 5) more" : ""
    return "last copies expire within \(Age.text(notice)): \(named)\(more); "
      + "'tidemark keep ID' keeps them, 'tidemark pull DIR ID' copies them"
  }

  private func say(_ pass: UploadPassReport, of home: Home) throws {
    let report = pass.upload
    if json {
      var failures: [String: String] = [:]
      for failure in report.failures { failures[failure.session.description] = "\(failure.error)" }
      let summary = Summary(
        user: home.owner?.name, logBytes: report.logBytes, storedBytes: report.storedBytes,
        objects: report.objects, sealed: report.sealed, reaped: pass.reaped,
        formerDevices: report.formerDevices, failures: failures,
        leftBehind: Dictionary(
          uniqueKeysWithValues: report.leftBehind.map { ($0.key.description, $0.value) }),
        error: report.stoppedBy.map { "\($0)" }, status: Self.status(of: report).rawValue)
      Console.say(try Console.json(summary))
    }
    let whose = home.owner.map { "\($0.name): " } ?? ""
    for (former, count) in report.formerDevices.sorted(by: { $0.key < $1.key }) {
      Console.complain(whose + Self.resending(count, from: former, as: pass.device))
    }
    for failure in report.failures {
      Console.complain("\(whose)\(failure.session): \(failure.error)")
    }
    if Console.errorIsTerminal {
      for (session, reason) in report.leftBehind.sorted(by: { $0.key < $1.key }) {
        Console.complain("\(whose)\(session): superfluous objects stay: \(reason)")
      }
    }
    if let error = report.stoppedBy {
      if pass.isReportDue {
        Console.complain("\(whose)\(error)")
        for sum in WaitingSum.sums(of: report.waiting) where sum.bytes > 0 {
          Console.complain(
            "\(whose)\(sum.bytes.text) not uploaded: \(sum.reason.summary) (\(sum.reason.remedy))")
        }
      }
    } else if Console.outputIsTerminal && !json {
      Console.say(
        "\(whose)sent \(report.logBytes.text) of log as "
          + "\(report.storedBytes.text) in \(report.objects) objects, "
          + "sealed \(report.sealed) sessions, reaped \(pass.reaped)")
    }
  }

  /// That sessions are sent under another device id than before, and why.
  static func resending(_ count: Int, from former: String, as device: String) -> String {
    let are =
      count == 1
      ? "session recorded as device \(former) is" : "sessions recorded as device \(former) are"
    return "\(count) \(are) sent again as \(device): this home was copied or moved, or lost its "
      + "device.json. What the store has under \(former) stays"
  }

  private static func status(of report: UploadReport) -> ExitStatus {
    if let error = report.stoppedBy { return ExitStatus(error) }
    guard !report.failures.isEmpty else {
      let kinds = report.held.map(\.kind)
      let isPartial = kinds.contains(.problem) || !report.formerDevices.isEmpty
      return isPartial ? .partial : kinds.contains(.passing) ? .tryLater : .ok
    }
    guard report.objects == 0 else { return .partial }
    return ExitStatus(of: Set(report.failures.map { ExitStatus($0.error) }))
  }
}
