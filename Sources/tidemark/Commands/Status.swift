import ArgumentParser
import Fleet
import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog
import Sync

/// `tidemark status`.
struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show where everything is, what is not yet uploaded, and what went wrong.",
    discussion: """
      Every byte that was not uploaded has one reason, listed with what ends it. Exit code 1 when \
      sessions are to be sent again under another device id, are sealed in another store, also in the trash, or \
      wait for somebody to act, or were proven in the store and are not there any more, or 'verify' found them damaged, or \
      their local logs were changed after they were sent, or lost their end before, or the cache \
      cannot be read, 78 when the store's login cannot be read, 75 when there are bytes to send and \
      nothing could be sent for 'stale-after', or another command has locked the home for longer than \
      that, or the disk is full, 77 when the configuration names a \
      store and lacks 'consent:'. Where root serves all users, each of them is shown, and a home that \
      takes more than a minute or 2 GiB of memory to examine is named (1).

      With --json one object, or one for each user: user, home, configuration, store, sending (yes, \
      no-store, store-none, consent-none, consent-missing or served-by-root), consent, deviceId, \
      openSessions, unsentBytes, waiting (reason, bytes, sessions, remedy; the bytes add up to \
      unsentBytes), unprovenBytes (sent, not yet proven), localBytes, lastSuccess, readBack (at, \
      whole, sessions: what 'verify --deep' last found), stale, formerDevices (sessions by the id that \
      they were recorded under), sealedElsewhere (sessions by the store that has them, if it is not the \
      configured one), trashElsewhere (the same, for copies in the trash: their ids), endsLost (sessions whose last bytes only the store has), livedSeconds, reapingWaits (why old sessions stay), problems, vanished (sessions whose proven \
      remote copy is gone: session, rest: whole, end, trash or nothing on this machine), damaged (what 'verify' last found: session, problem, at), changedLogs (sessions \
      whose local log holds something else than was sent), lostLogs (sessions whose log lost its end \
      before that was sent), lockedSince (when another command locked the home, if that is longer ago \
      than 'stale-after'), cacheProblem, failed \
      (the store, or sessions: session, attempts, lastError, nextAttempt). For a home on which there is no \
      report: user, home, notExamined (why).

      With --prometheus, for a collector of text files: last success, stale, whether the cache cannot \
      be read (then there is no last success), unsent bytes by reason, unproven bytes, vanished \
      sessions, sessions by state, crashes in 24 hours, requests of uploads; exit code 0 whatever \
      they say. A home that is not examined has none, and is named on standard error.

      A folder that is named like a home and belongs to no user, as after a user was renamed or \
      removed, is shown if it has sessions that are not sealed, with --json as home, sending (refused), \
      openSessions, unsentBytes and problems; exit code 1.

      Examples:
        tidemark status
        tidemark status --json | jq .unsentBytes
      """)

  @OptionGroup var zone: ZoneOptions
  @Flag(help: "One JSON object.")
  var json = false
  @Flag(
    help: ArgumentHelp(
      "Metrics for Prometheus: 'tidemark status --prometheus >x.tmp && mv x.tmp x.prom'."))
  var prometheus = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if json && prometheus { throw ValidationError("--json and --prometheus exclude each other.") }
  }

  struct Report: Encodable {
    let user: String?
    let home: String
    let configuration: String
    let store: String?
    let sending: String
    let consent: Consent?
    let deviceId: String?
    let openSessions: Int
    let unsentBytes: ByteCount
    let waiting: [Waits]
    let unprovenBytes: ByteCount
    let localBytes: ByteCount
    let lastSuccess: Timestamp?
    let readBack: ReadBack?
    let stale: Bool
    let formerDevices: [String: Int]
    let sealedElsewhere: [String: Int]
    let endsLost: Int
    let livedSeconds: Int64
    let reapingWaits: [String]
    let problems: [String: String]
    let failed: [Attempts]
    /// Sessions whose proven remote copy is gone.
    var vanished = VanishedCopies()
    /// Sessions in whose remote copy 'verify' found something missing or damaged.
    var damaged: DamagedCopies?
    /// Sessions whose local log was changed after it was sent, and holds what the store lacks.
    var changedLogs: [SessionID] = []
    /// Sessions whose log lost its end before that was sent.
    var lostLogs: [SessionID] = []
    /// Sessions in the trash by the store that has them, if it is not the configured one.
    var trashElsewhere: [String: [SessionID]] = [:]
    /// Since when a command has had the home's lock, if that is longer than 'stale-after'.
    var lockedSince: Timestamp?
    /// Why the cache cannot be read: what was sent, and when, is unknown.
    var cacheProblem: CacheProblem?

    /// Whether bytes wait because the disk is full.
    var isDiskFull: Bool { cacheProblem == .diskFull }

    /// Whether somebody has to act, or the report has gaps.
    var isPartial: Bool {
      !formerDevices.isEmpty || !sealedElsewhere.isEmpty || waiting.contains(where: \.isProblem)
        || cacheProblem != nil || !vanished.isEmpty || damaged?.isEmpty == false
        || !changedLogs.isEmpty || !lostLogs.isEmpty || !trashElsewhere.isEmpty
        || failed.contains(where: \.isLasting)
    }
  }

  /// Bytes that were not uploaded for one reason.
  struct Waits: Encodable {
    let reason: String
    let bytes: ByteCount
    let sessions: Int
    let remedy: String
    let text: String
    let isProblem: Bool

    enum CodingKeys: CodingKey { case reason, bytes, sessions, remedy }

    init(_ sum: WaitingSum) {
      (reason, remedy, text) = (sum.reason.code, sum.reason.remedy, sum.reason.summary)
      (bytes, sessions, isProblem) = (sum.bytes, sum.sessions, sum.reason.kind == .problem)
    }
  }

  /// A folder that is named like a home, and that nobody sends.
  struct Refused: Encodable {
    let home: String
    let sending = "refused"
    let openSessions: Int
    let unsentBytes: ByteCount
    let problems: [String: String]

    init(_ refused: RefusedHome) {
      (home, openSessions, unsentBytes) = (refused.path, refused.sessions, refused.bytes)
      problems = [refused.path: "\(refused.reason). \(refused.remedy)"]
    }
  }

  /// A home on which there is no report.
  struct NotExamined: Encodable {
    let user: String?
    let home: String
    let notExamined: String

    init(_ home: Home, because error: any Error) {
      (user, self.home, notExamined) = (home.owner?.name, home.path, "\(error)")
    }
  }

  /// Consecutive failed attempts, of a session or, without one, of the store.
  struct Attempts: Encodable {
    var session: SessionID?
    let attempts: Int
    let lastError: String
    let nextAttempt: Timestamp?
    /// Whether the store fails for a reason that does not pass by itself.
    var isLasting = false

    enum CodingKeys: CodingKey { case session, attempts, lastError, nextAttempt }
  }

  func run() async throws {
    guard !prometheus else { return try await showMetrics() }
    let setups = try CommandContext.all(isNeeded: false, logger: diagnostics.logger())
    guard let own = setups.last else { return }
    let others = setups.dropLast().map(\.home)
    var reports: [HomeReport] = []
    var isPartial = false
    for (home, finding) in try examination(.status).findings(in: others, as: HomeReport.self) {
      do {
        let report = try finding.get().checked(for: home)
        show(report, isFirst: reports.isEmpty)
        reports.append(report)
      } catch {
        try complain(error, of: home)
        isPartial = true
      }
    }
    var problem: StoreError?
    do {
      problem = try own.storeProblem()
      let report = try await own.home.withOwnersRights {
        try HomeReport(on: own, asJSON: json, zone.zone)
      }
      show(report, isFirst: reports.isEmpty)
      reports.append(report)
    } catch  where !others.isEmpty && !(error is StoreError) {
      // An error in one user's home, root's included, must not hide the others.
      try complain(error, of: own.home)
      isPartial = true
    }
    if own.servesAllUsers {
      for refused in try RefusedHome.all() where refused.sessions > 0 {
        isPartial = true
        if json {
          Console.say(try Console.json(Refused(refused)))
        } else {
          Console.say()
          for line in Self.lines(of: refused) { Console.say(line) }
        }
      }
    }
    if let problem { throw problem }
    if own.reasonNotToSend?.isProblem == true { throw ExitStatus.authentication }
    if reports.contains(where: \.isOverdue) { throw ExitStatus.tryLater }
    if isPartial || reports.contains(where: \.isPartial) { throw ExitStatus.partial }
  }

  /// Prints metrics; problems appear in them, not in the exit code.
  private func showMetrics() async throws {
    let setups = try CommandContext.all(logger: diagnostics.logger())
    guard let own = setups.last else { return }
    let others = setups.dropLast().map(\.home)
    var homes: [DeviceMetrics] = []
    for (home, finding) in try examination(.metrics).findings(in: others, as: DeviceMetrics.self) {
      do {
        var metrics = try finding.get()
        metrics.user = home.owner?.name
        homes.append(metrics)
      } catch {
        Console.complain("\(home.path): \(error)")
      }
    }
    do {
      homes.append(try await own.home.withOwnersRights { try await own.metrics() })
    } catch  where !others.isEmpty && !(error is StoreError) {
      Console.complain("\(own.home.path): \(error)")
    }
    Console.write(Array(DeviceMetrics.text(homes).utf8))
  }

  /// The examination of other users' homes, with this command's options.
  private func examination(_ subject: Examine.Subject) -> Examination {
    let flags = [("--json", json), ("--utc", zone.utc)].filter(\.1).map(\.0)
    return Examination(
      subject, options: flags + Array(repeating: "-v", count: diagnostics.verbose))
  }

  private func show(_ report: HomeReport, isFirst: Bool) {
    if !isFirst && !json { Console.say() }
    report.show()
  }

  /// Names a home on which there is no report.
  private func complain(_ error: any Error, of home: Home) throws {
    Console.complain("\(home.path): \(error)")
    if json { Console.say(try Console.json(NotExamined(home, because: error))) }
  }

  /// Examines a home.
  static func report(on setup: CommandContext) throws -> Report {
    let context = try setup.contextIfReadable()
    let vanished = context.map { VanishedCopies(of: $0) }
    var problems: [String: String] = [:]
    for (session, reason) in try Quarantine(setup.home).sessions() {
      problems[session.description] = reason
    }
    let plan = try context.map { try Uploader($0).plan() }
    for held in plan?.skipped ?? [] where held.kind != .idle {
      problems[held.session.description] = held.reason
    }
    let attacher = try setup.attacher(context)
    problems.merge(try attacher?.problems() ?? [:]) { first, _ in first }
    let growth = try setup.growth(found: attacher, besides: plan)
    let entry = try context?.storeEntry()
    let lived = try setup.lived(context)
    let isDisabled = context == nil && !setup.isServedByRoot
    let waiting =
      try plan?.sumsSinceLastPass(growth)
      ?? (isDisabled
        ? WaitingSum.sums(
          of: UploadPlan.withoutStore(
            setup.home, reason: setup.reasonNotToSend?.waitReason ?? .disabled))
        : [])
    let sealed = try context.map { try Uploader($0).sealedCopies() }
    let waits = plan?.waits(besides: growth, consent: setup.consent) ?? false
    let trashElsewhere = try context.map { context in
      try SealedCopies.inTrash(
        of: setup.home, elsewhereThan: context.store.location
      ) { problems[setup.home.path + "/trash"] = $0 }
    }
    let long = LongPass(setup.home, after: setup.settings.staleAfter, at: .now())
    return Report(
      user: setup.home.owner?.name, home: setup.home.path,
      configuration: setup.home.configurationPath,
      store: context?.store.location ?? setup.namedStore,
      sending: setup.reasonNotToSend?.code ?? "yes",
      consent: context?.consent, deviceId: setup.hasHome ? setup.device.deviceId : nil,
      // Passes need not visit each attached session until it is sealed; without a store all have
      // markers.
      openSessions: try sealed?.unsealed ?? setup.home.openSessions().count,
      unsentBytes: waiting.reduce(0) { $0 + $1.bytes },
      waiting: waiting.map(Waits.init), unprovenBytes: plan?.unproven ?? 0,
      localBytes: try setup.home.sessionBytes(),
      lastSuccess: entry?.lastSuccess, readBack: ReadBack.load(setup.home),
      stale: entry?.isStale(after: setup.settings.staleAfter, at: .now(), waits: waits) == true,
      formerDevices: plan?.formerDevices ?? [:],
      sealedElsewhere: sealed?.elsewhere.mapValues(\.count) ?? [:],
      endsLost: sealed?.cut.count ?? 0, livedSeconds: lived.time.seconds,
      reapingWaits: try Self.reapingWaits(setup, lived), problems: problems,
      failed: try context.map(Self.failed) ?? [], vanished: vanished ?? VanishedCopies(),
      damaged: context.map { DamagedCopies($0.home, store: $0.store.location, at: .now()) },
      changedLogs: sealed?.changed ?? [], lostLogs: sealed?.lost ?? [],
      trashElsewhere: trashElsewhere ?? [:], lockedSince: long?.since,
      cacheProblem: context == nil ? nil : cacheProblem(of: setup.home, waits: waits))
  }

  /// Why the cache is of no use: it cannot be read or, while bytes wait, not be written.
  private static func cacheProblem(of home: Home, waits: Bool) -> CacheProblem? {
    UnreadableCache.problem(of: home).map(CacheProblem.unreadable)
      ?? (waits && FreeSpace.system.isFull(in: home.path) ? .diskFull : nil)
  }

  private static func failed(_ context: SyncContext) throws -> [Attempts] {
    let waiting = try Uploader(context).waiting()
    let store = waiting.store.map {
      Attempts(
        attempts: $0.attempts, lastError: $0.lastError.map { "\($0)" } ?? "",
        nextAttempt: $0.nextAttempt, isLasting: $0.lastError?.isTransient == false)
    }
    return [store].compactMap(\.self)
      + waiting.sessions.map {
        Attempts(
          session: $0.session, attempts: $0.attempts, lastError: $0.reason,
          nextAttempt: $0.nextAttempt)
      }
  }

  /// Why sessions that are old by the wall clock are not deleted yet.
  private static func reapingWaits(_ setup: CommandContext, _ lived: LivedClock) throws -> [String]
  {
    let time = lived.time
    var reasons = ["local", "remote"].compactMap { side in
      time.pause(on: side).map {
        "\(side): most sessions would go at once; put off for another \(Age.text($0)) of running time"
      }
    }
    let age = setup.settings.retention.local
    let count = try LocalReaper(home: setup.home, lived: lived, now: .now()).countDoubtful(age)
    if count > 0 {
      reasons.append(
        "local: \(Plural.text(count, "session")) ended and sealed over \(Age.text(age)) ago by the clock, "
          + "but this home has run for less than that since: waiting for running time")
    }
    return reasons
  }

  /// A report for people on a folder that nobody sends.
  static func lines(of refused: RefusedHome) -> [ReportLine] {
    let what = refused.waiting ?? "nothing"
    return [
      ("home", "\(refused.path): \(refused.reason)"), ("not uploaded", what),
      ("problem", refused.remedy),
    ].map { name, value in
      let label = name.padded(to: 15)
      return ReportLine(label + value, .yellow, indent: label.count)
    }
  }

  /// A report for people.
  ///
  /// - Parameters:
  ///   - reason: why nothing is sent from the home; nil if something is.
  ///   - device: the device's id.
  ///   - now: the time.
  ///   - zone: the zone of times.
  static func lines(
    of report: Report, _ reason: CommandContext.NotSending?, device: String, at now: Timestamp,
    _ zone: LocalZone
  ) -> [ReportLine] {
    var lines: [ReportLine] = []
    func add(_ name: String, _ value: String, _ colour: Console.Colour? = nil) {
      let label = name.padded(to: 15)
      lines.append(ReportLine(label + value, colour, indent: label.count))
    }
    if let user = report.user { add("user", user) }
    let noStore =
      switch reason {
      case .servedByRoot: "store managed by root, which uploads your sessions"
      case .storeIsNone: "none ('store: none'): sessions stay on this machine"
      default: "none; 'tidemark init URL' names one"
      }
    add("home", report.home)
    add("configuration", report.configuration)
    add("store", report.store.map { String(oneLine: $0) } ?? noStore)
    switch reason {
    case .noConsent:
      add("consent", "MISSING: nothing is sent; add 'consent: logs' to the configuration", .red)
    case .consentIsNone: add("consent", "none: nothing leaves this machine")
    default: break
    }
    if report.consent == .metadata { add("consent", "metadata: no log leaves this machine") }
    add("device", report.deviceId ?? "not made yet")
    add("local", report.localBytes.text)
    add("not sealed", Plural.text(report.openSessions, "session"))
    for reason in report.reapingWaits { add("reaping waits", reason, .yellow) }
    if case .servedByRoot = reason { return lines }
    for (former, count) in report.formerDevices.sorted(by: { $0.key < $1.key }) {
      add("device changed", Upload.resending(count, from: former, as: device), .yellow)
    }
    for (store, count) in report.sealedElsewhere.sorted(by: { $0.key < $1.key }) {
      add(
        "other store",
        "\(String(oneLine: store)): "
          + SealedElsewhere.text(count, report.store ?? "the configured store"), .yellow)
    }
    for (store, sessions) in report.trashElsewhere.sorted(by: { $0.key < $1.key }) {
      add(
        "other store",
        "\(String(oneLine: store)): "
          + SealedElsewhere.text(
            inTrash: sessions, String(oneLine: report.store ?? "the configured store")), .yellow)
    }
    if report.endsLost > 0 {
      add(
        "lost here",
        "the end of \(Plural.text(report.endsLost, "log")): sealed from what the store has, which is "
          + "whole ('tidemark show --remote ID')")
    }
    add("not uploaded", report.unsentBytes.text)
    for waits in report.waiting {
      let sessions = Plural.text(waits.sessions, "session")
      let line = "  \(waits.bytes.text) in \(sessions): \(waits.text) (\(waits.remedy))"
      lines.append(ReportLine(line, waits.isProblem ? .yellow : nil))
    }
    if report.unprovenBytes > 0 {
      add("unverified", "\(report.unprovenBytes.text) sent; verified when the session is sealed")
    }
    add(
      "last success",
      report.lastSuccess.map { "\(zone.textWithOffset($0)) (\(Age.ago(now - $0)))" }
        ?? (report.cacheProblem == nil ? "never" : "unknown"))
    for line in report.vanished.lines(report.store ?? "the store") { add("vanished", line, .red) }
    for copy in report.damaged?.copies ?? [] {
      // Nothing is sent from a log that was changed: its own line says what helps.
      let advice =
        report.changedLogs.contains(copy.session)
        ? ""
        : "; 'tidemark verify --repair \(copy.session)' sends what the local log still has, or says "
          + "what has to be done first"
      add(
        "damaged",
        "\(copy.session): \(String(oneLine: copy.problem)) (found \(Age.ago(now - copy.at)))\(advice)",
        .red)
    }
    for session in report.changedLogs {
      add("log changed", "\(session): its \(Sidecar.Seal.changedLogText)", .yellow)
    }
    for session in report.lostLogs {
      add(
        "log lost",
        "\(session): its log lost its end before that was sent, and the store has what was left: "
          + "an upload sends the rest within a day after the log is put back from a backup; if there is "
          + "none, 'tidemark delete --local \(session)' ends this", .yellow)
    }
    if let since = report.lockedSince {
      add("busy", String(oneLine: LongPass.text(since: since, at: now, in: report.home)), .red)
    }
    if let problem = report.cacheProblem {
      add("problem", String(oneLine: problem.description), .yellow)
    }
    if let readBack = report.readBack {
      add(
        "read back",
        (readBack.whole == 0 ? "none" : "\(readBack.whole)")
          + " of \(Plural.text(readBack.sessions, "sealed session"))"
          + (readBack.whole == 0 ? " whole " : ", all whole ")
          + "(\(Age.ago(now - readBack.at)))")
    }
    for failed in report.failed {
      let what = failed.session.map { "\($0): " } ?? ""
      let next = failed.nextAttempt.map { ", again after \(zone.textWithOffset($0))" } ?? ""
      add(
        "failed",
        "\(what)\(Plural.times(failed.attempts))\(next): \(String(oneLine: failed.lastError))",
        .yellow)
    }
    let told = Set(report.failed.compactMap { $0.session?.description })
    let others = report.problems.filter { !told.contains($0.key) }
    for (session, reason) in others.sorted(by: { $0.key < $1.key }) {
      add("problem", "\(String(oneLine: session)): \(String(oneLine: reason))", .yellow)
    }
    if report.stale {
      lines.append(ReportLine("STALE: nothing could be sent for too long", .red))
    }
    return lines
  }
}
