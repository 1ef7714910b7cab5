import ArgumentParser
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync

/// `tidemark list`.
struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List sessions, newest first, local and remote side by side.",
    discussion: """
      On a terminal the table is fitted to its width: ids take their short form, and columns that do \
      not fit are omitted, with a note. Marks: ● running, ! failed, ✖ crashed. UPLOADED is 'reaped' \
      where retention, or a person, has deleted the remote copy, 'missing' where the store no longer \
      has what was sent, 'no seal' where it lacks the proof that all is there ('tidemark verify'), 'incomplete' where it lacks earlier \
      versions of a rewritten file that the seal names, or what the newest one copies from, and 'other store' where it was sent to another one than is configured. \
      A session is '? UNKNOWN' where its remote sidecar is damaged, missing or not its device's: exit code 65.

      Columns: session, start, duration, status, size, uploaded, app, where, user, device, note.

      With --json one object a line: session, status, cause, running, deviceId, device (its name), \
      user, app, startedAt, endedAt, durationSeconds, fileSizeBytes, uploadedBytes, location (local, \
      remote or both), remoteReapedAt, remoteMissing, sealMissing, incomplete, rejected, otherStore, keptUntil, former where a file was \
      rewritten after it was sent (generation, length, until: see 'tidemark show --generation'), and consent where it is \
      metadata: the log was not sent, or not beyond uploadedBytes; with --tree also path (user, else \
      device id; device id; session id). For older scripts also sessionId, deviceName, userId, appName.

      --summary reads the store's copies, with --all-devices those of all devices: the folders of the last \
      two weeks, and the sidecars of sessions that are open or of the last day. With --json one object a \
      device: deviceId, device (its name), lastSeen, openSessions, waitingBytes (as the sidecars say), crashes \
      and errors (of 24 hours), app and version (of the newest session), and rejected: the ids of sessions \
      whose sidecars are damaged, missing or not the device's; with these the exit code is 65.

      Examples:
        tidemark list --all-devices --summary
        tidemark list --tree --lines 3
        tidemark list --failed --since yesterday
        tidemark list --sort size -n 10 --columns session,size,app
      """)

  @OptionGroup var choice: ChoiceOptions
  @OptionGroup var span: SpanOptions
  @OptionGroup var side: SideOptions
  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("How many sessions; otherwise 50, or all that are chosen.", valueName: "n"),
    transform: ArgumentValue.count(0...Int.max))
  var number: Int?
  @Flag(help: "All sessions, not the newest 50.")
  var all = false
  @Option(
    help: ArgumentHelp(
      "The column to sort by.", valueName: "column"),
    completion: .list(SortKey.allCases.map(\.rawValue)))
  var sort = SortKey.start
  @Flag(help: "Reverse the order.")
  var reverse = false
  @Option(
    help: ArgumentHelp("The columns to show, in their order.", valueName: "names"),
    completion: .list(ListColumn.allCases.map(\.rawValue)), transform: Self.columns)
  var columns: [ListColumn]?
  @Flag(help: "Devices instead: last seen, bytes waiting, crashes and errors in 24 hours.")
  var summary = false
  @Flag(help: "Sessions below their devices, and these below their users.")
  var tree = false
  @Option(
    help: ArgumentHelp("With --tree, print the last N lines of each session.", valueName: "n"),
    transform: ArgumentValue.count(0...1000))
  var lines: Int?
  @OptionGroup var zone: ZoneOptions
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  enum SortKey: String, CaseIterable, ExpressibleByArgument {
    case start, duration, size, status, app, user, device
  }

  private static let columns: @Sendable (String) throws -> [ListColumn] = { text in
    try text.split(separator: ",").map { name in
      let word = name.filter { $0 != " " }.lowercased()
      guard let column = ListColumn(rawValue: word) else {
        let known = ListColumn.allCases.map(\.rawValue).joined(separator: ",")
        throw ValidationError("valid columns: \(known)")
      }
      return column
    }
  }

  func validate() throws {
    if summary && tree { throw ValidationError("--summary and --tree exclude each other.") }
    if lines != nil, !tree { throw ValidationError("--lines is for --tree.") }
  }

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger(), isNeeded: false)
    if summary { return try await showDevices(setup) }
    let chosen = choice.isChoosing || span.isChoosing || owner.user != nil
    let limit = number ?? (all || chosen ? Int.max : 50)
    let selected = try await choice.newest(
      in: side.catalog(setup), setup, owner, since: span.since, until: span.until,
      limit: sort == .start && !reverse ? limit : .max, includesLocal: !side.remote,
      includesRejected: true)
    let now = Timestamp.now()
    let entries = Array(sorted(selected.entries, now).prefix(limit))
    var view = ListColumn.View(now: now, zone: zone.zone)
    view.store = selected.catalog.context.store?.location
    view.keptUntil = try Self.holds(setup)
    if tree, !entries.isEmpty {
      try await showTree(entries, in: selected.catalog, view)
    } else if json {
      for entry in entries { Console.say(try Console.json(Line(entry, view))) }
    } else if entries.isEmpty {
      Console.remark(
        chosen
          ? "no matching sessions; see 'tidemark list'"
          : "no sessions; 'tidemark run -- PROGRAM' records one")
    } else {
      Console.show(Self.table(entries, columns, view), choosesColumns: true)
      if number == nil, entries.count == limit {
        Console.remark("the newest \(limit); --all shows all")
      }
    }
    try selected.throwStoreError()
    try Self.throwRejected(entries.filter(\.isRejected).map(\.session))
  }

  /// Ends a listing of sessions whose sidecars cannot be believed: names them, also where the output
  /// does not.
  static func throwRejected(_ sessions: [SessionID]) throws {
    guard !sessions.isEmpty else { return }
    for session in sessions {
      Console.complain(
        "\(session): its sidecar is damaged, missing or not its device's; "
          + "'tidemark verify \(session)' says more")
    }
    throw ExitStatus.integrity
  }

  private func sorted(
    _ entries: [SessionCatalog.Entry], _ now: Timestamp
  ) -> [SessionCatalog.Entry] {
    func by<Value: Comparable>(
      _ value: (SessionCatalog.Entry) -> Value, _ isBefore: (Value, Value) -> Bool
    ) -> [SessionCatalog.Entry] {
      // Equal sessions stay in the order of their start.
      let ordered = entries.enumerated().sorted { left, right in
        let (a, b) = (value(left.element), value(right.element))
        return a == b ? left.offset < right.offset : isBefore(a, b)
      }
      return ordered.map(\.element)
    }
    let sorted =
      switch sort {
      case .start: entries
      case .duration: by({ ListColumn.duration($0, now: now) }, >)
      case .size: by(\.length, >)
      case .status: by(\.sidecar.status.rawValue, <)
      case .app: by(\.sidecar.appName, <)
      case .user: by(\.sidecar.userId, <)
      case .device: by(\.sidecar.deviceName, <)
      }
    return reverse ? sorted.reversed() : sorted
  }

  /// The ends of holds on sessions, in this home and in the store.
  private static func holds(
    _ setup: CommandContext
  ) throws -> (SessionCatalog.Entry) -> Timestamp? {
    guard setup.hasHome else { return { _ in nil } }
    let (holds, time) = (Holds(setup.home), try setup.lived(nil).time)
    // A hold lasts days; a clock that is wrong by as much is mended first.
    let now = Timestamp.now().assumingSynchronizedClocks
    return { entry in
      let here = (try? holds.hold(on: entry.session)).flatMap { hold in
        hold.rest(at: time) == nil ? nil : hold.until
      }
      let there = entry.remote?.holds.filter { $0.holds(at: now) }
        .compactMap { Timestamp(iso: $0.day + "T00:00:00Z") }
      return ([here] + (there ?? [])).compactMap(\.self).max()
    }
  }

  /// The table of sessions; unless columns are named, with all columns except an empty note column.
  static func table(
    _ entries: [SessionCatalog.Entry], _ columns: [ListColumn]?, _ view: ListColumn.View
  ) -> Table {
    let usual = ListColumn.allCases.filter { column in
      column != .note || entries.contains { !column.cell($0, view).text.isEmpty }
    }
    let shown = columns ?? usual
    var table = Table(shown.map(\.column))
    for entry in entries { table.add(shown.map { $0.cell(entry, view) }) }
    return table
  }

  struct Line: Encodable {
    let session: SessionID
    let device: String
    let app: String
    let user: String
    // The same under former names, for scripts.
    let sessionId: SessionID
    let deviceName: String
    let appName: String
    let userId: String
    let status: SessionStatus
    let cause: ExitCause?
    let running: Bool
    let deviceId: String
    let startedAt: Timestamp
    let endedAt: Timestamp?
    let durationSeconds: Int64
    let fileSizeBytes: ByteCount
    let uploadedBytes: ByteCount
    let location: SessionCatalog.Location
    let remoteReapedAt: Timestamp?
    let remoteMissing: Bool?
    let sealMissing: Bool?
    let incomplete: Bool?
    let rejected: Bool?
    let otherStore: String?
    let keptUntil: Timestamp?
    let consent: Consent?
    let former: [Sidecar.FormerStream]?
    /// With `--tree`: user, else device id; device id; session.
    var path: [String]?

    init(_ entry: SessionCatalog.Entry, _ view: ListColumn.View) {
      session = entry.session
      (device, app) = (entry.sidecar.deviceName, entry.sidecar.appName)
      user = entry.sidecar.userId
      sessionId = entry.session
      status = entry.sidecar.status
      cause = entry.sidecar.cause
      running = entry.isRunning
      deviceId = entry.sidecar.deviceId
      deviceName = entry.sidecar.deviceName
      userId = entry.sidecar.userId
      appName = entry.sidecar.appName
      startedAt = entry.sidecar.startedAt
      endedAt = entry.sidecar.endedAt
      durationSeconds = ListColumn.duration(entry, now: view.now).seconds
      fileSizeBytes = entry.length.byteCount
      let copy = entry.remoteCopy(in: view.store)
      uploadedBytes =
        [.asUploaded, .unsealed, .incomplete].contains(copy) ? entry.uploaded.byteCount : 0
      remoteMissing = copy == .missing ? true : nil
      sealMissing = copy == .unsealed ? true : nil
      incomplete = copy == .incomplete ? true : nil
      rejected = entry.isRejected ? true : nil
      if case .elsewhere(let store) = copy { otherStore = store } else { otherStore = nil }
      keptUntil = view.keptUntil(entry)
      location = entry.location
      remoteReapedAt = entry.isReaped ? entry.sidecar.remoteReapedAt : nil
      consent = entry.sidecar.consent
      former = entry.sidecar.former
    }
  }
}
