import Foundation
import ObjectStore
package import Platform
package import Replica
package import SessionLog

/// The sessions on this machine, in the store, or in both.
package struct SessionCatalog: Sendable {
  /// Where a session's bytes are.
  package enum Location: String, Sendable, Codable {
    /// On this machine only.
    case local
    /// In the store only.
    case remote
    /// On this machine and in the store.
    case both
  }

  /// One session.
  package struct Entry: Sendable {
    /// The session's id.
    package let session: SessionID
    /// The newest known sidecar; the local one if there is one.
    package var sidecar: Sidecar
    /// Where its bytes are.
    package let location: Location
    /// Length of the log.
    package let length: StreamOffset
    /// The offset up to which the stream is in the store.
    package let uploaded: StreamOffset
    /// Whether a live program is writing it, as far as can be determined from here.
    package let isRunning: Bool
    /// When its log last grew.
    package let lastActivity: Timestamp
    /// The remote objects, for a sealed session those that the seal names if it was fetched; nil if
    /// there are none, or the store was not queried.
    package let remote: RemoteSession?
    /// Whether the whole log can be read on this machine.
    package let hasLocalLog: Bool
    /// Whether the newest revision in the store cannot be believed, or its device's is missing, so
    /// that only names say something about the session.
    package var isRejected = false
    /// See ``SessionCatalog/endOfHoles(_:)``; nil if it was not looked for.
    var endOfHoles: StreamOffset?

    /// The id of the device under which it was sent or, for a session that is only local, recorded.
    package var device: String { remote?.folder.device ?? sidecar.deviceId }
    /// The session and its device: several devices may have sessions with one id.
    package var deviceSession: DeviceSession { DeviceSession(device: device, session: session) }

    /// Whether this copy of a session counts, rather than another one of the same home.
    fileprivate func isBetter(than other: Entry) -> Bool {
      guard isRejected == other.isRejected else { return !isRejected }
      return remote?.seal != nil && other.remote?.seal == nil
    }
  }

  /// The result of a search.
  package struct Findings: Sendable {
    /// The sessions found, newest first.
    package var entries: [Entry] = []
    /// Sessions that have log bytes in the store, but no revision, and were not included.
    package var passedOver: Set<SessionID> = []

    fileprivate mutating func add(_ more: Findings) {
      entries += more.entries
      passedOver.formUnion(more.passedOver)
    }
  }

  /// What the store has of a session.
  private enum RemoteFinding {
    case entry(Entry)
    /// Log bytes without a revision, which are not included.
    case passedOver
    /// Nothing that is a session of this home's user, or nothing yet.
    case none
  }

  /// Opens the log on this machine, masked if the context says so.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func openLog(_ entry: Entry) throws -> LocalStream {
    let local = LocalSession(home, entry.session)
    guard let log = try local.openLog(entry.sidecar.source) else {
      throw SystemError(
        operation: "open", path: local.files.log, errno: SystemError.Number.notFound)
    }
    guard let redactor = context.redactor else { return log }
    let all = RedactionSpan(Sidecar.RedactionEpoch(from: 0, rules: ""), redactor)
    return log.redacted(by: [all], entry.sidecar.format)
  }

  /// The offset after the last rotated part that is missing between others; 0 if there is none.
  func endOfHoles(_ entry: Entry) -> StreamOffset {
    // Most recorded logs have no parts: do not open each for that.
    let files = context.home.files(for: entry.session)
    guard entry.sidecar.source != nil || files.mayHaveParts else { return 0 }
    let log = try? openLog(entry)
    return (try? log?.afterHoles().available().lowerBound) ?? 0
  }

  /// Its dependencies.
  package let context: ReadingContext
  /// Whether sessions without the revision that their device signs are included, as rejected ones.
  package var includesUndescribed = false
  /// How old the newest object of such a session must be: it may be being sent at this moment.
  var leastAge = Duration.hours(1)
  /// Selects sessions whose copies under this home's ids are listed one by one, because a person names
  /// the device; otherwise they are one entry.
  var isSeparate: @Sendable (SessionID) -> Bool = { _ in false }
  var home: Home { context.home }
  /// The user of a home in machine-wide mode, who can write any id into it, and name any device; nil
  /// for root's, and for a home that its user chose.
  private var user: Account? { home.owner.flatMap { $0.isRoot ? nil : $0 } }

  /// Makes a catalog.
  package init(_ context: ReadingContext) { self.context = context }

  /// How much a server's clock may differ from ours without hiding a session.
  private static let clockSlack = Duration.days(1)

  /// The same as ``search(limit:devices:includesLocal:activeSince:ofDay:including:)``, without what
  /// was passed over.
  package func entries(
    limit: Int = .max, devices: [String], includesLocal: Bool = true,
    activeSince since: Timestamp? = nil, including isWanted: (SessionID) -> Bool = { _ in true }
  ) async throws -> [Entry] {
    try await search(
      limit: limit, devices: devices, includesLocal: includesLocal, activeSince: since,
      including: isWanted
    ).entries
  }

  /// Finds sessions.
  ///
  /// - Parameters:
  ///   - limit: maximum number; days are listed from the newest on until there are enough.
  ///   - devices: ids to search remotely. If this device's is one of them, a local session is also
  ///     searched where its sidecar says that it was sealed, under whichever id.
  ///   - includesLocal: whether to include this machine's sessions.
  ///   - since: excludes sessions that have not grown since then; nil for none.
  ///   - isWantedDay: which days to search.
  ///   - isWanted: which sessions to include.
  /// - Throws: errors of the store and of the local files.
  package func search(
    limit: Int = .max, devices: [String], includesLocal: Bool = true,
    activeSince since: Timestamp? = nil,
    ofDay isWantedDay: (String) -> Bool = { _ in true },
    including isWanted: (SessionID) -> Bool = { _ in true }
  ) async throws -> Findings {
    var folders: [SessionFolder] = []
    if let store = context.store {
      folders = try await SessionFolder.all(of: devices, in: store)
    }
    let localDays = includesLocal ? try home.days() : []
    let days = Set(folders.map(\.day)).union(localDays).filter(isWantedDay).sorted(by: >)
    var found = Findings()
    for day in days where found.entries.count < limit {
      found.add(
        try await search(
          day, folders: folders.filter { $0.day == day },
          local: localDays.contains(day) ? try home.sessions(day: day) : [],
          limit: limit - found.entries.count, activeSince: since,
          followsSeals: devices.contains(context.device.deviceId) && user == nil,
          including: isWanted))
    }
    return found
  }

  private func search(
    _ day: String, folders: [SessionFolder], local: [SessionID], limit: Int,
    activeSince since: Timestamp?, followsSeals: Bool, including isWanted: (SessionID) -> Bool
  ) async throws -> Findings {
    var copies = try await RemoteCopies(
      in: context.store, folders, device: context.device, followsSeals: followsSeals)
    var remotes = copies.all
    let here = Set(local)
    if let since {
      // An object is written after its content, by a clock that may differ from ours.
      let oldest = since.assumingSynchronizedClocks - Self.clockSlack
      for (id, all) in copies.all where !here.contains(id) {
        let recent = all.filter { remote in remote.newest.map { $0 >= oldest } ?? true }
        remotes[id] = recent.isEmpty ? nil : recent
      }
    }
    var rest = here.union(remotes.keys).filter(isWanted).sorted(by: >)[...]
    var found = Findings()
    while found.entries.count < limit, !rest.isEmpty {
      // If sidecars exclude sessions, read several at a time.
      let missing = limit - found.entries.count
      let batch = Self.newest(since == nil ? missing : max(missing, Self.batch), of: rest)
      rest = rest.dropFirst(batch.count)
      var more = try await read(batch, here: here, remotes: remotes, &copies)
      if let since { more.entries.removeAll { $0.lastActivity < since } }
      found.add(more)
    }
    // An id has the second of the start, a sidecar its millisecond.
    found.entries.sort {
      ($0.sidecar.startedAt, $0.session, $1.device) > ($1.sidecar.startedAt, $1.session, $0.device)
    }
    found.entries = Array(found.entries.prefix(limit))
    return found
  }

  /// Number of sessions whose sidecars are read together.
  private static let batch = 32

  /// The first ids, up to a number, and all others of the last one's second.
  private static func newest(
    _ count: Int, of ids: ArraySlice<SessionID>
  ) -> ArraySlice<SessionID> {
    // An id begins with its second: 20260122t143005z-.
    guard let last = ids.prefix(count).last?.description.prefix(17) else { return [] }
    return ids.prefix { $0.description.prefix(17) >= last }
  }

  /// Reads the sidecars of sessions.
  ///
  /// A local session and the copy that its home sent are one entry, and so are the copies under the
  /// ids of this home, unless they are separate. Any other device's copy is an entry of its own.
  private func read(
    _ ids: ArraySlice<SessionID>, here: Set<SessionID>, remotes: [SessionID: [RemoteSession]],
    _ copies: inout RemoteCopies
  ) async throws -> Findings {
    var found = Findings()
    var away: [RemoteSession] = []
    for id in ids {
      var rest = remotes[id] ?? []
      if here.contains(id) {
        let (sidecar, _) = try LocalSession(home, id).sidecar(device: context.device)
        let own = try await copies.own(id, sidecar)
        var remote: RemoteSession?
        for copy in own where remote == nil {
          if try await isOwn(copy) { remote = copy }
        }
        if let entry = try localEntry(id, sidecar, remote: remote) {
          found.entries.append(entry)
          let merged = isSeparate(id) ? own.filter { $0.folder == remote?.folder } : own
          let folders = Set(merged.map(\.folder))
          rest.removeAll { folders.contains($0.folder) }
        }
      }
      away += rest
    }
    let ownDevices = Set(context.device.ids)
    var own: [SessionID: Entry] = [:]
    var ownPassedOver: Set<SessionID> = []
    for (remote, finding) in zip(away, try await away.concurrentMap(finding)) {
      let isOwn = ownDevices.contains(remote.folder.device)
      switch finding {
      case .entry(let entry):
        if !isOwn || isSeparate(remote.session) {
          found.entries.append(entry)
        } else if own[remote.session].map({ entry.isBetter(than: $0) }) ?? true {
          own[remote.session] = entry
        }
      case .passedOver:
        if isOwn {
          ownPassedOver.insert(remote.session)
        } else {
          found.passedOver.insert(remote.session)
        }
      case .none: break
      }
    }
    found.entries += own.values
    found.passedOver.formUnion(ownPassedOver.filter { own[$0] == nil })
    return found
  }

  /// Whether a session in the store was sent from this home, or may have been.
  private func isOwn(_ remote: RemoteSession) async throws -> Bool {
    guard let user, let store = context.store else { return true }
    guard context.device.ids.contains(remote.folder.device) else { return false }
    return try await RemoteReader(store, knowing: context.keys).user(of: remote)?.id == user.id
  }

  private func localEntry(
    _ id: SessionID, _ found: Sidecar, remote: RemoteSession?
  ) throws -> Entry? {
    let local = LocalSession(home, id)
    var sidecar = found
    sidecar.consent = try local.saidConsent(sidecar) == .metadata ? .metadata : nil
    if let redactor = context.redactor { sidecar = sidecar.masked(by: redactor) }
    // An unreadable log must not hide the other sessions.
    let log = try? local.openLog(sidecar.source)
    guard log != nil || local.hasSidecar else { return nil }
    let (length, modified) =
      try log?.status() ?? (sidecar.seal?.length ?? 0, sidecar.lastUpdatedAt)
    var isRunning = false
    if sidecar.status == .active {
      if let verdict = try local.verdict(
        sidecar, machine: context.machine, now: context.now(), modified: modified)
      {
        sidecar.status = verdict.status
        sidecar.cause = verdict.cause
        sidecar.endedAt = verdict.endedAt
      } else {
        isRunning = try FileLock.tryExclusive(local.files.lock) == nil
      }
    }
    let known = try remote == nil && context.store != nil ? context.uploaded(id) : nil
    let uploaded =
      remote.map { min($0.mark, length) } ?? known ?? sidecar.seal.map(\.length) ?? .zero
    let isRemote = remote != nil || (context.store == nil && sidecar.seal != nil)
    return Entry(
      session: id, sidecar: sidecar, location: isRemote ? .both : .local, length: length,
      uploaded: uploaded, isRunning: isRunning, lastActivity: modified, remote: remote,
      hasLocalLog: try log?.available().lowerBound == 0 && length >= sidecar.seal?.length ?? 0)
  }

  private func finding(_ remote: RemoteSession) async throws -> RemoteFinding {
    guard let store = context.store else { return .none }
    guard let revision = remote.revision else { return try await undescribed(remote, store) }
    let sidecar: Sidecar
    var remote = remote
    var isRejected = false
    do {
      let accepted = try await RemoteReader(store, knowing: context.keys).accept(remote)
      sidecar = accepted.sidecar ?? reconstructed(remote, revision.status)
      // Reading the log fetches the revision again, and reports its damage.
      remote = (try? accepted.session()) ?? remote
    } catch is ReplicaError {
      sidecar = reconstructed(remote, revision.status)
      isRejected = true
    }
    if let user {
      // The number may be somebody else's: on another machine, or of a user who is gone.
      let isTheirs =
        sidecar.uid == user.id && sidecar.userId == user.name
        && context.device.ids.contains(remote.folder.device)
      guard isTheirs else { return .none }
    }
    // Shown to a person, and compared with the requested time: a clock difference can only move a
    // session in or out of a listing.
    let modified = remote.newest?.assumingSynchronizedClocks ?? sidecar.lastUpdatedAt
    return .entry(
      Entry(
        session: remote.session, sidecar: sidecar, location: .remote,
        length: max(
          revision.length, remote.mark,
          sidecar.withholdsLog ? StreamOffset(sidecar.fileSizeBytes) : .zero),
        uploaded: remote.mark, isRunning: false,
        lastActivity: modified, remote: remote, hasLocalLog: false, isRejected: isRejected))
  }

  /// The sessions of devices that have log bytes in the store, but no revision, by their names alone.
  ///
  /// - Parameter known: sessions that are none of these, whatever the store has of them.
  /// - Throws: ``ObjectStore/StoreError``.
  package func undescribed(
    of devices: [String], besides known: Set<SessionID>
  ) async throws -> Set<SessionID> {
    guard user == nil, let store = context.store else { return [] }
    var found: Set<SessionID> = []
    try await FolderListing.forEach(of: devices, in: store) { listing in
      for remote in listing.sessions.values
      where remote.revision == nil && !known.contains(remote.session) && hasSettled(remote)
        && !remote.segments.isEmpty
      {
        found.insert(remote.session)
      }
    }
    return found
  }

  /// Whether a session without a revision is not being sent at this moment, as far as is known.
  private func hasSettled(_ remote: RemoteSession) -> Bool {
    // Shown to a person, like any age in a listing.
    let modified = remote.newest?.assumingSynchronizedClocks
    return modified.map { context.now() - $0 >= leastAge } ?? true || leastAge == .zero
  }

  /// A session that has log bytes, but not the revision that its device signs.
  private func undescribed(
    _ remote: RemoteSession, _ store: any ObjectStore
  ) async throws -> RemoteFinding {
    guard user == nil, hasSettled(remote) else { return .none }
    guard includesUndescribed else { return remote.segments.isEmpty ? .none : .passedOver }
    do {
      _ = try await RemoteReader(store, knowing: context.keys).accept(remote)
      return .none
    } catch is ReplicaError {
      return .entry(
        Entry(
          session: remote.session, sidecar: reconstructed(remote, .active), location: .remote,
          length: remote.mark, uploaded: remote.mark, isRunning: false,
          lastActivity: remote.newest?.assumingSynchronizedClocks ?? remote.session.startedAt,
          remote: remote, hasLocalLog: false, isRejected: true))
    }
  }

  private func reconstructed(_ remote: RemoteSession, _ status: SessionStatus) -> Sidecar {
    Sidecar.reconstructed(
      id: remote.session, device: context.device, owner: remote.folder.device, status: status)
  }
}
