import ArgumentParser
import Foundation
import Logging
import ObjectStore
import Platform
import Redaction
import SessionLog
import SessionReading

/// Options that select users.
struct UserOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Another user's sessions; for root, where the machine is configured for all users.",
      valueName: "name"))
  var user: String?

  /// Opens the user's home.
  ///
  /// - Parameter isNeeded: whether to create a missing home; false for commands that only read.
  func setup(_ logger: Logger, isNeeded: Bool = true) throws -> CommandContext {
    try CommandContext(user: user, isNeeded: isNeeded, logger: logger)
  }

  /// Whether a session is one of that user's; the store mixes those of all users.
  func includes(_ entry: SessionCatalog.Entry) -> Bool {
    user == nil || entry.sidecar.userId == user
  }
}

/// Options that select local or remote copies.
struct SideOptions: ParsableArguments {
  @Flag(help: "Local copies only.")
  var local = false
  @Flag(help: "Remote copies only.")
  var remote = false

  func validate() throws {
    if local && remote { throw ValidationError("--local and --remote exclude each other.") }
  }

  private var side: SessionReader.Side { local ? .local : remote ? .remote : .any }

  /// The catalog of the selected sides.
  ///
  /// Without a store, only the local side.
  ///
  /// - Parameter redactor: masks local copies; nil to read them as they are.
  func catalog(_ setup: CommandContext, _ redactor: Redactor? = nil) throws -> SessionCatalog {
    var context = try setup.reading(side, offersLocal: true)
    context.redactor = redactor
    var catalog = SessionCatalog(context)
    catalog.includesUndescribed = true
    return catalog
  }

  /// The session with an id, to be read from the selected side.
  func entry(
    named id: String, in catalog: SessionCatalog
  ) async throws -> SessionCatalog.Entry {
    try await catalog.context.explaining {
      try await catalog.entry(named: id, on: side) { Console.complain($0) }
    }
  }

  /// The sessions with several ids, to be read from the selected side.
  func entries(
    named ids: [String], in catalog: SessionCatalog
  ) async throws -> [SessionCatalog.Entry] {
    try await catalog.context.explaining {
      try await catalog.entries(named: ids, on: side) { Console.complain($0) }
    }
  }

  /// Opens a session of the catalog on the selected side.
  ///
  /// - Parameter generation: a former stream's, which only the store has; nil for the newest.
  func reader(
    of entry: SessionCatalog.Entry, generation: Int? = nil, in catalog: SessionCatalog
  ) throws -> SessionReader {
    // A generation is read from the store, whatever the options.
    let other = generation == nil ? "try without \(local ? "--local" : "--remote")" : nil
    let otherwise = other.map { "; \($0), and " } ?? "; "
    if side == .remote {
      switch entry.remoteCopy(in: catalog.context.store?.location) {
      case .reaped:
        throw Failure(
          .usage,
          "the remote copy of \(entry.session) was deleted\(otherwise)"
            + "'tidemark why \(entry.session)' says by whom")
      case .missing:
        throw Failure(
          .integrity,
          "the store no longer has \(entry.session), which was sent\(otherwise)"
            + "'tidemark verify --repair \(entry.session)' sends it again")
      case .elsewhere(let store):
        throw Failure(
          .usage,
          "\(entry.session) was sent to \(String(oneLine: store))" + (other.map { "; \($0)" } ?? "")
        )
      case .asUploaded, .unsealed, .incomplete: break
      }
    }
    do {
      return try SessionReader(entry, side: side, generation: generation, in: catalog) {
        Console.complain($0)
      }
    } catch let error as ReadingError where error.code == .unfit && side != .any {
      throw Failure(.usage, "\(error)" + (other.map { "; \($0)" } ?? ""))
    }
  }
}

/// Options that select devices.
struct DeviceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Another device's sessions, by its name or id, which may be shortened.",
      valueName: "device"))
  var device: String?
  @Flag(help: "Every device's sessions.")
  var allDevices = false

  /// Whether other devices' sessions are requested.
  var isElsewhere: Bool { allDevices || device != nil }

  /// The selected devices; by default this home's.
  private var choice: DeviceChoice {
    device.map(DeviceChoice.named) ?? (allDevices ? .all : .own)
  }

  /// Ids of the selected devices; by default this one's, the present id first.
  func ids(own: Device, in store: (any ObjectStore)?) async throws -> [String] {
    try await choice.ids(own: own, in: store)
  }

  /// Rejects other devices, for a command that works only on the recording device.
  func expectOwn(_ setup: CommandContext, _ command: String) throws {
    let own = setup.device
    let isOwn = device.map { $0 == own.deviceName || own.deviceId.hasPrefix($0) && !$0.isEmpty }
    guard allDevices || isOwn == false else { return }
    throw Failure(
      .usage,
      "'tidemark \(command)' works on this device's sessions only (\(String(oneLine: own.deviceName)), "
        + "\(own.deviceId)); run it on the other device")
  }
}
