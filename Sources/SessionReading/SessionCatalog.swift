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
  private var leastAge = Duration.hours(1)
  /// Sessions that have log bytes in the store, but no revision, and were not included so far.
  package let passedOver = Guarded<Set<SessionID>>([])
  private var home: Home { context.home }
  /// The user of a home in machine-wide mode, who can write any id into it, and name any device; nil
  /// for root's, and for a home that its user chose.
  private var user: Account? { home.owner.flatMap { $0.isRoot ? nil : $0 } }

  /// Makes a catalog.
  package init(_ context: ReadingContext) { self.context = context }

  /// How much a server's clock may differ from ours without hiding a session.
  private static let clockSlack = Duration.days(1)

  /// Sessions, newest first.
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
  package func entries(
    limit: Int = .max, devices: [String], includesLocal: Bool = true,
    activeSince since: Timestamp? = nil,
    ofDay isWantedDay: (String) -> Bool = { _ in true },
    including isWanted: (SessionID) -> Bool = { _ in true }
  ) async throws -> [Entry] {
    var folders: [SessionFolder] = []
    if let store = context.store {
      folders = try await SessionFolder.all(of: devices, in: store)
    }
    let localDays = includesLocal ? try home.days() : []
    let days = Set(folders.map(\.day)).union(localDays).filter(isWantedDay).sorted(by: >)
    var entries: [Entry] = []
    for day in days where entries.count < limit {
      entries += try await self.entries(
        of: day, folders: folders.filter { $0.day == day },
        local: localDays.contains(day) ? try home.sessions(day: day) : [],
        limit: limit - entries.count, activeSince: since,
        followsSeals: devices.contains(context.device.deviceId) && user == nil,
        including: isWanted)
    }
    return entries
  }

  private func entries(
    of day: String, folders: [SessionFolder], local: [SessionID], limit: Int,
    activeSince since: Timestamp?, followsSeals: Bool, including isWanted: (SessionID) -> Bool
  ) async throws -> [Entry] {
    var copies = try await RemoteCopies(
      in: context.store, folders, own: followsSeals ? context.device : nil)
    var remotes = copies.chosen
    let here = Set(local)
    if let since {
      // An object is written after its content, by a clock that may differ from ours.
      let oldest = since.assumingSynchronizedClocks - Self.clockSlack
      remotes = remotes.filter { id, remote in
        here.contains(id) || remote.newest.map { $0 >= oldest } ?? true
      }
    }
    var rest = here.union(remotes.keys).filter(isWanted).sorted(by: >)[...]
    var found: [Entry] = []
    while found.count < limit, !rest.isEmpty {
      // If sidecars exclude sessions, read several at a time.
      let missing = limit - found.count
      let batch = Self.newest(since == nil ? missing : max(missing, Self.batch), of: rest)
      rest = rest.dropFirst(batch.count)
      found += try await self.entries(of: batch, here: here, remotes: remotes, &copies)
        .filter { entry in since.map { entry.lastActivity >= $0 } ?? true }
    }
    // An id has the second of the start, a sidecar its millisecond.
    return Array(
      found.sorted { ($0.sidecar.startedAt, $0.session) > ($1.sidecar.startedAt, $1.session) }
        .prefix(limit))
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

  private func entries(
    of ids: ArraySlice<SessionID>, here: Set<SessionID>, remotes: [SessionID: RemoteSession],
    _ copies: inout RemoteCopies
  ) async throws -> [Entry] {
    var entries: [SessionID: Entry] = [:]
    for id in ids where here.contains(id) {
      let (sidecar, _) = try LocalSession(home, id).sidecar(device: context.device)
      var remote = try await copies.copy(of: id, sidecar)
      if let found = remote, try await !isOwn(found) { remote = nil }
      entries[id] = try localEntry(id, sidecar, remote: remote)
    }
    let away = ids.filter { entries[$0] == nil }
    let fetched = try await away.compactMap { remotes[$0] }.concurrentMap(remoteEntry)
    for entry in fetched.compactMap(\.self) { entries[entry.session] = entry }
    return ids.compactMap { entries[$0] }
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

  private func remoteEntry(_ remote: RemoteSession) async throws -> Entry? {
    guard let store = context.store else { return nil }
    guard let revision = remote.revision else { return try await undescribedEntry(remote, store) }
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
      guard isTheirs else { return nil }
    }
    // Shown to a person, and compared with the requested time: a clock difference can only move a
    // session in or out of a listing.
    let modified = remote.newest?.assumingSynchronizedClocks ?? sidecar.lastUpdatedAt
    return Entry(
      session: remote.session, sidecar: sidecar, location: .remote,
      length: max(
        revision.length, remote.mark,
        sidecar.withholdsLog ? StreamOffset(sidecar.fileSizeBytes) : .zero),
      uploaded: remote.mark, isRunning: false,
      lastActivity: modified, remote: remote, hasLocalLog: false, isRejected: isRejected)
  }

  /// Records as passed over the sessions of devices that have log bytes in the store, but no revision,
  /// by their names alone.
  ///
  /// - Parameter known: sessions that are none of these, whatever the store has of them.
  /// - Throws: ``ObjectStore/StoreError``.
  package func passOverUndescribed(
    of devices: [String], besides known: Set<SessionID>
  ) async throws {
    guard user == nil, let store = context.store else { return }
    try await FolderListing.forEach(of: devices, in: store) { listing in
      for remote in listing.sessions.values
      where remote.revision == nil && !known.contains(remote.session) && hasSettled(remote) {
        passOver(remote)
      }
    }
  }

  private func passOver(_ remote: RemoteSession) {
    guard !remote.segments.isEmpty else { return }
    passedOver.withLock { _ = $0.insert(remote.session) }
  }

  /// Whether a session without a revision is not being sent at this moment, as far as is known.
  private func hasSettled(_ remote: RemoteSession) -> Bool {
    // Shown to a person, like any age in a listing.
    let modified = remote.newest?.assumingSynchronizedClocks
    return modified.map { context.now() - $0 >= leastAge } ?? true || leastAge == .zero
  }

  /// A session that has log bytes, but not the revision that its device signs; nil for any other.
  private func undescribedEntry(
    _ remote: RemoteSession, _ store: any ObjectStore
  ) async throws -> Entry? {
    guard user == nil, hasSettled(remote) else { return nil }
    guard includesUndescribed else {
      passOver(remote)
      return nil
    }
    do {
      _ = try await RemoteReader(store, knowing: context.keys).accept(remote)
      return nil
    } catch is ReplicaError {
      return Entry(
        session: remote.session, sidecar: reconstructed(remote, .active), location: .remote,
        length: remote.mark, uploaded: remote.mark, isRunning: false,
        lastActivity: remote.newest?.assumingSynchronizedClocks ?? remote.session.startedAt,
        remote: remote, hasLocalLog: false, isRejected: true)
    }
  }

  private func reconstructed(_ remote: RemoteSession, _ status: SessionStatus) -> Sidecar {
    Sidecar.reconstructed(
      id: remote.session, device: context.device, owner: remote.folder.device, status: status)
  }

  /// The sessions with a person's ids, which may be shortened.
  ///
  /// Every day is listed at most once, and sidecars are fetched only for these sessions.
  ///
  /// - Returns: one session per id, in their order.
  /// - Throws: ``LookupError``; errors of the store and of the local files.
  package func entries(matching ids: [String], devices: [String]) async throws -> [Entry] {
    try zip(ids, await find(ids, devices: devices)).map { id, entry in
      guard let entry else { throw LookupError.none(id) }
      return entry
    }
  }

  /// The same, with nil for an id that matches none.
  ///
  /// - Throws: ``LookupError`` for one that matches several; errors of the store and of the local
  ///   files.
  package func find(_ ids: [String], devices: [String]) async throws -> [Entry?] {
    guard !ids.isEmpty else { return [] }
    let wanted = try ids.map(ShortenedID.init)
    let days = wanted.map(\.day)
    let named = Set(wanted.compactMap(\.session))
    let shortened = wanted.filter { $0.session == nil }
    var catalog = self
    catalog.leastAge = .zero
    let found = try await catalog.entries(
      devices: devices,
      ofDay: { day in days.contains { $0 == nil || $0 == day } },
      including: { id in named.contains(id) || shortened.contains { $0.matches(id) } })
    return try wanted.map { try $0.choose(from: found) }
  }

  /// The session with one such id.
  ///
  /// - Throws: ``LookupError``; errors of the store and of the local files.
  package func entry(matching id: String, devices: [String]) async throws -> Entry {
    try await entries(matching: [id], devices: devices)[0]
  }

  /// Ids of the devices whose sessions the given ids may mean.
  ///
  /// A session that is not on this machine may be any device's.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  package func devices(for ids: [String]) async throws -> [String] {
    let own = context.device.deviceId
    let areLocal = ids.allSatisfy { id in
      SessionID(id).map { LocalSession(home, $0).hasSidecar } ?? false
    }
    return areLocal ? [own] : try await DeviceRecord.ids(in: context.store, first: own)
  }

  /// Ids, other than the given ones, under which local sessions were sealed in this store: those of a
  /// home that lost its device record.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func sealingDevices(besides known: [String]) throws -> [String] {
    var found: Set<String> = []
    for day in try home.days() {
      for session in try home.sessions(day: day) {
        guard let sidecar = try? Sidecar.load(home.files(for: session).sidecar),
          let seal = sidecar.seal, seal.store == context.store?.location
        else { continue }
        found.insert(sidecar.deviceId)
      }
    }
    return found.subtracting(known).sorted()
  }

  /// The sessions with several ids, to be read from a side; like ``entry(named:on:warn:)`` for
  /// each.
  ///
  /// - Throws: ``LookupError``; errors of the store and of the local files.
  package func entries(
    named ids: [String], on side: SessionReader.Side, warn: (String) -> Void
  ) async throws -> [Entry] {
    var found: [Entry?] = ids.map { _ in nil }
    if side != .remote {
      let whole = ids.indices.filter { SessionID(ids[$0]) != nil }
      let local = try await SessionCatalog(context.withoutStore)
        .find(whole.map { ids[$0] }, devices: [])
      for (index, entry) in zip(whole, local) {
        found[index] = entry.flatMap { sufficient($0, for: side) }
      }
    }
    let rest = ids.indices.filter { found[$0] == nil }
    if let only = rest.first, rest.count == 1 {
      found[only] = try await entry(named: ids[only], on: side, warn: warn)
    } else if !rest.isEmpty {
      let named = rest.map { ids[$0] }
      let entries = try await entries(matching: named, devices: devices(for: named))
      for (index, entry) in zip(rest, entries) { found[index] = entry }
    }
    return found.compactMap(\.self)
  }

  /// A local session if it is read without the store, which may have what a local log lost; else
  /// nil.
  private func sufficient(_ entry: Entry, for side: SessionReader.Side) -> Entry? {
    guard entry.hasLocalLog else { return nil }
    guard side != .local else { return entry }
    var entry = entry
    entry.endOfHoles = endOfHoles(entry)
    return entry.endOfHoles == 0 ? entry : nil
  }

  /// The session with an id, to be read from a side.
  ///
  /// The store is not queried for a session that is complete on this machine. If the id is
  /// shortened, it is queried for other sessions that the id might mean; if that fails, the local
  /// one is used.
  ///
  /// - Parameter warn: called with a line for a person if the store could not be queried.
  /// - Throws: ``LookupError``; errors of the store and of the local files.
  package func entry(
    named id: String, on side: SessionReader.Side, warn: (String) -> Void
  ) async throws -> Entry {
    var local: Entry?
    var ambiguity: LookupError?
    if side != .remote {
      do {
        let found = try await SessionCatalog(context.withoutStore).entry(matching: id, devices: [])
        if found.hasLocalLog { local = found }
      } catch let error as LookupError {
        if case .several = error.code { ambiguity = error }
      }
    }
    if SessionID(id) != nil, let whole = local.flatMap({ sufficient($0, for: side) }) {
      return whole
    }
    do {
      return try await entry(matching: id, devices: devices(for: [id]))
    } catch let error as StoreError where error.code != .cancelled {
      if let ambiguity { throw ambiguity }
      guard let local else { throw error }
      warn("reading the local log: \(error)")
      return local
    }
  }
}
