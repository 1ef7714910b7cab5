import ArgumentParser
import Foundation
import ObjectStore
import Platform
import SessionLog
import Sync

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
    if let every, (Age.seconds(every) ?? 0) < 1 {
      throw ValidationError("--every takes a time such as 60s or 5m.")
    }
    if let wait, Age.seconds(wait) == nil {
      throw ValidationError("--wait takes a time such as 10s.")
    }
  }

  func run() async throws {
    guard let every, let seconds = Age.seconds(every) else {
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
      try await Task.sleep(for: .seconds(seconds))
    }
  }

  /// How often rotated parts are pruned by a process that goes on.
  private static let pruneInterval: Duration = .seconds(6 * 3600)

  /// One pass over all homes that this process uploads from.
  ///
  /// What is wrong with one user's home does not stop the others; what is wrong with the store does.
  private func pass(prunes: Bool = true) async throws -> ExitStatus {
    var choice = StoreChoice()
    choice.allowsPlaintext = allowPlaintext
    choice.limitRate = limitRate.flatMap(Settings.rate)
    choice.maximumRequests = maxRequests.flatMap(Settings.requests)
    choice.limitsRequests = true
    let places = try Workplace.all(transfers: transfers, choice: choice)
    var statuses: Set<ExitStatus> = []
    for place in places {
      do {
        let (status, isStoreDown) = try await place.asOwner {
          try await pass(place, prunes: prunes)
        }
        statuses.insert(status)
        if isStoreDown { break }
      } catch let error as StoreError where error.code == .exhausted {
        Console.remark("\(error)")
        statuses.insert(ExitStatus(error))
        break
      } catch  where places.count > 1 && !(error is Failure) {
        Console.complain("\(place.home.path): \(ExitStatus.text(of: error))")
        statuses.insert(ExitStatus(error))
      }
    }
    return ExitStatus(of: statuses)
  }

  private func pass(
    _ place: Workplace, prunes: Bool
  ) async throws -> (status: ExitStatus, isStoreDown: Bool) {
    let context = try place.context(transfers: transfers)
    guard let lock = try await lock(place) else {
      Console.remark("another upload is running; it does this one's work")
      return (.ok, false)
    }
    defer { withExtendedLifetime(lock) {} }
    try attach(place, context)
    let uploader = Uploader(context)
    let plan = try uploader.plan(now ? .all : Console.errorIsTerminal ? .passing : .due)
    if dryRun {
      show(plan)
      return (.ok, false)
    }
    let progress = ProgressBar(total: plan.unsent)
    let report = try await uploader.execute(plan) { progress.note($0) }
    progress.finish()
    let reaped = try await report.stoppedBy == nil ? reap(place, context) : 0
    if report.stoppedBy == nil && prunes { try await prune(place, context) }
    try context.saveLivedTime()
    try tell(report, reaped: reaped, place, context)
    // Without having asked, only this home's cache says that the store is down.
    return (Self.status(of: report), plan.hold == nil && report.stoppedBy is StoreError)
  }

  /// The home's lock, waited for as long as asked.
  private func lock(_ place: Workplace) async throws -> FileLock? {
    let limit = Duration.seconds(wait.flatMap(Age.seconds) ?? 0)
    let start = ContinuousClock.now
    while true {
      if let lock = try place.lock() { return lock }
      guard start.duration(to: .now) < limit else { return nil }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Finds what is new in the logs of other programs; what cannot be read is told once.
  private func attach(_ place: Workplace, _ context: SyncContext) throws {
    guard !place.sources.isEmpty else { return }
    let attacher = try Attacher(context, sources: place.sources)
    let plan = try attacher.plan()
    if dryRun {
      for line in plan.descriptions { Console.say(line) }
      return
    }
    for (path, reason) in try attacher.execute(plan).sorted(by: { $0.key < $1.key }) {
      Console.complain("\(path): \(reason)")
    }
  }

  private func show(_ plan: UploadPlan) {
    for item in plan.items {
      let log = item.sent == nil ? "asks the store first" : Console.size(item.unsent)
      let what = item.consent == .metadata ? "its sidecar alone" : log
      let end = item.verdict.map { ", seals it (\($0.status.rawValue))" } ?? ""
      Console.say("\(item.session)  \(what)\(end)")
    }
    for session in plan.remains {
      Console.say("\(session)  deletes what its seal has made superfluous")
    }
    for held in plan.held { Console.say("\(held.session)  left alone: \(held.reason)") }
    Console.say("\(plan.items.count) sessions, \(Console.size(plan.unsent)) of log to send")
  }

  /// Retention is part of the pass: locally each time, remotely once a day.
  private func reap(_ place: Workplace, _ context: SyncContext) async throws -> Int {
    let local = LocalReaper(context)
    let plan = try await local.plan(place.settings.retention)
    report(plan.postponement)
    var reaped = 0
    for (decision, error) in local.execute(plan) {
      if let error { Console.complain("cannot remove \(decision.session): \(error)") }
      reaped += error == nil ? 1 : 0
    }
    var entry = try context.storeEntry()
    let day: Int64 = 86_400_000
    let last = entry.remoteReapAt?.milliseconds ?? 0
    // Only a home that talks to the store anyway pays for the daily look; where root serves all
    // users, that is root's.
    guard Timestamp.now().milliseconds - last >= day,
      place.servesAllUsers || (place.home.owner == nil && entry.lastSuccess != nil)
    else { return reaped }
    let remote = RemoteReaper(context, devices: [context.device.deviceId])
    let remotePlan = try await remote.plan(place.settings.retention, skipsRecent: true)
    report(remotePlan.postponement)
    _ = try await remote.execute(remotePlan)
    entry = try context.storeEntry()
    entry.remoteReapAt = .now()
    try context.manifest.save(entry)
    return reaped + remotePlan.remote.count
  }

  /// Without a terminal a plan that is put off is reported once; `status` says so as long as it is.
  private func report(_ postponement: ReapPlan.Postponement?) {
    guard let postponement, postponement.isNew || Console.errorIsTerminal else { return }
    Console.complain(postponement.reason)
  }

  /// Rotated parts of sessions that stay.
  private func prune(_ place: Workplace, _ context: SyncContext) async throws {
    let pruner = PartPruner(context)
    for (decision, error) in pruner.execute(try await pruner.plan(place.settings.retention)) {
      if let error { Console.complain("cannot remove a part of \(decision.session): \(error)") }
    }
  }

  private struct Summary: Encodable {
    let user: String?
    let logBytes: Int64
    let storedBytes: Int64
    let objects: Int
    let sealed: Int
    let reaped: Int
    let formerDevices: [String: Int]
    let failures: [String: String]
    let leftBehind: [String: String]
    let error: String?
    let status: Int32
  }

  private func tell(
    _ report: UploadReport, reaped: Int, _ place: Workplace, _ context: SyncContext
  ) throws {
    if json {
      var failures: [String: String] = [:]
      for failure in report.failures { failures[failure.session.description] = "\(failure.error)" }
      let summary = Summary(
        user: place.home.owner?.name, logBytes: report.logBytes, storedBytes: report.storedBytes,
        objects: report.objects,
        sealed: report.sealed, reaped: reaped,
        formerDevices: report.formerDevices, failures: failures,
        leftBehind: Dictionary(
          uniqueKeysWithValues: report.leftBehind.map { ($0.key.description, $0.value) }),
        error: report.stoppedBy.map { "\($0)" }, status: Self.status(of: report).rawValue)
      Console.say(try Console.json(summary))
    }
    let whose = place.home.owner.map { "\($0.name): " } ?? ""
    for (device, count) in report.formerDevices.sorted(by: { $0.key < $1.key }) {
      Console.complain(
        whose + Self.resending(count, from: device, as: place.device.deviceId))
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
      if try isWorthTelling(error, place, context) { Console.complain("\(whose)\(error)") }
    } else if Console.outputIsTerminal && !json {
      Console.say(
        "\(whose)sent \(Console.size(report.logBytes)) of log as \(Console.size(report.storedBytes)) in "
          + "\(report.objects) objects, sealed \(report.sealed) sessions, reaped \(reaped)")
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

  /// Without a terminal an unreachable store is told once it is stale, and then once an hour.
  private func isWorthTelling(
    _ error: any Error, _ place: Workplace, _ context: SyncContext
  ) throws -> Bool {
    guard !Console.errorIsTerminal && !forRecorder else { return true }
    // The user has asked for it.
    if (error as? StoreError)?.code == .exhausted { return false }
    var entry = try context.storeEntry()
    let now = Timestamp.now().milliseconds
    if (error as? StoreError)?.isTransient == true {
      let since = (entry.lastSuccess ?? entry.failingSince)?.milliseconds ?? now
      guard now - since >= place.settings.staleAfter * 1000 else { return false }
    }
    guard now - (entry.lastTold?.milliseconds ?? 0) >= 3_600_000 else { return false }
    entry.lastTold = Timestamp(milliseconds: now)
    try context.manifest.save(entry)
    return true
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
