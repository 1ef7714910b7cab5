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
      what failed is read again once it is sent, and a second line says how that went; bytes that are \
      lost on both sides are named. Exit code 65 if anything is wrong, remains wrong, or is lost; \
      'tidemark status' names such sessions until they are whole, or gone.

      With --json one object a line: session, result (ok, withheld, reaped, failed or repaired), bytes, \
      comparedLocally, lostLocally, waiting, problem, deviceId.

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

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger())
    let context = try setup.context()
    var entries = try await entries(setup, context)
    let sealed = entries.count { $0.remote?.seal != nil }
    if let sample {
      entries = Array(entries.filter { $0.remote?.seal != nil }.shuffled().prefix(sample))
    }
    let pass = VerificationPass(
      context, deeply: deep, retention: setup.settings.retention.remote)
    var broken = try await pass.run(entries.map(Self.candidate)) { index in
      if Console.errorIsTerminal && entries.count > 1 {
        Console.remark("\(index + 1)/\(entries.count) \(entries[index].session)")
      }
    } report: { finding in
      try say(finding)
    }
    if !broken.isEmpty {
      try await pass.expectUsedStore()
      if repair, dryRun {
        let here = Set(entries.filter { $0.location != .remote }.map(\.deviceSession))
        for one in broken where !json && here.contains(one) {
          Console.say("would send \(one.session) again")
        }
      } else if repair {
        broken = try await self.repair(broken, pass, setup, context)
      }
    }
    if deep, readsAll {
      let whole = entries.count { $0.remote?.seal != nil && !broken.contains($0.deviceSession) }
      try ReadBack(at: .now(), whole: whole, of: sealed).save(in: setup.home)
    }
    guard !broken.isEmpty else { return }
    let isRepairable = entries.contains {
      broken.contains($0.deviceSession) && $0.location != .remote
    }
    let advice =
      repair || !isRepairable
      ? "" : "; 'tidemark verify --repair' sends what the local logs still have"
    Console.complain(
      "\(broken.count) of \(Plural.text(entries.count, "session")) failed\(advice)")
    throw ExitStatus.integrity
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

  private static func candidate(_ entry: SessionCatalog.Entry) -> VerificationPass.Candidate {
    VerificationPass.Candidate(
      entry.session, of: entry.sidecar.deviceId, remote: entry.remote, isReaped: entry.isReaped)
  }

  private func say(_ finding: VerificationPass.Finding) throws {
    guard !json else { return Console.say(try Console.json(finding)) }
    Console.say(Self.text(finding))
  }

  static func text(_ finding: VerificationPass.Finding) -> ReportLine {
    let bytes = finding.bytes ?? 0
    var how = finding.comparedLocally == true ? "equals the local log" : "whole"
    if let lost = finding.lostLocally {
      how += "; the local log lost its last \(lost.text), which the store has"
    }
    if let waiting = finding.waiting { how += "; \(waiting.text) more wait for an upload" }
    let text =
      switch finding.result {
      case .failed: "FAILED  \(finding.problem ?? "")"
      case .reaped: "reaped  remote copy deleted by retention or 'tidemark delete'"
      case .ok: "ok  \(bytes.text), \(how)"
      case .repaired: "repaired  \(bytes.text), \(how)"
      case .withheld where bytes == 0: "ok  log not sent (consent: metadata)"
      case .withheld: "ok  \(bytes.text), \(how); log sent only so far (consent: metadata)"
      }
    let name =
      finding.deviceId.map { DeviceSession(device: $0, session: finding.session).name }
      ?? "\(finding.session)"
    return ReportLine("\(name)  \(text)", finding.result == .failed ? .red : nil)
  }

  /// Sends sessions again, and verifies those that could be.
  ///
  /// - Returns: those in which something is still wrong.
  private func repair(
    _ broken: [DeviceSession], _ pass: VerificationPass, _ setup: CommandContext,
    _ context: SyncContext
  ) async throws -> [DeviceSession] {
    try await pass.repair(broken, holding: setup.requireLock()) { sessions in
      try await entries(matching: sessions.map(\.description), setup, context)
        .map(Self.candidate)
    } refused: { session, reason in
      Console.complain("\(session): \(reason)")
    } sent: { report in
      Console.remark("sent \(Plural.text(report.objects, "object")) again")
    } report: { finding in
      try say(finding)
    }
  }
}
