import ArgumentParser
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import Sync

/// `tidemark keep ID…`.
struct Keep: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keep",
    abstract: "Keep local and remote copies of sessions beyond their retention.",
    discussion: """
      For the crash that is being investigated: until the hold ends, neither age nor 'local-max' \
      deletes the session's local copy or its remote copy, on whatever machine the reaper runs. \
      Lifecycle rules of a bucket do not know of it. A new hold replaces an earlier one. A \
      session that is not in the store yet is held there once it is sealed.

      With --json one object a line: session, until, local, remote (whether that copy is kept or, with \
      --release, was).

      Examples:
        tidemark keep k3f9a7c2 --for 90d
        tidemark keep --failed --since yesterday
      """)

  @OptionGroup var sessions: SelectionOptions
  @OptionGroup var span: SpanOptions
  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("How long; otherwise 90d, and at most ten years.", valueName: "time"),
    transform: ArgumentValue.span)
  var duration: Duration?
  @Flag(help: "End the hold.")
  var release = false
  @Flag(help: "Change nothing; print what would be kept.")
  var dryRun = false
  @OptionGroup var zone: ZoneOptions
  @Flag(help: "One JSON object a line.")
  var json = false
  @OptionGroup var owner: UserOptions
  @OptionGroup var diagnostics: DiagnosticOptions

  func validate() throws {
    if holdTime > Holds.longest { throw ValidationError("--for takes at most 3650d.") }
    if sessions.ids.isEmpty != (sessions.isChoosing || span.isChoosing) {
      throw ValidationError(
        "Name sessions, or choose them by --app, --failed, --since and the like.")
    }
  }

  private var holdTime: Duration { duration ?? .days(90) }

  private struct Result: Encodable {
    let session: SessionID
    var until: Timestamp?
    let local: Bool
    let remote: Bool
  }

  func run() async throws {
    let setup = try owner.setup(diagnostics.logger())
    let lock = try setup.requireLock(unless: dryRun)
    var context = try setup.contextIfSending(needsLogin: false)
    let entries: [SessionCatalog.Entry]
    var storeError: StoreError?
    do {
      entries = try await self.entries(SessionCatalog(setup.reading(with: context)), setup)
    } catch let error as StoreError
      where error.code != .cancelled && !sessions.choice.devices.isElsewhere
    {
      // Keeping local copies needs no store.
      (context, storeError) = (nil, error)
      entries = try await self.entries(SessionCatalog(setup.reading(with: nil)), setup)
    }
    let lived = try setup.lived(context)
    var isWhole = true
    var kept: [(result: Result, entry: SessionCatalog.Entry)] = []
    for entry in entries {
      guard let lock else {
        try say(
          Result(
            session: entry.session, until: release ? nil : .now() + holdTime,
            local: entry.location != .remote, remote: context != nil && entry.remote != nil),
          entry, context)
        continue
      }
      if release {
        try await say(end(of: entry, setup, context, holding: lock), entry, context)
      } else {
        let (result, isKept) = try await keep(entry, setup, context, lived, holding: lock)
        isWhole = isWhole && isKept
        kept.append((result, entry))
      }
    }
    if let lock { try lived.save(holding: lock) }
    let remote = kept.compactMap { $0.result.remote ? $0.entry.remote : nil }
    let gone = try await context.map(RemoteHold.init)?.outlastReapers(remote) { time in
      Console.remark("waiting \(Age.text(time)), for a reap that may be deleting old sessions")
      try await Task.sleep(for: time)
    }
    for (result, entry) in kept {
      let loss = entry.remote.flatMap { gone?[$0.deviceSession] }
      if let loss { Console.complain("\(loss)") }
      let isThere = loss == nil
      isWhole = isWhole && isThere
      try say(
        Result(
          session: result.session, until: result.until, local: result.local,
          remote: result.remote && isThere), entry, context)
    }
    if let storeError { throw storeError }
    if !isWhole { throw ExitStatus.partial }
  }

  private func entries(
    _ catalog: SessionCatalog, _ setup: CommandContext
  ) async throws -> [SessionCatalog.Entry] {
    let ids = sessions.ids
    guard ids.isEmpty else {
      return try await catalog.context.explaining {
        let (found, passedOver) = try await catalog.lookUp(
          ids, devices: catalog.devices(for: ids))
        PassedOverSessions(sessions: passedOver).report()
        return try zip(ids, found).map { id, entry in
          guard let entry else { throw LookupError.none(id) }
          return entry
        }
      }
    }
    let selected = try await sessions.choice.newest(
      in: catalog, setup, owner, since: span.since, until: span.until, needsStore: true)
    PassedOverSessions(sessions: selected.passedOver).report()
    if selected.entries.isEmpty { Console.remark("no matching sessions; see 'tidemark list'") }
    return selected.entries
  }

  /// Whether this home has no other session with the same id, which a local hold would concern.
  private static func isAlone(
    _ entry: SessionCatalog.Entry, _ setup: CommandContext
  ) throws -> Bool {
    let device = setup.device
    guard entry.location == .remote, !device.ids.contains(entry.device) else { return true }
    let local = LocalSession(setup.home, entry.session)
    return try local.sidecarPath() == nil
      || local.sidecar(device: device).sidecar.deviceId == entry.device
  }

  private func end(
    of entry: SessionCatalog.Entry, _ setup: CommandContext, _ context: SyncContext?,
    holding lock: HomeLock
  ) async throws -> Result {
    let isLocal =
      try Self.isAlone(entry, setup)
      && Holds(setup.home).release(entry.session, holding: lock)
    var isRemote = false
    if let context {
      let folder = SessionFolder(device: entry.sidecar.deviceId, session: entry.session)
      var remote = entry.remote
      if remote == nil, setup.home.owner?.isRoot ?? true {
        // Its hold may be left. Where root acts for a user, the user can write any id into the home.
        let listing = try await FolderListing(folder, session: entry.session, in: context.store)
        remote = listing.sessions[entry.session]
      }
      if let remote { isRemote = try await RemoteHold(context).release(remote) }
    }
    return Result(session: entry.session, local: isLocal, remote: isRemote)
  }

  private func keep(
    _ entry: SessionCatalog.Entry, _ setup: CommandContext, _ context: SyncContext?,
    _ lived: LivedClock, holding lock: HomeLock
  ) async throws -> (Result, isKept: Bool) {
    var until = Timestamp.now() + holdTime
    if try Self.isAlone(entry, setup) {
      until = try Holds(setup.home).keep(entry.session, for: holdTime, lived, holding: lock).until
    }
    var isRemote = context != nil && entry.remote != nil
    var isKept = true
    if context != nil, entry.remote?.seal != nil, entry.uploaded < entry.length {
      Console.complain(
        "\(entry.session): its remote copy is not whole: it has \(entry.uploaded.byteCount.text) of "
          + "\(entry.length.byteCount.text); 'tidemark verify \(entry.session)' shows what is missing"
      )
      isKept = false
    }
    if let context, let remote = entry.remote {
      do {
        try await RemoteHold(context).keep(remote, for: holdTime)
      } catch let error as ReplicaError {
        Console.complain("\(error)")
        (isRemote, isKept) = (false, false)
      }
    }
    let result = Result(
      session: entry.session, until: until, local: entry.location != .remote, remote: isRemote)
    return (result, isKept)
  }

  private func say(
    _ result: Result, _ entry: SessionCatalog.Entry, _ context: SyncContext?
  ) throws {
    guard !json else { return Console.say(try Console.json(result)) }
    let would = dryRun ? "would be" : "is"
    if release {
      let text = result.local || result.remote ? "\(would) no longer kept" : "was not kept"
      return Console.say("\(result.session)  \(text)")
    }
    // What is gone has been reported.
    guard result.local || result.remote else { return }
    let sides = [result.local ? "local" : nil, result.remote ? "remote" : nil].compactMap(\.self)
    let until = result.until.map { zone.zone.day($0) } ?? ""
    let later =
      context != nil && entry.remote == nil ? ", and in the store once it is sealed" : ""
    Console.say(
      "\(result.session)  \(would) kept, \(sides.joined(separator: " and ")), until \(until)\(later)"
    )
  }
}
