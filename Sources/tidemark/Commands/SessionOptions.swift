import ArgumentParser
import Foundation
import Logging
import ObjectStore
import Redaction
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
  @Flag(help: "Local copies only.")
  var local = false
  @Flag(help: "Remote copies only.")
  var remote = false

  func validate() throws {
    if local && remote { throw ValidationError("--local and --remote exclude each other.") }
  }

  private var side: SessionReader.Side { local ? .local : remote ? .remote : .any }

  /// The catalog of the sides asked for.
  ///
  /// Without a store the local side is all there is.
  ///
  /// - Parameter redactor: masks what is read of this machine's copies; nil for what they say.
  func catalog(_ place: Workplace, _ redactor: Redactor? = nil) throws -> SessionCatalog {
    var context = try place.reading(side)
    context.redactor = redactor
    return SessionCatalog(context)
  }

  /// The session that an id names, to be read from the side asked for.
  func entry(
    named id: String, in catalog: SessionCatalog
  ) async throws -> SessionCatalog.Entry {
    try await catalog.entry(named: id, on: side) { Console.complain($0) }
  }

  /// The sessions that several ids name, likewise.
  func entries(
    named ids: [String], in catalog: SessionCatalog
  ) async throws -> [SessionCatalog.Entry] {
    try await catalog.entries(named: ids, on: side) { Console.complain($0) }
  }

  /// Reads a session of the catalog from the side asked for.
  func reader(of entry: SessionCatalog.Entry, in catalog: SessionCatalog) throws -> SessionReader {
    do {
      return try SessionReader(entry, side: side, in: catalog) { Console.complain($0) }
    } catch let error as ReadingError where error.code == .unfit && side != .any {
      throw Failure(.usage, "\(error); try without \(local ? "--local" : "--remote")")
    }
  }
}

/// Which devices' sessions.
struct DeviceOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Another device's sessions, by its name or id.", valueName: "name"))
  var device: String?
  @Flag(help: "Every device's sessions.")
  var allDevices = false

  /// Whether other devices' sessions are asked for.
  var isElsewhere: Bool { allDevices || device != nil }

  /// Ids of the devices asked for; this one's by default.
  func ids(own: String, in store: (any ObjectStore)?) async throws -> [String] {
    guard isElsewhere else { return [own] }
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
}
