import ArgumentParser
import Foundation
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
      kept, and that is reported as a failure. A log with other bytes that a seal proves, such as a \
      redacted one, takes its place, and the former one becomes <session>.g<generation>.log; with \
      --redacted it is deleted, once the redacted one is sealed. Of a session whose log was not sent \
      (consent: metadata) there is the .json alone. What would fill the disk is not fetched. Of a \
      damaged session nothing is mirrored that is not proven; with --salvage what can be read of it \
      goes to <session>.salvaged.log, a [GAP …] line where bytes are lost.

      With --json one object: sessions, logBytes, failures, withoutLog; with --dry-run one a line: \
      session, logBytes, refusal.

      Examples:
        tidemark pull mirror --all-devices
        tidemark pull crashes --failed --since 7d
      """)

  @Argument(help: "The folder.", completion: .directory)
  var folder: String
  @OptionGroup var sessions: SelectionOptions
  @OptionGroup var span: SpanOptions
  @Flag(help: "Also link attached files' logs below their original paths, DIR/<device>/names/.")
  var names = false
  @Flag(help: "Delete the mirror's copies of logs that were redacted in the store since.")
  var redacted = false
  @Flag(help: "Read what can be read of damaged sessions, too.")
  var salvage = false
  @Option(
    help: ArgumentHelp(
      "Leave out larger logs: 10GB; by default those above 1 GiB and 250 times what is stored.",
      valueName: "size"),
    transform: ArgumentValue.size)
  var maxSize: ByteCount?
  @Flag(help: "Fetch nothing; print what would be fetched.")
  var dryRun = false
  @Option(
    help: ArgumentHelp("Sessions fetched at once, 1 to 64; otherwise 12.", valueName: "n"),
    transform: ArgumentValue.count(1...64))
  var transfers: Int?
  @Flag(help: "A summary as a JSON object.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  private struct Planned: Encodable {
    let session: SessionID
    let logBytes: ByteCount
    let refusal: String?
  }

  func run() async throws {
    let setup = try CommandContext(logger: diagnostics.logger())
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), !isFolder.boolValue {
      throw Failure(.usage, "\(String(oneLine: folder)) is a file; name a folder")
    }
    let context = try setup.context(transfers: transfers)
    let reading = try setup.reading(with: context)
    let store = reading.store ?? context.store
    var puller = Puller(store, into: folder, linksNames: names, knowing: context.keys)
    puller.limit = UnpackLimit(maximum: maxSize)
    puller.replacesFormer = redacted
    let lock = try dryRun ? nil : self.lock(puller)
    defer { withExtendedLifetime(lock) {} }
    var catalog = SessionCatalog(reading)
    catalog.includesUndescribed = true
    let items = try await plan(puller, catalog, store)
    setup.logger.info("plan: \(Plural.text(items.count, "session")) to fetch")
    for item in items {
      setup.logger.info(
        "\(item.remote.session): \(item.refusal ?? "fetch \(item.missing) B of log")")
    }
    if dryRun {
      for item in items {
        let planned = Planned(
          session: item.remote.session, logBytes: item.refusal == nil ? item.missing : 0,
          refusal: item.refusal)
        Console.say(
          json
            ? try Console.json(planned)
            : "\(item.remote.session)  \(item.refusal ?? item.missing.text)")
      }
      return
    }
    let (failures, withheld, contradicted) = await fetch(
      items, puller, atOnce: context.transfers)
    let done = items.filter { failures[$0.remote.deviceSession] == nil }
    // A session id is enough unless several devices have it.
    let isShared = Dictionary(grouping: items, by: \.remote.session).mapValues { $0.count > 1 }
    func name(_ one: DeviceSession) -> String {
      isShared[one.session] == true ? one.name : one.session.description
    }
    let bytes = done.reduce(0) { $0 + $1.missing }
    for (session, error) in failures.map({ (name($0.key), $0.value) }).sorted(by: { $0.0 < $1.0 }) {
      Console.complain("\(session): \(error)")
    }
    if salvage {
      for item in items where failures[item.remote.deviceSession] is ReplicaError {
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
          uniqueKeysWithValues: failures.map { (name($0.key), "\($0.value)") }
        ).merging(contradicted.map { (name($0.key), $0.value) }) { first, _ in first },
        withoutLog: withheld.filter { $0.length == 0 }.map(\.remote.session))
      Console.say(try Console.json(summary))
    } else if Console.outputIsTerminal {
      Console.say(
        "fetched \(bytes.text) of log in \(Plural.text(done.count, "session")) to \(folder)")
    }
    let statuses = failures.values.map { ExitStatus($0) } + contradicted.map { _ in .integrity }
    let status = ExitStatus(of: statuses)
    if status != .ok { throw status }
  }

  private func lock(_ puller: Puller) throws -> FileLock {
    do {
      if let lock = try puller.lock() { return lock }
    } catch let error as SystemError {
      throw Failure(.partial, "\(error)")
    }
    throw Failure(
      .tryLater,
      "another pull is writing to \(String(oneLine: folder)); try again when it has ended")
  }

  /// Plans the fetching of the named or selected sessions.
  private func plan(
    _ puller: Puller, _ catalog: SessionCatalog, _ store: any ObjectStore
  ) async throws -> [Puller.Item] {
    let own = catalog.context.device
    guard !sessions.ids.isEmpty else {
      var devices = try await sessions.choice.devices.ids(own: own, in: store)
      if !sessions.choice.devices.isElsewhere {
        devices += try catalog.sealingDevices(besides: devices)
      }
      guard sessions.choice.app != nil || sessions.choice.failed || span.isChoosing else {
        return try await puller.plan(devices: devices)
      }
      let chosen = try await catalog.entries(
        devices: devices, includesLocal: false, activeSince: span.since
      )
      .filter { entry in
        sessions.choice.mayInclude(entry)
          && span.until.map { entry.sidecar.startedAt <= $0 } ?? true
      }
      let ids = Set(chosen.map(\.deviceSession))
      return try await puller.plan(devices: devices) { ids.contains($0) }
    }
    let wanted = try sessions.ids.map(ShortenedID.init)
    var found = wanted.map { _ in false }
    let items = try await puller.plan(
      devices: DeviceRecord.ids(in: store, first: own.deviceId)
    ) { one in
      for index in wanted.indices where wanted[index].means(one) { found[index] = true }
      return wanted.contains { $0.means(one) }
    }
    if let missing = found.firstIndex(of: false) {
      throw Failure(
        .usage,
        "no session '\(String(oneLine: sessions.ids[missing], limit: 80))' in the store; "
          + "'tidemark list --remote --all-devices --all' shows all")
    }
    return items
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
  ) async -> (
    failures: [DeviceSession: any Error], withheld: [Puller.Item],
    contradicted: [DeviceSession: String]
  ) {
    let progress = ProgressBar(total: items.reduce(0) { $0 + $1.missing })
    defer { progress.finish() }
    var withheld: Set<DeviceSession> = []
    var contradicted: [DeviceSession: String] = [:]
    let failures = await puller.execute(
      items, atOnce: limit, withheld: { withheld.insert($0) },
      kept: { session, former in
        var message = "the log that the mirror had is kept as \(former.path)"
        if !former.isOfOtherGeneration {
          message += ": the store's seal proves other bytes than it showed before"
          contradicted[session] = message
        }
        Console.complain("\(session.session): \(message)")
      },
      report: { progress.add($0) })
    return (failures, items.filter { withheld.contains($0.remote.deviceSession) }, contradicted)
  }
}
