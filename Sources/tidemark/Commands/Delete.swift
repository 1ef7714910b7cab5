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
    abstract: "Delete sessions here, in the store, or both, after asking.")

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

  func run() async throws {
    let place = try owner.workplace(diagnostics.logger())
    let lock = try place.requireLock()
    let both = local == remote
    let context = local && !both ? nil : try both ? place.contextIfSending() : place.context()
    let catalog = SessionCatalog(place.reading(with: context))
    var entries: [SessionCatalog.Entry] = []
    let devices = [place.device.deviceId]
    if all { entries = try await catalog.entries(devices: devices).filter(owner.includes) }
    entries += try await catalog.entries(matching: ids, devices: devices)
    if let running = entries.first(where: { $0.isRunning }), !remote || both {
      throw Failure(.usage, "\(running.session) is still running; end its program first")
    }
    let lived = try place.lived(context)
    if let kept = entries.first(where: { isKept($0, place, lived) }) {
      throw Failure(
        .usage, "\(kept.session) is kept; 'tidemark keep --release \(kept.session)' ends that")
    }
    guard try confirmed(entries) else { return }

    let deletion = Deletion(
      home: place.home, context: context, lived: lived, command: "tidemark delete")
    var failed = 0
    for entry in entries {
      for outcome in try await deletion.delete(
        entry.session, local: (local || both) && entry.location != .remote,
        remote: remote || both ? entry.remote : nil, holding: lock)
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

  private func isKept(
    _ entry: SessionCatalog.Entry, _ place: Workplace, _ lived: LivedClock
  ) -> Bool {
    let isKeptHere = Holds(place.home).isHeld(entry.session, at: lived.time)
    let now = Timestamp.now().assumingSynchronizedClocks
    return isKeptHere || entry.remote?.holds.contains { $0.holds(at: now) } == true
  }

  private func confirmed(_ entries: [SessionCatalog.Entry]) throws -> Bool {
    guard !yes, !entries.isEmpty else { return true }
    for entry in entries {
      let only = entry.uploaded < entry.length && !remote ? "  NOT YET UPLOADED" : ""
      Console.remark("\(entry.session)  \(entry.length.byteCount.text)\(only)")
    }
    guard Console.errorIsTerminal else {
      throw Failure(.usage, "nobody is there to be asked; use --yes to delete without asking")
    }
    return Console.confirm("Delete \(entries.count) sessions for good?")
  }
}
