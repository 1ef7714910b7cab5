import ArgumentParser
import Platform
import Replica
import SessionLog
import SessionReading
import Sync

/// `tidemark delete ID…`.
struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete sessions here, in the store, or both, after asking.",
    discussion: "What retention has moved to the trash goes with the local copy.")

  @Argument(help: "The sessions.")
  var ids: [String] = []
  @Flag(help: "All of this device's sessions.")
  var all = false
  @Flag(help: "This machine's copies only.")
  var local = false
  @Flag(help: "The store's copies only.")
  var remote = false
  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if ids.isEmpty == !all {
      throw ValidationError("Name sessions, or use --all for all of this device's.")
    }
  }

  /// A session that was named, and where it is.
  private struct Target {
    let session: SessionID
    /// Nil for one that is in the trash alone.
    let entry: SessionCatalog.Entry?
    let isTrashed: Bool

    var isLocal: Bool { isTrashed || (entry.map { $0.location != .remote } ?? false) }
  }

  func run() async throws {
    let place = try owner.workplace(diagnostics.logger())
    let lock = try place.requireLock()
    let both = local == remote
    let context = local && !both ? nil : try both ? place.contextIfSending() : place.context()
    let lived = try place.lived(context)
    let trash = try both || local ? Trash(place.home).sessions(at: lived.time.mark) : [:]
    let targets = try await targets(
      in: SessionCatalog(place.reading(with: context)), trash: Set(trash.keys), place)
    if let running = targets.first(where: { $0.entry?.isRunning == true }), !remote || both {
      throw Failure(.usage, "\(running.session) is still running; end its program first")
    }
    if let kept = targets.first(where: { isKept($0, place, lived) }) {
      throw Failure(
        .usage, "\(kept.session) is kept; 'tidemark keep --release \(kept.session)' ends that")
    }
    guard try confirmed(targets) else { return }

    let deletion = Deletion(
      home: place.home, context: context, lived: lived, command: "tidemark delete")
    var failed = 0
    for target in targets {
      for outcome in try await deletion.delete(
        target.session, local: (local || both) && target.isLocal,
        remote: remote || both ? target.entry?.remote : nil, holding: lock)
      {
        if let error = outcome.error {
          failed += 1
          Console.complain("\(outcome.what): \(error)")
        } else {
          Console.say("deleted \(outcome.what)")
        }
      }
    }
    if failed > 0 { throw ExitStatus.partial }
  }

  private func targets(
    in catalog: SessionCatalog, trash: Set<SessionID>, _ place: Workplace
  ) async throws -> [Target] {
    let devices = [place.device.deviceId]
    func target(_ entry: SessionCatalog.Entry) -> Target {
      Target(session: entry.session, entry: entry, isTrashed: trash.contains(entry.session))
    }
    guard !all else {
      let entries = try await catalog.entries(devices: devices).filter(owner.includes)
      let rest = trash.subtracting(entries.map(\.session)).sorted()
      return entries.map(target)
        + rest.map { Target(session: $0, entry: nil, isTrashed: true) }
    }
    var targets: [Target] = []
    let named = try await catalog.find(ids, devices: devices)
    for (id, entry) in zip(ids, named) {
      let wanted = try ShortenedID(id)
      let trashed = trash.filter(wanted.matches)
      guard SessionID(id) != nil || trashed.isSubset(of: entry.map { [$0.session] } ?? trashed)
      else {
        throw Failure(.usage, "'\(id)' also means a session in the trash; give more of it")
      }
      if let entry {
        targets.append(target(entry))
        continue
      }
      guard let session = trashed.first else { throw LookupError.none(id) }
      guard trashed.count == 1 else {
        throw Failure(
          .usage,
          "'\(id)' is the start of \(trashed.count) session ids in the trash; give more of it")
      }
      targets.append(Target(session: session, entry: nil, isTrashed: true))
    }
    return targets
  }

  private func isKept(
    _ target: Target, _ place: Workplace, _ lived: LivedClock
  ) -> Bool {
    let isKeptHere = Holds(place.home).isHeld(target.session, at: lived.time)
    let now = Timestamp.now().assumingSynchronizedClocks
    return isKeptHere || target.entry?.remote?.holds.contains { $0.holds(at: now) } == true
  }

  private func confirmed(_ targets: [Target]) throws -> Bool {
    guard !yes, !targets.isEmpty else { return true }
    for target in targets {
      guard let entry = target.entry else {
        Console.remark("\(target.session)  in the trash")
        continue
      }
      let only = entry.uploaded < entry.length && !remote ? "  NOT YET UPLOADED" : ""
      Console.remark("\(entry.session)  \(entry.length.byteCount.text)\(only)")
    }
    guard Console.errorIsTerminal else {
      throw Failure(.usage, "not a terminal: pass --yes to confirm")
    }
    return Console.confirm("Delete \(targets.count) sessions for good?")
  }
}
