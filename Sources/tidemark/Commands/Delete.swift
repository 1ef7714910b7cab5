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
    abstract: "Delete local copies of sessions, remote copies, or both, after asking.",
    discussion: """
      What retention has moved to the trash goes with the local copy. Other devices' sessions go from \
      the store; a device on which such a session is still running may send it again. With --json one \
      object a line for each session: session, local, remote (whether that copy goes), bytes, and \
      failures, where there were any.

      Examples:
        tidemark delete k3f9a7c2
        tidemark delete --app nightly --until '30d ago' --dry-run
      """)

  @OptionGroup var sessions: SelectionOptions
  @OptionGroup var span: SpanOptions
  @Flag(help: "All sessions of this device, or of --device or --all-devices.")
  var all = false
  @Flag(help: "Local copies only.")
  var local = false
  @Flag(help: "Remote copies only.")
  var remote = false
  @Flag(help: "Delete nothing; print what would be deleted.")
  var dryRun = false
  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false
  @Flag(help: "One JSON object a line.")
  var json = false

  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  /// Whether an option other than a device selects sessions: a device alone means all of its
  /// sessions.
  private var isChoosing: Bool { sessions.choice.isNarrowing || span.isChoosing }

  func validate() throws {
    if [!sessions.ids.isEmpty, all, isChoosing].count(where: \.self) != 1 {
      let devices = sessions.choice.devices
      let whose =
        devices.allDevices
        ? "every device's" : devices.device == nil ? "this device's" : "that device's"
      throw ValidationError(
        "Name sessions, choose them by --app, --failed, --since and the like, or use --all for all "
          + "of \(whose).")
    }
    if local, sessions.choice.devices.isElsewhere {
      throw ValidationError("--local cannot be used with --device or --all-devices.")
    }
  }

  /// A session to delete, and its copies.
  private struct Target {
    let session: SessionID
    /// Nil for a session that is only in the trash.
    let entry: SessionCatalog.Entry?
    let isTrashed: Bool
    /// The remote copy to delete; nil if there is none, or it stays.
    var remote: RemoteSession?

    var isLocal: Bool { isTrashed || (entry.map { $0.location != .remote } ?? false) }
    /// The session and the device that has it; several devices may have sessions with one id.
    var name: String { entry?.deviceSession.name ?? session.description }
  }

  private var deletesLocal: Bool { local || !remote }
  private var deletesRemote: Bool { remote || !local }

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger())
    // No upload waits for the person who is asked.
    var lock = try yes ? setup.requireLock(unless: dryRun) : nil
    let context =
      !deletesRemote
      ? nil
      : try deletesLocal ? setup.contextIfSending(offersLocal: true) : setup.context()
    let lived = try setup.lived(context)
    let deletion = Deletion(
      home: setup.home, context: context, lived: lived, command: "tidemark delete")
    var targets = try await targets(setup, context, lived, deletion)
    guard !targets.isEmpty else {
      return Console.remark("no matching sessions; see 'tidemark list'")
    }
    guard !dryRun else {
      return try targets.forEach { try report($0, "would delete", failures: []) }
    }
    if lock == nil {
      guard try confirmed(targets, setup) else { return }
      lock = try setup.requireLock()
      // Others may have kept or continued a session while the question was open.
      let asked = Set(targets.map(\.name))
      targets = try await self.targets(setup, context, lived, deletion, reports: false)
        .filter { asked.contains($0.name) }
    }
    guard let lock else { return }

    var failed = 0
    for target in targets {
      let outcomes = try await deletion.delete(
        target.session, local: deletesLocal && target.isLocal,
        remote: target.remote,
        isRemoteGone: deletesRemote && target.entry?.remote == nil, holding: lock)
      var failures: [String] = []
      for outcome in outcomes {
        if let error = outcome.error {
          failures.append("\(outcome.what): \(error)")
          Console.complain("\(outcome.what): \(error)")
        } else if !json {
          Console.say("deleted \(outcome.what)")
        }
      }
      failed += failures.count
      if json {
        try report(target, "deleted", failures: failures)
      } else if outcomes.isEmpty {
        reportMissing(target)
      }
    }
    if failed > 0 { throw ExitStatus.partial }
  }

  // MARK: Selection

  /// The chosen sessions, if all of them may be deleted now.
  private func targets(
    _ setup: CommandContext, _ context: SyncContext?, _ lived: LivedClock, _ deletion: Deletion,
    reports: Bool = true
  ) async throws -> [Target] {
    let trash = try deletesLocal ? Trash(setup.home).sessions(at: lived.time.mark) : [:]
    var catalog = SessionCatalog(try setup.reading(with: context))
    // Also what a deletion that was killed has left.
    catalog.includesUndescribed = true
    let targets = try await targets(in: catalog, trash: Set(trash.keys), setup, reports)
    if let running = targets.first(where: { $0.entry?.isRunning == true }), deletesLocal {
      throw Failure(.usage, "\(running.session) is still running; end its program first")
    }
    do {
      for target in targets {
        try deletion.expectNoHold(on: target.session, target.entry?.remote)
      }
    } catch let error as HeldSession {
      throw Failure(.usage, "\(error)")
    }
    return targets
  }

  private func targets(
    in catalog: SessionCatalog, trash: Set<SessionID>, _ setup: CommandContext, _ reports: Bool
  ) async throws -> [Target] {
    /// Whether the trash has the session, rather than this home's with the same id.
    func isTrashed(_ entry: SessionCatalog.Entry) -> Bool {
      guard trash.contains(entry.session) else { return false }
      if entry.location != .remote || setup.device.ids.contains(entry.device) { return true }
      // A home that lost its device record does not know its former ids, but its sidecars do.
      let path = try? Trash(setup.home).sidecarPath(of: entry.session)
      return path.flatMap { try? Sidecar.load($0) }?.deviceId == entry.device
    }
    func target(_ entry: SessionCatalog.Entry) -> Target {
      Target(
        session: entry.session, entry: entry, isTrashed: isTrashed(entry),
        remote: deletesRemote ? entry.remote : nil)
    }
    func report(passedOver: Set<SessionID>) {
      if reports { PassedOverSessions(sessions: passedOver).report() }
    }
    var staying: [String: Int] = [:]
    defer {
      for (device, count) in staying.sorted(by: { $0.key < $1.key }) where reports {
        Console.complain(
          "the remote copies of \(Plural.text(count, "session")) stay: they were sent as device "
            + "\(device), an id that this home no longer has; --device \(device) selects them")
      }
    }
    // A former id may be that of a machine which this home was copied from: only names reach it.
    func ownTargets(_ selected: [SessionCatalog.Entry]) -> [Target] {
      selected.compactMap { entry in
        var target = target(entry)
        guard !sessions.choice.devices.isElsewhere, let device = target.remote?.folder.device,
          device != setup.device.deviceId
        else { return target }
        staying[device, default: 0] += 1
        target.remote = nil
        return deletesLocal && target.isLocal ? target : nil
      }
    }
    guard !all else {
      let own = setup.device
      let devices = try await sessions.choice.devices.ids(own: own, in: catalog.context.store)
      let isOwn = devices.contains(own.deviceId)
      let found = try await catalog.search(devices: devices, includesLocal: isOwn)
      report(passedOver: found.passedOver)
      let entries = found.entries.filter(owner.includes)
      let rest =
        isOwn ? trash.subtracting(entries.filter(isTrashed).map(\.session)).sorted() : []
      return ownTargets(entries)
        + rest.map { Target(session: $0, entry: nil, isTrashed: true, remote: nil) }
    }
    let ids = sessions.ids
    guard !ids.isEmpty else {
      let selected = try await sessions.choice.newest(
        in: catalog, setup, owner, since: span.since, until: span.until, needsStore: true)
      report(passedOver: selected.passedOver)
      return ownTargets(selected.entries)
    }
    var targets: [Target] = []
    let devices = try await catalog.devices(for: ids)
    let (named, passedOver) = try await catalog.lookUp(ids, devices: devices)
    report(passedOver: passedOver)
    for (id, entry) in zip(ids, named) {
      let wanted = try ShortenedID(id)
      let trashed: Set<SessionID> =
        wanted.mayMeanSessions(of: setup.device) ? trash.filter(wanted.matches) : []
      guard SessionID(id) != nil || trashed.isSubset(of: entry.map { [$0.session] } ?? trashed)
      else {
        throw Failure(.usage, "'\(id)' also means a session in the trash; give more of it")
      }
      if let entry {
        guard !trashed.contains(entry.session) || isTrashed(entry) else {
          throw Failure(
            .usage,
            "\(entry.session) is in this home's trash, and device \(entry.device) has another session "
              + "with this id; name one: '\(setup.device.deviceId)/\(entry.session)', "
              + "'\(entry.deviceSession.name)'")
        }
        targets.append(target(entry))
        continue
      }
      guard let session = trashed.first else { throw LookupError.none(id) }
      guard trashed.count == 1 else {
        throw Failure(
          .usage,
          "'\(id)' is the start of \(trashed.count) session ids in the trash; give more of it")
      }
      targets.append(Target(session: session, entry: nil, isTrashed: true, remote: nil))
    }
    return targets
  }

  // MARK: Output

  private struct Line: Encodable {
    let session: SessionID
    let local: Bool
    let remote: Bool
    let bytes: ByteCount?
    let failures: [String]?
  }

  private func report(_ target: Target, _ verb: String, failures: [String]) throws {
    let isLocal = deletesLocal && target.isLocal
    let isRemote = target.remote != nil
    let bytes = target.entry?.length.byteCount
    guard !json else {
      return Console.say(
        try Console.json(
          Line(
            session: target.session, local: isLocal, remote: isRemote, bytes: bytes,
            failures: failures.isEmpty ? nil : failures)))
    }
    guard isLocal || isRemote else { return reportMissing(target) }
    let size = bytes.map { ", \($0.text)" } ?? ""
    Console.say("\(verb) \(target.session) (\(sides(of: target))\(size))")
  }

  /// The copies to delete, for a person.
  private func sides(of target: Target) -> String {
    let local = deletesLocal && target.isLocal ? "local" : nil
    let remote = target.remote != nil ? "remote" : nil
    return [local, remote].compactMap(\.self).joined(separator: " and ")
  }

  private func reportMissing(_ target: Target) {
    let side = local ? "local " : remote ? "remote " : ""
    Console.complain("\(target.session) has no \(side)copy")
  }

  private func confirmed(_ targets: [Target], _ setup: CommandContext) throws -> Bool {
    for target in targets {
      guard let entry = target.entry else {
        Console.remark("\(target.session)  in the trash")
        continue
      }
      let isUnsent = entry.uploaded < entry.length && deletesLocal
      let isChanged =
        entry.sidecar.seal?.logDiffers == true && deletesLocal && entry.location != .remote
      let isForeign = entry.sidecar.deviceId != setup.device.deviceId
      let device = isForeign ? "  of device \(String(oneLine: entry.sidecar.deviceName))" : ""
      Console.remark(
        "\(entry.session)  \(entry.length.byteCount.text), \(sides(of: target))\(device)"
          + (isUnsent ? "  NOT YET UPLOADED" : "")
          + (isChanged ? "  CHANGED AFTER IT WAS SENT: THE STORE LACKS WHAT IT HAS NOW" : ""))
    }
    return try Console.mayProceed("delete", "\(Plural.text(targets.count, "session")) for good")
  }
}
