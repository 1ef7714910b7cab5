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
      there, both are compared byte for byte. That a log was not sent (consent: metadata) is told and \
      is no fault. With --deep every object that a seal names is read whole and decoded, those too of \
      which only parts are needed; with --sample N that is done for some sessions chosen at random, \
      from cron say, and 'tidemark status' says how many were read back and when. Exit code 65 when \
      anything is wrong.
      """)

  @Argument(help: "The sessions; all of this device's by default.")
  var ids: [String] = []
  @Flag(help: "Send again, from the local log, what is missing or damaged.")
  var repair = false
  @Flag(help: "Read every object that seals name, and remember for 'status' that it was done.")
  var deep = false
  @Option(
    help: ArgumentHelp(
      "With --deep: only so many sealed sessions, chosen at random.", valueName: "n"))
  var sample: Int?
  @OptionGroup var devices: DeviceOptions
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if let sample, sample < 1 { throw ValidationError("--sample takes a number from 1 on.") }
    if sample != nil, !deep || !ids.isEmpty {
      throw ValidationError("--sample goes with --deep, and without sessions.")
    }
  }

  func run() async throws {
    let place = try owner.workplace(diagnostics.logger())
    let context = try place.context()
    let catalog = SessionCatalog(place.reading(with: context))
    var entries: [SessionCatalog.Entry] = []
    if ids.isEmpty {
      let own = place.device.deviceId
      entries = try await catalog.entries(devices: devices.ids(own: own, in: context.store))
        .filter(owner.includes)
        .filter { $0.remote != nil || $0.sidecar.seal?.store == context.store.location }
    } else {
      let devices = try await DeviceRecord.ids(in: context.store, first: place.device.deviceId)
      entries = try await catalog.entries(matching: ids, devices: devices)
    }
    let sealed = entries.count { $0.remote?.seal != nil }
    if let sample {
      entries = Array(entries.filter { $0.remote?.seal != nil }.shuffled().prefix(sample))
    }
    var broken: [SessionID] = []
    for (index, entry) in entries.enumerated() {
      if Console.errorIsTerminal && entries.count > 1 {
        Console.remark("\(index + 1)/\(entries.count) \(entry.session)")
      }
      guard let remote = entry.remote else {
        broken.append(entry.session)
        Console.say("\(entry.session)  FAILED  nothing of it is in the store")
        continue
      }
      let finding = try await Verifier(context).verify(remote, deeply: deep)
      if let problem = finding.problem {
        broken.append(entry.session)
        Console.say(Console.paint("\(entry.session)  FAILED  \(problem)", .red))
      } else {
        let how = finding.comparedLocally ? "equals the local log" : "whole"
        let ok = "\(entry.session)  ok  "
        let withheld = finding.isLogWithheld ? "; log sent only so far (consent: metadata)" : ""
        Console.say(
          finding.isLogWithheld && finding.bytes == 0
            ? ok + "log not sent (consent: metadata)"
            : ok + "\(finding.bytes) bytes, \(how)\(withheld)")
      }
    }
    if deep, ids.isEmpty {
      let whole = entries.count { $0.remote?.seal != nil && !broken.contains($0.session) }
      try ReadBack(at: .now(), whole: whole, of: sealed).save(in: place.home)
    }
    guard !broken.isEmpty else { return }
    if repair { try await self.repair(broken, place, context) }
    let advice = repair ? "" : "; 'tidemark verify --repair' sends what the local logs still have"
    Console.complain("\(broken.count) of \(entries.count) sessions failed\(advice)")
    throw ExitStatus.integrity
  }

  private func repair(
    _ broken: [SessionID], _ place: Workplace, _ context: SyncContext
  ) async throws {
    let lock = try place.requireLock()
    let report = try await Repair(context).run(broken, holding: lock) { session, reason in
      Console.complain("\(session): \(reason)")
    }
    for failure in report.failures { Console.complain("\(failure.session): \(failure.error)") }
    if let error = report.stoppedBy { throw error }
    Console.say("sent \(report.objects) objects again; run 'tidemark verify' to see the result")
  }
}
