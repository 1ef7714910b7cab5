import ArgumentParser
import Logging
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync

/// `tidemark pull DIR`.
struct Pull: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pull",
    abstract: "Mirror sessions of the store into a folder, as plain .log and .json files.",
    discussion: """
      Files go to DIR/<device>/<day>/<session>. What is there already is not fetched again: an \
      append costs its suffix, an unchanged session nothing. Nothing is ever deleted there, and no \
      log replaced by a shorter one: where the store shows less than the mirror has, the mirror is \
      kept, and that is told as a failure. A shorter log that a seal proves takes its place, and the \
      longer one becomes <session>.g<generation>.log. Of a session whose log was not sent (consent: \
      metadata) there is the .json alone. What would fill the disk is not fetched. Of a damaged \
      session nothing is mirrored that is not proven; with --salvage what can be read of it goes to \
      <session>.salvaged.log, a [GAP …] line where bytes are lost. With --json: sessions, \
      logBytes, failures, withoutLog.
      """)

  @Argument(help: "The folder.")
  var folder: String
  @Argument(help: "Only these sessions.")
  var ids: [String] = []
  @OptionGroup var devices: DeviceOptions
  @Flag(help: "Also link attached files' logs below their original paths, DIR/<device>/names/.")
  var names = false
  @Flag(help: "Read what can be read of damaged sessions, too.")
  var salvage = false
  @Flag(help: "Only say what would be fetched.")
  var dryRun = false
  @Option(help: "Sessions fetched at once, 1 to 64; otherwise 12.")
  var transfers: Int?
  @Flag(help: "A summary as a JSON object.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if let transfers, !(1...64).contains(transfers) {
      throw ValidationError("--transfers takes a number from 1 to 64.")
    }
  }

  func run() async throws {
    let place = try Workplace(logger: diagnostics.logger())
    let context = try place.context(transfers: transfers)
    let puller = Puller(context.store, into: folder, linksNames: names)
    let wanted = try ids.map(ShortenedID.init)
    let items = try await puller.plan(
      devices: try await devices.ids(own: place.device.deviceId, in: context.store)
    ) { id in wanted.isEmpty || wanted.contains { $0.matches(id) } }
    place.logger.info("plan: \(items.count) sessions to fetch")
    for item in items {
      place.logger.info(
        "\(item.remote.session): \(item.refusal ?? "fetch \(item.missing) B of log")")
    }
    if dryRun {
      for item in items {
        Console.say(
          item.refusal ?? "\(item.remote.session)  \(item.missing.text)")
      }
      return
    }
    let (failures, withheld) = await fetch(items, puller, atOnce: context.transfers)
    let done = items.filter { failures[$0.remote.session] == nil }
    let bytes = done.reduce(0) { $0 + $1.missing }
    for (session, error) in failures.sorted(by: { $0.key < $1.key }) {
      Console.complain("\(session): \(error)")
    }
    if salvage {
      for item in items where failures[item.remote.session] is ReplicaError {
        try await salvage(item.remote, puller)
      }
    }
    for item in withheld {
      let sent = item.length == 0 ? "not sent" : "sent only up to byte \(item.length)"
      Console.complain("\(item.remote.session): log \(sent) (consent: metadata)")
    }
    if json {
      let summary = Summary(
        sessions: done.count, logBytes: bytes,
        failures: Dictionary(
          uniqueKeysWithValues: failures.map { ($0.key.description, "\($0.value)") }),
        withoutLog: withheld.filter { $0.length == 0 }.map(\.remote.session))
      Console.say(try Console.json(summary))
    } else if Console.outputIsTerminal {
      Console.say("fetched \(bytes.text) of log in \(done.count) sessions to \(folder)")
    }
    if !failures.isEmpty { throw ExitStatus.partial }
  }

  private func salvage(_ remote: RemoteSession, _ puller: Puller) async throws {
    let path = try await puller.salvage(remote) { Console.complain("\(remote.session): \($0)") }
    Console.complain("\(remote.session): what can be read is in \(path)")
  }

  private struct Summary: Encodable {
    let sessions: Int
    let logBytes: ByteCount
    let failures: [String: String]
    let withoutLog: [SessionID]
  }

  private func fetch(
    _ items: [Puller.Item], _ puller: Puller, atOnce limit: Int
  ) async -> (failures: [SessionID: any Error], withheld: [Puller.Item]) {
    let progress = ProgressBar(total: items.reduce(0) { $0 + $1.missing })
    defer { progress.finish() }
    var withheld: Set<SessionID> = []
    let failures = await puller.execute(
      items, atOnce: limit, withheld: { withheld.insert($0) },
      kept: { Console.complain("\($0): the longer log that the mirror had is kept as \($1)") },
      report: { progress.add($0) })
    return (failures, items.filter { withheld.contains($0.remote.session) })
  }
}
