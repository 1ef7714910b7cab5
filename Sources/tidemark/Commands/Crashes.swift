import ArgumentParser
import Fleet
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading

/// `tidemark crashes`.
struct Crashes: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crashes",
    abstract: "List crashes grouped by kind, most frequent first.",
    discussion: """
      Crashes are of one kind when program, cause and last lines are the same, numbers, ids, addresses, \
      times and temporary paths aside. Without --device those of all devices in the store are listed, \
      and those of this machine that were not sent yet. VERSION is the program's in the first one, and \
      in the last one; SESSION is the last one, for 'tidemark show'; MESSAGE is a line that they have \
      in common: the last ERROR or FAULT, else the last line. Sessions whose sidecar is damaged, missing \
      or not their device's are named, not counted: exit code 65.

      With --json one object a kind: app, cause, signature (id, title), count, devices, first, last, \
      firstVersion, lastVersion, session (of the last one), lines (its lines that count, up to 5, \
      redacted as they are stored).

      Examples:
        tidemark crashes --since yesterday
        tidemark crashes --failed --device build-server
      """)

  @OptionGroup var devices: DeviceOptions
  @Option(help: ArgumentHelp("Only crashes of this program.", valueName: "name"))
  var app: String?
  @Flag(
    name: [.long, .customLong("exit-failed")],
    help: "Also programs that exited with a status other than 0.")
  var failed = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only crashes since then: today, 2h; otherwise 7d.", valueName: "time"),
    transform: ArgumentValue.since)
  var since: Timestamp?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Only crashes until then.", valueName: "time"),
    transform: ArgumentValue.until)
  var until: Timestamp?
  @OptionGroup var side: SideOptions
  @OptionGroup var zone: ZoneOptions
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws { try ArgumentValue.expectOrder(since: since, until: until) }

  func run() async throws {
    let setup = try CommandContext(isNeeded: false, logger: diagnostics.logger())
    let catalog = try side.catalog(setup)
    let start = since ?? Timestamp.now() - .days(7)
    var crashes: [CrashReport] = []
    var storeError: StoreError?
    var problems: [String] = []
    do {
      crashes = try await remote(catalog, since: start) { problems.append($0) }
    } catch let error as StoreError
      where error.code != .cancelled && !side.remote && !devices.isElsewhere
    {
      Console.complain("local crashes only: \(error)")
      storeError = error
    }
    if !side.remote, devices.device == nil {
      crashes += try await local(catalog, since: start, besides: crashes)
    }
    let groups = CrashGroup.groups(of: crashes.filter(includes))
    if json {
      for group in groups { Console.say(try Console.json(group)) }
    } else if groups.isEmpty {
      Console.remark("no crashes since \(zone.zone.textWithOffset(start))")
    } else {
      Console.show(Self.table(groups, zone.zone))
    }
    for problem in problems { Console.complain(problem) }
    if let storeError { throw ExitStatus(storeError) }
    if !problems.isEmpty { throw ExitStatus.integrity }
  }

  private func includes(_ crash: CrashReport) -> Bool {
    (app == nil || crash.subject.app == app) && (until.map { crash.endedAt <= $0 } ?? true)
  }

  /// Crashes in the store, of all devices unless one is named.
  private func remote(
    _ catalog: SessionCatalog, since start: Timestamp, report: (String) -> Void
  ) async throws -> [CrashReport] {
    guard let store = catalog.context.store else { return [] }
    var all = devices
    all.allDevices = devices.device == nil
    let ids = try await all.ids(own: catalog.context.device, in: store)
    return try await CrashSearch(
      store, knowing: catalog.context.keys, since: start, at: .now(), includesFailures: failed
    )
    .crashes(of: ids, report: report)
  }

  /// Crashes on this machine that are not in the store yet.
  private func local(
    _ catalog: SessionCatalog, since start: Timestamp, besides known: [CrashReport]
  ) async throws -> [CrashReport] {
    // Another device's session with the same id is another one.
    let names = Set(
      known.compactMap { crash in
        crash.subject.session.map { "\(crash.subject.device)/\($0)" }
      })
    let own = catalog.context.device.ids
    let local = SessionCatalog(catalog.context.withoutStore)
    return try await local.entries(devices: [], activeSince: start).compactMap { entry in
      var sidecar = entry.sidecar
      // Unsent sessions have no verdict yet.
      if sidecar.status == .active,
        let verdict = try LocalSession(catalog.context.home, entry.session).verdict(
          sidecar, machine: catalog.context.machine, now: .now(), modified: entry.lastActivity)
      {
        (sidecar.status, sidecar.cause, sidecar.endedAt) = (
          verdict.status, verdict.cause, verdict.endedAt
        )
      }
      let counts = sidecar.status == .crashed || (failed && sidecar.hasFailed)
      let isSent = (own + [sidecar.deviceId]).contains { names.contains("\($0)/\(entry.session)") }
      guard counts, !isSent else { return nil }
      if sidecar.crash?.lines == nil {
        let lines = try? local.openLog(entry).lastLines(upTo: entry.length)
        sidecar.crash = Sidecar.Crash(core: sidecar.crash?.core, lines: lines)
      }
      let crash = CrashReport(sidecar)
      return crash.endedAt >= start ? crash : nil
    }
  }

  /// The table of groups.
  static func table(_ groups: [CrashGroup], _ zone: LocalZone) -> Table {
    var table = Table([
      .init(name: "count", isRight: true), .init(name: "devices", isRight: true, rank: 3),
      .init(name: "app", least: 8), .init(name: "cause"), .init(name: "first", rank: 4),
      .init(name: "last", rank: 2), .init(name: "version", least: 6, rank: 5),
      .init(name: "session"), .init(name: "message", least: 16, rank: 1),
    ])
    for group in groups { table.add(cells(group, zone)) }
    return table
  }

  private static func cells(_ group: CrashGroup, _ zone: LocalZone) -> [Table.Cell] {
    func time(_ time: Timestamp) -> Table.Cell {
      .init(zone.text(time), short: String(zone.text(time).dropLast(3)))
    }
    var versions = [group.firstVersion, group.lastVersion].compactMap(\.self)
    if versions.first == versions.last { versions = Array(versions.prefix(1)) }
    return [
      .init(String(group.count)), .init(String(group.devices.count)), .init(group.app),
      .init(ExitCause(group.cause)?.shortText ?? group.cause, colour: .red), time(group.first),
      time(group.last), .init(versions.joined(separator: " to ")),
      .init(group.session, short: group.session.split(separator: "-").last.map(String.init)),
      .init(String(oneLine: group.signature.title)),
    ]
  }
}
