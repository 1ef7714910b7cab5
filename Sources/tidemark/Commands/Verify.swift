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
      is no fault. Exit code 65 when anything is wrong.
      """)

  @Argument(help: "The sessions; all of this device's by default.")
  var ids: [String] = []
  @Flag(help: "Send again, from the local log, what is missing or damaged.")
  var repair = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func run() async throws {
    let place = try owner.workplace(diagnostics.logger())
    let context = try place.context()
    let catalog = SessionCatalog(place.reading(with: context))
    var entries: [SessionCatalog.Entry] = []
    if ids.isEmpty {
      entries = try await catalog.entries(devices: [place.device.deviceId])
        .filter(owner.includes)
        .filter { $0.remote != nil || $0.sidecar.seal?.store == context.store.location }
    } else {
      let devices = try await DeviceRecord.ids(in: context.store, first: place.device.deviceId)
      entries = try await catalog.entries(matching: ids, devices: devices)
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
      let finding = try await Verifier(context).verify(remote)
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
