import ArgumentParser
import Foundation
import Logging
import ObjectStore
import Replica
import SessionLog
import SessionReading

/// Whose sessions a command works with.
struct UserOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Another user's sessions; for root, where the machine is configured for all users.",
      valueName: "name"))
  var user: String?

  func workplace(_ logger: Logger) throws -> Workplace {
    try Workplace(user: user, logger: logger)
  }

  /// Whether a session is one of that user's; in the store those of all users lie together.
  func includes(_ entry: SessionCatalog.Entry) -> Bool {
    user == nil || entry.sidecar.userId == user
  }
}

/// Which side a command looks at.
struct SideOptions: ParsableArguments {
  @Flag(help: "This machine's copies only.")
  var local = false
  @Flag(help: "The store's copies only.")
  var remote = false

  func validate() throws {
    if local && remote { throw ValidationError("--local and --remote exclude each other.") }
  }

  private var side: SessionReader.Side { local ? .local : remote ? .remote : .any }

  /// The catalog of the sides asked for.
  ///
  /// Without a store the local side is all there is.
  func catalog(_ place: Workplace) throws -> SessionCatalog {
    SessionCatalog(try place.reading(side))
  }

  /// The session that an id names, to be read.
  ///
  /// The store is not asked for a session that is whole on this machine. Where the id is shortened, it
  /// is asked whether the id means another session too; a store that fails leaves the local one.
  func entry(
    named id: String, in catalog: SessionCatalog
  ) async throws -> SessionCatalog.Entry {
    var local: SessionCatalog.Entry?
    if side != .remote {
      local = try? await SessionCatalog(catalog.context.withoutStore)
        .entry(matching: id, devices: [])
      if local?.hasLocalLog != true { local = nil }
    }
    if let local, SessionID(id) != nil { return local }
    do {
      let devices = try await DeviceOptions.ids(for: [id], catalog.context)
      return try await catalog.entry(matching: id, devices: devices)
    } catch let error as StoreError where error.code != .cancelled {
      guard let local else { throw error }
      Console.complain("reading the local log: \(error)")
      return local
    }
  }

  /// Reads a session of the catalog from the side asked for.
  func reader(of entry: SessionCatalog.Entry, in catalog: SessionCatalog) throws -> SessionReader {
    try SessionReader(entry, side: side, in: catalog) { Console.complain($0) }
  }
}

/// Which devices' sessions.
struct DeviceOptions: ParsableArguments {
  @Option(help: "Another device's sessions, by its name or id.")
  var device: String?
  @Flag(help: "Every device's sessions.")
  var allDevices = false

  /// Ids of the devices asked for; this one's by default.
  func ids(own: String, in store: (any ObjectStore)?) async throws -> [String] {
    guard allDevices || device != nil else { return [own] }
    guard let store else {
      throw Failure(
        .configuration, "other devices' sessions are in a store, and none is configured")
    }
    let known = try await DeviceRecord.all(in: store)
    guard let device else { return known.map(\.deviceId) }
    let matches = known.filter { $0.deviceId == device || $0.deviceName == device }
    guard !matches.isEmpty else {
      let names = known.map(\.deviceName).joined(separator: ", ")
      throw Failure(.usage, "no device '\(device)' in the store; there are: \(names)")
    }
    return matches.map(\.deviceId)
  }

  /// Ids of the devices whose sessions some ids may name.
  ///
  /// A session that is not on this machine may be any device's.
  static func ids(
    for sessions: [String], _ context: ReadingContext
  ) async throws -> [String] {
    let own = context.device.deviceId
    let areHere = sessions.allSatisfy { id in
      SessionID(id).map { access(context.home.files(for: $0).sidecar, F_OK) == 0 } ?? false
    }
    return areHere ? [own] : try await DeviceRecord.ids(in: context.store, first: own)
  }
}
