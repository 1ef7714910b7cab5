import ArgumentParser
import ObjectStore
import SessionLog
import Sync

/// Whose sessions a command works with.
struct UserOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Another user's sessions; for root, where the machine is configured for all users.",
      valueName: "name"))
  var user: String?

  func workplace() throws -> Workplace { try Workplace(user: user) }

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

  /// The catalog of the sides asked for.
  ///
  /// Without a store the local side is all there is.
  func catalog(_ place: Workplace) throws -> (SessionCatalog, SyncContext?) {
    let context = local ? nil : remote ? try place.context() : try place.contextIfReadable()
    return (SessionCatalog(home: place.home, device: place.device, context: context), context)
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
}

/// Which records of a log.
struct RecordOptions: ParsableArguments {
  @Option(
    help: "Only records of this level and above: TRACE DEBUG INFO SUCCESS WARNING ERROR FAULT.")
  var level: String?
  @Option(help: "Only records since then: 2h, 3d, or 2026-01-22T14:30:05Z.")
  var since: String?
  @Option(help: "Only records until then, in the same forms.")
  var until: String?
  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("Only the last of the lines.", valueName: "n"))
  var lines: Int?
  @Flag(
    help: ArgumentHelp(
      "Go on past what is missing or damaged in the store.",
      discussion: "A line [GAP n bytes: reason] stands for each stretch that is lost."))
  var salvage = false

  func validate() throws {
    _ = try filter()
    if let lines, lines < 0 { throw ValidationError("--lines takes a number from 0.") }
  }

  func choice() throws -> RecordChoice {
    RecordChoice(filter: try filter(), lastLines: lines, salvages: salvage)
  }

  func filter() throws -> RecordFilter {
    var filter = RecordFilter(since: try Self.time(since), until: try Self.time(until))
    if let level {
      guard let known = Level(name: level) else {
        throw ValidationError(
          "'\(level)' is no level; use TRACE, DEBUG, INFO, SUCCESS, WARNING, ERROR or FAULT.")
      }
      filter.minimumLevel = known
    }
    return filter
  }

  private static func time(_ text: String?) throws -> Timestamp? {
    guard let text else { return nil }
    if let time = Timestamp(iso: text) ?? Timestamp(iso: text + "T00:00:00Z") { return time }
    if let seconds = Age.seconds(text) {
      return Timestamp(milliseconds: Timestamp.now().milliseconds - seconds * 1000)
    }
    throw ValidationError("'\(text)' is no time; use 2h, 3d or 2026-01-22T14:30:05Z.")
  }
}
