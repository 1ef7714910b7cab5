import ArgumentParser
import Foundation
import Logging
import ObjectStore
import Platform
import SessionLog
import Sync
import TidemarkUpload

/// `tidemark upload`.
struct Upload: AsyncParsableCommand, HomeCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Upload what is new, seal what has ended, reap what is due; for cron.",
    discussion: """
      Silent without a terminal when all went well, and while another upload is running, or a store \
      cannot be reached, for less than 'stale-after'; then each is reported once an hour (75). \
      A store that could not be reached, or rejected the login, is retried after 1, 2, 4, … 15 minutes; \
      on a terminal, at once. Without a terminal an error of the configuration is reported once an hour. \
      Everything is sent, in passes of five minutes that begin with the sessions that have least to \
      send: what is recorded meanwhile does not wait for a large log. Where the machine is configured \
      for all users, root sends everybody's sessions, and leaves what takes longer than a pass to the \
      next upload (75).

      With --json one object for each pass and user: user, logBytes, storedBytes, objects, sealed, \
      reaped, formerDevices, failures, leftBehind, error, vanished (session, rest: as in status), cacheProblem, status. With --dry-run: user, attached (what \
      has become of other programs' logs), sessions (session, logBytes, consent, ends), held, logBytes.

      Examples:
        tidemark upload --dry-run
        tidemark upload --every 60s --limit-rate 500k
      """)

  @Option(
    help: ArgumentHelp(
      "Keep running; upload again at this interval, e.g. 60s.", valueName: "time"),
    transform: ArgumentValue.span)
  var every: Duration?
  @Option(
    help: ArgumentHelp("How long to wait for a running upload, e.g. 10s.", valueName: "time"),
    transform: ArgumentValue.spanOrZero)
  var wait: Duration?
  @Option(
    help: ArgumentHelp(
      "Requests under way at once, 1 to 64; otherwise 12, or 32 small ones.", valueName: "n"),
    transform: ArgumentValue.count(1...64))
  var transfers: Int?
  @Option(
    help: ArgumentHelp(
      "Bytes a second of all requests together, both ways: 500k, 2MB.", valueName: "size"),
    transform: ArgumentValue.rate)
  var limitRate: ByteCount?
  @Option(
    help: ArgumentHelp(
      "Maximum number of requests (at least 8); the next upload continues.", valueName: "n"),
    transform: ArgumentValue.count(8...Int.max))
  var maxRequests: Int?
  @Flag(help: "Accept http:// to another machine: logs and password are sent unencrypted.")
  var allowPlaintext = false
  @Flag(help: "Send nothing; print what would be sent.")
  var dryRun = false
  @Flag(help: "Try at once also what failed and whose next attempt is not due yet.")
  var now = false
  @Flag(help: "Print the result as JSON.")
  var json = false
  @Flag(help: ArgumentHelp("Started by a recorder, which reads what is said.", visibility: .hidden))
  var forRecorder = false
  @Option(
    help: ArgumentHelp("Started by root's upload, for the home of one user.", visibility: .hidden))
  var homeOf: String?
  @Flag(help: ArgumentHelp("Leave rotated parts alone.", visibility: .hidden))
  var withoutPruning = false
  @Flag(help: ArgumentHelp("Somebody sees what is said.", visibility: .hidden))
  var watched = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    guard let interval = every else {
      var passes = PassSeries(left: ExitStatus.tryLater)
      do {
        try await passes.run { try await pass(continues: $0) }
      } catch  where [.configuration, .authentication].contains(ExitStatus(error)) {
        throw try report(error)
      }
      let status = ExitStatus(of: passes.statuses)
      if status != .ok { throw status }
      return
    }
    var pruned: ContinuousClock.Instant?
    var failures = PassFailures()
    while true {
      let isDue = pruned.map { $0.duration(to: .now) >= Self.pruneInterval } ?? true
      if isDue { pruned = .now }
      var isUnfinished = false
      do {
        isUnfinished = try await pass(prunes: isDue).isUnfinished
        failures.pass()
      } catch {
        if let line = try failures.line(for: error, at: .now) { Console.complain(line) }
      }
      if isUnfinished { continue }
      try await Task.sleep(for: interval)
    }
  }

  /// Reports an error that a person has to fix: without a terminal, as in cron, once an hour.
  private func report(_ error: any Error) throws -> ExitStatus {
    guard !Console.errorIsTerminal, !forRecorder, !now else { throw error }
    let home = Home.locate(environment: ProcessInfo.processInfo.environment)
    // Nothing is written to another user's home.
    if error is ForeignHome { throw error }
    let report = HourlyReport(home, .uploadError)
    if report.isDue("\(error)", at: .now()) { throw error }
    return ExitStatus(error)
  }

  /// How often a continuous process prunes rotated parts.
  private static let pruneInterval = Duration.hours(6)

  private var choice: StoreChoice {
    var choice = StoreChoice()
    choice.allowsPlaintext = allowPlaintext
    choice.limitRate = limitRate
    choice.maximumRequests = maxRequests
    choice.limitsRequests = true
    return choice
  }

  /// Runs one pass over all homes that this process uploads from.
  ///
  /// - Parameter continues: whether it sends what the pass before had no time for.
  /// - Returns: its status, and whether to begin the next pass at once: this one had no more time for
  ///   the home of this process's own user.
  private func pass(
    prunes: Bool = true, continues: Bool = false
  ) async throws -> (status: ExitStatus, isUnfinished: Bool) {
    if homeOf != nil { return (try await passOfHome(), false) }
    if Account.current.isRoot, MachineWide.isConfigured {
      for failed in try MachineWide.makeHomes(on: .current) {
        Console.complain("cannot make the home \(failed.path): \(failed.reason)")
      }
    }
    let setups = try CommandContext.all(
      transfers: transfers, choice: choice, logger: diagnostics.logger())
    guard let own = setups.last else { return (.ok, false) }
    let refused = try CommandContext.openInRefusedHomes(besides: setups)
    var uploads = HomeUploads(self, prunes: prunes)
    let round = try await uploads.run(setups.dropLast().map(\.home), besides: refused) {
      await own.isStoreDown(transfers: transfers)
    }
    guard !round.isStopped else { return (uploads.status, false) }
    var isCutShort = false
    do {
      uploads.add(
        try await pass(
          of: own, prunes: prunes, continues: continues, openElsewhere: round.open
        ) { report in
          isCutShort = report.upload.isCutShort
        })
    } catch  where own.servesAllUsers && !(error is Failure) {
      uploads.add(report(error, of: own.home))
    }
    if own.servesAllUsers, try RefusedHome.all().contains(where: { $0.sessions > 0 }) {
      uploads.add(.partial)
    }
    let status = uploads.status
    let isWell = status == .ok || status == .tryLater && isCutShort
    if isWell, !dryRun { await Hooks(own).beat() }
    return (status, isCutShort)
  }

  /// A home that needs more continues with the next upload.
  static let budget = ProcessBudget(time: .seconds(600), memory: 2 << 30)

  func openHome(of user: String) throws -> CommandContext {
    try CommandContext(
      user: user, transfers: transfers, byteLimit: HomeUploads.byteLimit, claimsOnlyOpen: true,
      choice: choice, logger: diagnostics.logger())
  }

  /// The pass over one user's home in a process that root has started for it; see ``HomeProcess``.
  private func passOfHome() async throws -> ExitStatus {
    let setup: CommandContext
    do {
      guard let opened = try HomeProcess.setup?.get() else { return .usage }
      setup = opened
    } catch {
      Console.complain("the home of \(homeOf ?? ""): \(error)")
      return ExitStatus(error)
    }
    var done: UploadPassReport?
    defer { HomeProcess.report(UploadRound.Report(on: setup.home, done)) }
    do {
      return try await pass(of: setup, prunes: !withoutPruning) { done = $0 }
    } catch {
      return report(error, of: setup.home)
    }
  }

  /// Runs a pass over one user's home.
  private func pass(
    of setup: CommandContext, prunes: Bool, continues: Bool = false,
    openElsewhere: OpenSessions = .none,
    _ observe: (UploadPassReport) -> Void = { _ in }
  ) async throws -> ExitStatus {
    let counted = Guarded<CountingStore?>(nil)
    var policy = try policy(of: setup, prunes: prunes)
    policy.openElsewhere = openElsewhere
    var pass = HomePass(setup.home, policy) {
      try setup.context(transfers: transfers) { store in counted.withLock { $0 = store } }
    }
    pass.patience = wait ?? .zero
    if continues { pass.continueUpload() }
    if dryRun { return try await show(pass.preview(), of: setup.home) }
    let hooks = Hooks(setup)
    // Report crashes before the upload, which may take long, or be stopped.
    await hooks.reportCrashes()
    var status = ExitStatus.ok
    var failure: (any Error)?
    do {
      status = try await run(pass, continues: continues, observe)
    } catch {
      failure = error
    }
    // Again after it: a session that crashed meanwhile may be sealed by now.
    await hooks.reportCrashes()
    await hooks.reportStall()
    if let store = counted.withLock({ $0 }) {
      try? await setup.home.withOwnersRights { RequestTotals(setup.home).add(store.requests) }
    }
    if let failure { throw failure }
    return status
  }

  private func run(
    _ pass: HomePass, continues: Bool, _ observe: (UploadPassReport) -> Void
  ) async throws -> ExitStatus {
    // Log lines show progress, too.
    let progress = try diagnostics.logger().logLevel > .info ? ProgressBar() : nil
    do {
      let report = try await pass.run { event in
        progress?.update(event)
        Self.say(event)
      }
      guard let report else { return try reportBusy(pass, continues: continues) }
      observe(report)
      let problem = UnreadableCache.problem(of: pass.home)
      try say(report, of: pass.home, problem)
      return Self.status(of: report, problem)
    } catch let error as StoreError where error.code == .exhausted {
      Console.remark("\(error)")
      return ExitStatus(error)
    }
  }

  /// Whether somebody sees what is said.
  var isWatched: Bool { Console.errorIsTerminal || forRecorder || watched || now }

  private func policy(of setup: CommandContext, prunes: Bool) throws -> UploadPolicy {
    var policy = UploadPolicy()
    policy.retryScope = now ? .all : Console.errorIsTerminal ? .transient : .due
    policy.sources = try setup.sources
    policy.retention = setup.settings.retention
    // If root uploads for all users, only root applies the store's retention.
    policy.reapsRemote =
      setup.servesAllUsers ? .always : setup.home.owner == nil ? .onceUsed : .never
    policy.prunes = prunes
    policy.limitTime(andRequests: setup.settings.storeSettings.maximumRequests)
    policy.isWatched = isWatched
    policy.staleAfter = setup.settings.staleAfter
    return policy
  }

  /// Reports that another upload of a home is running, which does this one's work, unless it has
  /// run for too long.
  private func reportBusy(_ pass: HomePass, continues: Bool) throws -> ExitStatus {
    try diagnostics.logger().info("\(pass.home.path): another upload holds the lock")
    let now = Timestamp.now()
    if let long = LongPass(pass.home, after: pass.policy.staleAfter, at: now) {
      long.report(isWatched: isWatched, at: now)
      return .tryLater
    }
    Console.remark(
      "another upload of this home is running"
        + (continues ? ", and continues what this one has begun" : "; nothing to do"))
    return statusOfBusyHome(continues: continues)
  }

  /// Reports an error of one home.
  private func report(_ error: any Error, of home: Home) -> ExitStatus {
    Console.complain("\(home.path): \(error)")
    return ExitStatus(error)
  }
}
