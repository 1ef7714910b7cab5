import ArgumentParser
import ObjectStore
import Platform
import Redaction
import SessionLog
import SessionReading

/// Options that select sessions when none is named.
struct ChoiceOptions: ParsableArguments {
  @OptionGroup var devices: DeviceOptions
  @Option(help: ArgumentHelp("Only sessions of this program.", valueName: "name"))
  var app: String?
  @Flag(help: "Only sessions that crashed or exited with a status other than 0.")
  var failed = false

  /// Whether any option selects sessions.
  var isChoosing: Bool { devices.isElsewhere || isNarrowing }

  /// Whether an option other than those for devices selects sessions.
  var isNarrowing: Bool { app != nil || failed }

  /// Whether a session is selected, regardless of its device.
  func includes(_ entry: SessionCatalog.Entry) -> Bool {
    (app == nil || entry.sidecar.appName == app) && (!failed || entry.sidecar.hasFailed)
  }

  /// Whether a session is selected for reading.
  ///
  /// One whose revision cannot be believed may be any, and reading it says so. Nothing must be deleted
  /// by this choice.
  func mayInclude(_ entry: SessionCatalog.Entry) -> Bool { entry.isRejected || includes(entry) }
}

/// Options that select several sessions.
struct SelectionOptions: ParsableArguments {
  @Argument(
    help: "The sessions, as 'tidemark list' shows them; ids may be shortened.",
    completion: .custom(SessionCompletion.ids))
  var ids: [String] = []
  @OptionGroup var choice: ChoiceOptions

  func validate() throws {
    if !ids.isEmpty, choice.isChoosing {
      throw ValidationError("Use either session ids or selection options, not both.")
    }
  }

  /// Whether sessions are selected other than by ids.
  var isChoosing: Bool { choice.isChoosing }

  /// The sessions: in the order of the given ids, else oldest first.
  ///
  /// - Parameters:
  ///   - setup: the home and its settings.
  ///   - side: which copies count.
  ///   - owner: whose sessions.
  ///   - since: excludes sessions that have not grown since then.
  ///   - until: excludes sessions that began later.
  ///   - limit: maximum number, newest first.
  ///   - redactor: masks local logs; nil to read them as they are.
  ///   - asksStore: whether to query the store even for named sessions that are complete on this
  ///     machine.
  func entries(
    _ setup: CommandContext, _ side: SideOptions, _ owner: UserOptions,
    since: Timestamp? = nil, until: Timestamp? = nil, limit: Int = .max,
    redactor: Redactor? = nil, asksStore: Bool = false
  ) async throws -> SelectedSessions {
    let catalog = try side.catalog(setup, redactor)
    guard ids.isEmpty else {
      let entries =
        asksStore
        ? try await catalog.context.explaining {
          try await catalog.entries(matching: ids, devices: catalog.devices(for: ids))
        }
        : try await side.entries(named: ids, in: catalog)
      return SelectedSessions(entries: entries, catalog: catalog)
    }
    var selected = try await choice.newest(
      in: catalog, setup, owner, since: since, until: until, limit: limit,
      includesLocal: !side.remote, includesRejected: true)
    selected.entries.reverse()
    return selected
  }
}

/// The sessions that a command works on.
struct SelectedSessions {
  var entries: [SessionCatalog.Entry]
  /// The catalog they are from.
  let catalog: SessionCatalog
  /// Sessions in the store without a sidecar, which are not among them.
  var passedOver: Set<SessionID> = []
  /// Why the store's sessions are missing; nil if they are not, or were not requested.
  var storeError: StoreError?

  /// Ends a command that was carried out without the store: what only that has is missing.
  func throwStoreError() throws {
    if let storeError { throw ExitStatus(storeError) }
  }
}

extension ChoiceOptions {
  /// The newest sessions that the options select, newest first.
  ///
  /// - Parameters:
  ///   - catalog: the catalog to search.
  ///   - setup: the home and its settings.
  ///   - owner: whose sessions.
  ///   - since: excludes sessions that have not grown since then.
  ///   - until: excludes sessions that began later.
  ///   - limit: maximum number.
  ///   - includesLocal: whether local sessions count; if so, a store that fails is reported, and
  ///     they remain.
  ///   - includesRejected: whether sessions whose revision cannot be believed are selected, whatever
  ///     it says.
  func newest(
    in catalog: SessionCatalog, _ setup: CommandContext, _ owner: UserOptions,
    since: Timestamp? = nil, until: Timestamp? = nil, limit: Int = .max, includesLocal: Bool = true,
    needsStore: Bool = false, includesRejected: Bool = false
  ) async throws -> SelectedSessions {
    func chosen(_ entries: [SessionCatalog.Entry]) -> [SessionCatalog.Entry] {
      Array(
        entries.filter { owner.includes($0) && (includesRejected ? mayInclude($0) : includes($0)) }
          .filter { entry in until.map { entry.sidecar.startedAt <= $0 } ?? true }
          .prefix(limit))
    }
    // Sessions excluded later must not count towards the limit.
    let most = app != nil || failed || until != nil || owner.user != nil ? Int.max : limit
    do {
      let devices = try await devices.ids(own: setup.device, in: catalog.context.store)
      let isOwn = devices.contains(setup.device.deviceId)
      let found = try await catalog.search(
        limit: most, devices: devices, includesLocal: isOwn && includesLocal, activeSince: since)
      return SelectedSessions(
        entries: chosen(found.entries), catalog: catalog, passedOver: found.passedOver)
    } catch let error as StoreError
      where error.code != .cancelled && includesLocal && !needsStore && !devices.isElsewhere
    {
      Console.complain("local sessions only: \(error)")
      let local = SessionCatalog(catalog.context.withoutStore)
      let entries = try await local.entries(limit: most, devices: [], activeSince: since)
      return SelectedSessions(entries: chosen(entries), catalog: local, storeError: error)
    }
  }
}
