import ArgumentParser
import ObjectStore
import Platform
import SessionLog
import SessionReading

/// Which sessions a command that reads many of them works with.
struct SelectionOptions: ParsableArguments {
  @Argument(help: "The sessions, as 'tidemark list' shows them.")
  var ids: [String] = []
  @OptionGroup var devices: DeviceOptions
  @Option(help: ArgumentHelp("Only sessions of this program.", valueName: "name"))
  var app: String?
  @Flag(help: "Only sessions that crashed or exited with a status other than 0.")
  var failed = false

  func validate() throws {
    if !ids.isEmpty, isChoosing {
      throw ValidationError("Sessions are named, or chosen by --device, --app and --failed.")
    }
  }

  /// Whether something but ids says which sessions.
  var isChoosing: Bool { devices.device != nil || devices.allDevices || app != nil || failed }

  /// The sessions: in the order of their ids where these are given, else oldest first.
  ///
  /// - Parameters:
  ///   - span: sessions that did not grow since its start, or began after its end, are left out.
  ///   - limit: the newest so many.
  func entries(
    _ place: Workplace, _ side: SideOptions, _ owner: UserOptions,
    since: Timestamp? = nil, until: Timestamp? = nil, limit: Int = .max
  ) async throws -> (entries: [SessionCatalog.Entry], catalog: SessionCatalog) {
    let catalog = try side.catalog(place)
    guard ids.isEmpty else {
      let devices = try await catalog.devices(for: ids)
      return (try await catalog.entries(matching: ids, devices: devices), catalog)
    }
    do {
      let devices = try await devices.ids(own: place.device.deviceId, in: catalog.context.store)
      let isOwn = devices.contains(place.device.deviceId)
      let entries = try await catalog.entries(
        limit: isChoosing || owner.user != nil ? .max : limit, devices: devices,
        includesLocal: isOwn && !side.remote,
        activeSince: since)
      return (chosen(entries, owner, until, limit), catalog)
    } catch let error as StoreError where error.isTransient && !side.remote && !isElsewhere {
      Console.complain("reading local sessions only: \(error)")
      let local = SessionCatalog(catalog.context.withoutStore)
      let entries = try await local.entries(devices: [], activeSince: since)
      return (chosen(entries, owner, until, limit), local)
    }
  }

  private var isElsewhere: Bool { devices.device != nil || devices.allDevices }

  private func chosen(
    _ entries: [SessionCatalog.Entry], _ owner: UserOptions, _ until: Timestamp?, _ limit: Int
  ) -> [SessionCatalog.Entry] {
    entries.filter(owner.includes)
      .filter { app == nil || $0.sidecar.appName == app }
      .filter { !failed || $0.sidecar.hasFailed }
      .filter { entry in until.map { entry.sidecar.startedAt <= $0 } ?? true }
      .prefix(limit).reversed()
  }
}

extension Sidecar {
  /// Whether the session crashed, or its program said that it failed.
  var hasFailed: Bool { status == .crashed || cause?.isFailure == true }
}
