import ArgumentParser
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync
import TidemarkUpload

/// `tidemark verify [ID…]`.
struct Verify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read sessions back from the store and prove that every byte is there.",
    discussion: """
      Without an ID: all of this device's sessions in the store. Where the local log is still \
      there, both are compared byte for byte. A log withheld by consent is reported, not an error, and \
      so is a session whose remote copy retention has deleted ('reaped'). With --deep every object \
      that a seal names is read whole and decoded, including those of \
      which only parts are needed; with --sample N that is done for some sessions chosen at random, \
      from cron for instance, and 'tidemark status' says how many were read back and when. With --repair \
      what failed is read again once it is sent, and a second line says how that went. Exit code 65 when \
      anything is wrong, or still is; 'tidemark status' names such sessions until they are whole, or gone.

      With --json one object a line: session, result (ok, withheld, reaped, failed or repaired), bytes, \
      comparedLocally, problem.

      Examples:
        tidemark verify --since yesterday
        tidemark verify --deep --sample 5
      """)

  @OptionGroup var sessions: SelectionOptions
  @OptionGroup var span: SpanOptions
  @Flag(help: "Send again, from the local log, what is missing or damaged.")
  var repair = false
  @Flag(help: "With --repair: send nothing; print which sessions would be sent again.")
  var dryRun = false
  @Flag(help: "Read every object that seals name, and remember for 'status' that it was done.")
  var deep = false
  @Option(
    help: ArgumentHelp(
      "With --deep: only so many sealed sessions, chosen at random.", valueName: "n"),
    transform: ArgumentValue.count(1...Int.max))
  var sample: Int?
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  /// Whether every session of the devices is read, rather than a random sample.
  private var readsAll: Bool {
    sessions.ids.isEmpty && sessions.choice.app == nil && !sessions.choice.failed
      && !span.isChoosing
  }

  func validate() throws {
    if sample != nil, !deep || !sessions.ids.isEmpty {
      throw ValidationError("--sample goes with --deep, and without sessions.")
    }
    if dryRun, !repair { throw ValidationError("--dry-run goes with --repair.") }
    if !sessions.ids.isEmpty, span.isChoosing {
      throw ValidationError("Use either session ids or selection options, not both.")
    }
  }

  enum Result: String, Encodable { case ok, withheld, reaped, failed, repaired }

  struct Line: Encodable {
    let session: SessionID
    var result: Result
    var bytes: ByteCount?
    var comparedLocally: Bool?
    var lostLocally: ByteCount?
    var problem: String?
  }

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger())
    let context = try setup.context()
    var entries = try await entries(setup, context)
    let sealed = entries.count { $0.remote?.seal != nil }
    if let sample {
      entries = Array(entries.filter { $0.remote?.seal != nil }.shuffled().prefix(sample))
    }
    var broken: [SessionID] = []
    var lines: [Line] = []
    for (index, entry) in entries.enumerated() {
      if Console.errorIsTerminal && entries.count > 1 {
        Console.remark("\(index + 1)/\(entries.count) \(entry.session)")
      }
      let line = try await verify(entry, context)
      if line.result == .failed { broken.append(entry.session) }
      if setup.device.ids.contains(entry.sidecar.deviceId) { lines.append(line) }
      try say(line)
    }
    try remember(lines, setup, context)
    if !broken.isEmpty {
      // Repair damage only in the intended store.
      try await FormatMarker.check(
        context.store, isUsed: UsedStores.load(setup.home).contains(context.store.location),
        create: false)
      if repair, dryRun {
        for session in broken where !json { Console.say("would send \(session) again") }
      } else if repair {
        broken = try await self.repair(broken, setup, context)
      }
    }
    if deep, readsAll {
      let whole = entries.count { $0.remote?.seal != nil && !broken.contains($0.session) }
      try ReadBack(at: .now(), whole: whole, of: sealed).save(in: setup.home)
    }
    guard !broken.isEmpty else { return }
    let isRepairable = entries.contains { broken.contains($0.session) && $0.location != .remote }
    let advice =
      repair || !isRepairable
      ? "" : "; 'tidemark verify --repair' sends what the local logs still have"
    Console.complain(
      "\(broken.count) of \(Plural.text(entries.count, "session")) failed\(advice)")
    throw ExitStatus.integrity
  }

  /// Records for 'tidemark status' what is wrong with this device's sessions.
  private func remember(
    _ lines: [Line], _ setup: CommandContext, _ context: SyncContext
  ) throws {
    var damaged = DamagedCopies(setup.home, store: context.store.location, at: .now())
    let results = lines.map { line in
      DamagedCopies.Result(
        line.session, problem: line.result == .failed ? line.problem ?? "damaged" : nil)
    }
    try damaged.record(results, keptFor: setup.settings.retention.remote, at: .now())
  }

  private func entries(
    _ setup: CommandContext, _ context: SyncContext
  ) async throws -> [SessionCatalog.Entry] {
    var catalog = SessionCatalog(try setup.reading(with: context))
    catalog.includesUndescribed = true
    guard sessions.ids.isEmpty else {
      return try await self.entries(matching: sessions.ids, setup, context)
    }
    let selected = try await sessions.choice.newest(
      in: catalog, setup, owner, since: span.since, until: span.until, needsStore: true,
      includesRejected: true)
    let verifier = Verifier(context)
    return try selected.entries.filter {
      try $0.remote != nil || $0.sidecar.seal?.store == context.store.location
        || verifier.hasSent($0.session)
    }
  }

  private func entries(
    matching ids: [String], _ setup: CommandContext, _ context: SyncContext
  ) async throws -> [SessionCatalog.Entry] {
    var catalog = SessionCatalog(try setup.reading(with: context))
    catalog.includesUndescribed = true
    let devices = try await DeviceRecord.ids(in: context.store, first: setup.device.deviceId)
    return try await catalog.context.explaining {
      try await catalog.entries(matching: ids, devices: devices)
    }
  }

  private func verify(
    _ entry: SessionCatalog.Entry, _ context: SyncContext
  ) async throws -> Line {
    guard let remote = entry.remote else {
      if entry.isReaped { return Line(session: entry.session, result: .reaped) }
      return Line(
        session: entry.session, result: .failed, problem: "nothing of it is in the store")
    }
    let finding = try await Verifier(context).verify(remote, deeply: deep)
    return Line(
      session: entry.session,
      result: finding.problem != nil ? .failed : finding.isLogWithheld ? .withheld : .ok,
      bytes: finding.bytes, comparedLocally: finding.comparedLocally,
      lostLocally: finding.lostLocally > 0 ? finding.lostLocally : nil, problem: finding.problem)
  }

  private func say(_ line: Line) throws {
    guard !json else { return Console.say(try Console.json(line)) }
    Console.say(Self.text(line))
  }

  static func text(_ line: Line) -> ReportLine {
    let bytes = line.bytes ?? 0
    var how = line.comparedLocally == true ? "equals the local log" : "whole"
    if let lost = line.lostLocally {
      how += "; the local log lost its last \(lost.text), which the store has"
    }
    let text =
      switch line.result {
      case .failed: "FAILED  \(line.problem ?? "")"
      case .reaped: "reaped  remote copy deleted by retention or 'tidemark delete'"
      case .ok: "ok  \(bytes.text), \(how)"
      case .repaired: "repaired  \(bytes.text), \(how)"
      case .withheld where bytes == 0: "ok  log not sent (consent: metadata)"
      case .withheld: "ok  \(bytes.text), \(how); log sent only so far (consent: metadata)"
      }
    return ReportLine("\(line.session)  \(text)", line.result == .failed ? .red : nil)
  }

  /// Sends sessions again, and verifies those that could be.
  ///
  /// - Returns: those in which something is still wrong.
  private func repair(
    _ broken: [SessionID], _ setup: CommandContext, _ context: SyncContext
  ) async throws -> [SessionID] {
    let lock = try setup.requireLock()
    var left: Set<SessionID> = []
    let report = try await Repair(context).run(broken, holding: lock) { session, reason in
      Console.complain("\(session): \(reason)")
      left.insert(session)
    }
    for failure in report.failures { Console.complain("\(failure.session): \(failure.error)") }
    if let error = report.stoppedBy { throw error }
    let sent = broken.filter { !left.contains($0) }
    guard !sent.isEmpty else { return broken }
    Console.remark("sent \(Plural.text(report.objects, "object")) again")
    var lines: [Line] = []
    for entry in try await entries(matching: sent.map(\.description), setup, context) {
      var line = try await verify(entry, context)
      if line.result == .failed { left.insert(entry.session) }
      if line.result == .ok { line.result = .repaired }
      lines.append(line)
      try say(line)
    }
    try remember(lines, setup, context)
    return broken.filter(left.contains)
  }
}
