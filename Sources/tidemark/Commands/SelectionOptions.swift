import ArgumentParser
import ObjectStore
import Platform
import Redaction
import SessionLog
import SessionReading

/// Which sessions are meant where none is named.
struct ChoiceOptions: ParsableArguments {
  @OptionGroup var devices: DeviceOptions
  @Option(help: ArgumentHelp("Only sessions of this program.", valueName: "name"))
  var app: String?
  @Flag(help: "Only sessions that crashed or exited with a status other than 0.")
  var failed = false

  /// Whether something says which sessions.
  var isChoosing: Bool { devices.isElsewhere || app != nil || failed }

  /// Whether a session is among them, of whatever device it is.
  func includes(_ entry: SessionCatalog.Entry) -> Bool {
    (app == nil || entry.sidecar.appName == app) && (!failed || entry.sidecar.hasFailed)
  }
}

/// Which sessions a command that takes several works with.
struct SelectionOptions: ParsableArguments {
  @Argument(
    help: "The sessions, as 'tidemark list' shows them; ids may be shortened.",
    completion: .custom(SessionCompletion.ids))
  var ids: [String] = []
  @OptionGroup var choice: ChoiceOptions

  func validate() throws {
    if !ids.isEmpty, choice.isChoosing {
      throw ValidationError("Sessions are named, or chosen by --device, --app and --failed.")
    }
  }

  /// Whether something but ids says which sessions.
  var isChoosing: Bool { choice.isChoosing }

  /// The sessions: in the order of their ids where these are given, else oldest first.
  ///
  /// - Parameters:
  ///   - place: the home.
  ///   - side: which copies count.
  ///   - owner: whose sessions.
  ///   - since: sessions that did not grow since then are left out.
  ///   - until: sessions that began later are left out.
  ///   - limit: the newest so many.
  ///   - redactor: masks what is read of local logs; nil for what they say.
  ///   - asksStore: whether the store is asked also for named sessions that are whole here.
  func entries(
    _ place: Workplace, _ side: SideOptions, _ owner: UserOptions,
    since: Timestamp? = nil, until: Timestamp? = nil, limit: Int = .max,
    redactor: Redactor? = nil, asksStore: Bool = false
  ) async throws -> SelectedSessions {
    let catalog = try side.catalog(place, redactor)
    guard ids.isEmpty else {
      let entries =
        asksStore
        ? try await catalog.entries(matching: ids, devices: catalog.devices(for: ids))
        : try await side.entries(named: ids, in: catalog)
      return SelectedSessions(entries: entries, catalog: catalog)
    }
    var selected = try await choice.newest(
      in: catalog, place, owner, since: since, until: until, limit: limit,
      includesLocal: !side.remote)
    selected.entries.reverse()
    return selected
  }
}

/// The sessions that a command works with.
struct SelectedSessions {
  var entries: [SessionCatalog.Entry]
  /// Where they were found.
  let catalog: SessionCatalog
  /// Why those of the store are not among them; nil when they are, or were not asked for.
  var storeError: StoreError?

  /// Ends a command that did what it could without the store: a login or a configuration has to be
  /// mended, while a store that cannot be reached at present is no fault of a look at local sessions.
  func throwStoreError() throws {
    if let storeError, !storeError.isTransient { throw ExitStatus(storeError) }
  }
}

extension ChoiceOptions {
  /// The sessions that the options choose, newest first.
  ///
  /// - Parameters:
  ///   - catalog: where to look.
  ///   - place: the home.
  ///   - owner: whose sessions.
  ///   - since: sessions that did not grow since then are left out.
  ///   - until: sessions that began later are left out.
  ///   - limit: the newest so many.
  ///   - includesLocal: whether local sessions count; a store that fails leaves them, and is reported.
  func newest(
    in catalog: SessionCatalog, _ place: Workplace, _ owner: UserOptions,
    since: Timestamp? = nil, until: Timestamp? = nil, limit: Int = .max, includesLocal: Bool = true
  ) async throws -> SelectedSessions {
    func chosen(_ entries: [SessionCatalog.Entry]) -> [SessionCatalog.Entry] {
      Array(
        entries.filter { owner.includes($0) && includes($0) }
          .filter { entry in until.map { entry.sidecar.startedAt <= $0 } ?? true }
          .prefix(limit))
    }
    // What is left out later must not count.
    let most = app != nil || failed || until != nil || owner.user != nil ? Int.max : limit
    do {
      let devices = try await devices.ids(own: place.device.deviceId, in: catalog.context.store)
      let isOwn = devices.contains(place.device.deviceId)
      let entries = try await catalog.entries(
        limit: most, devices: devices, includesLocal: isOwn && includesLocal, activeSince: since)
      return SelectedSessions(entries: chosen(entries), catalog: catalog)
    } catch let error as StoreError
      where error.code != .cancelled && includesLocal && !devices.isElsewhere
    {
      Console.complain("local sessions only: \(error)")
      let local = SessionCatalog(catalog.context.withoutStore)
      let entries = try await local.entries(limit: most, devices: [], activeSince: since)
      return SelectedSessions(entries: chosen(entries), catalog: local, storeError: error)
    }
  }
}

extension Sidecar {
  /// Whether the session crashed, or its program said that it failed.
  var hasFailed: Bool { status == .crashed || cause?.isFailure == true }
}
