import Logging
package import ObjectStore
import Platform
import Replica
import SessionLog

/// The remote side of retention: deletes sessions that are old by the server's clock and by their
/// sidecar.
package struct RemoteReaper: Sendable {
  let context: SyncContext
  private let devices: [String]
  private let elsewhere: OpenSessions

  /// Makes a reaper for these devices' sessions.
  ///
  /// - Parameter elsewhere: sessions that other homes of this machine have open.
  package init(
    _ context: SyncContext, devices: [String], openElsewhere elsewhere: OpenSessions = .none
  ) {
    (self.context, self.devices, self.elsewhere) = (context, devices, elsewhere)
  }

  /// The devices that have a folder in a store, sorted.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  package static func devices(in store: any ObjectStore) async throws -> [String] {
    let key = SessionFolder.devicesKey
    return try await store.listAll(key).directories.map {
      String($0.dropFirst(key.count).dropLast())
    }
    .filter(Device.isID).sorted()
  }

  /// Plans.
  ///
  /// Callers have checked that a folder is the intended store, with ``SyncContext/checkFolder()``: an
  /// upload does so before it sends, `reap` before it plans. A plan does not ask for the marker
  /// again, as that is a request more, and as it needs no marker to be safe: it removes what it finds
  /// listed and expired, and what is missing in a listing is evidence of nothing. A share that is not
  /// mounted, or an emptied folder, gives an empty plan.
  ///
  /// - Parameters:
  ///   - retention: how long sessions are kept.
  ///   - skipsRecent: whether to skip folders of days in which nothing can be old enough; their
  ///     sessions are then not listed as kept.
  /// - Throws: ``ObjectStore/StoreError``, ``ReplicaError``.
  package func plan(_ retention: Retention, skipsRecent: Bool = false) async throws -> ReapPlan {
    var plan = ReapPlan()
    let now = context.now()
    let youngest = min(retention.remote, Retention.leftoverAge)
    let limit = (now - youngest).day
    // A day in the future comes from a wrong clock: the server's dates decide its age.
    let isRecent = { (folder: SessionFolder) in folder.day > limit && folder.day <= now.day }
    var rewritten: [RemoteSession] = []
    try await FolderListing.forEach(
      of: devices, in: context.store, where: { !skipsRecent || !isRecent($0) }
    ) { listing in
      // If the store sends no date, this machine's clock is the only one. That is as safe as a
      // local age: no object counts as older than the time this home has lived since, unless a
      // person named the age or trusts the clock.
      let serverNow = listing.serverDate ?? now.assumingSynchronizedClocks
      context.lived.recordServerDate(
        serverNow, from: context.store, isServers: listing.serverDate != nil)
      for remote in listing.sessions.values.sorted(by: { $0.session < $1.session }) {
        try await decide(remote, Ages(serverNow, retention, context), retention, &plan)
        if isRewritten(remote) { rewritten.append(remote) }
      }
    }
    plan.withoutCopy.formUnion(try withoutBasis(rewritten))
    let bold = BoldPlan(
      count: plan.remote.count, total: plan.remote.count + plan.kept.count, side: "remote")
    // Sessions in skipped folders count too.
    if skipsRecent && bold.isBold { return try await self.plan(retention) }
    let key = (["remote"] + devices.filter { $0 != context.device.deviceId }).joined(separator: " ")
    plan.postponement = bold.postponement(context.lived, key, retention)
    if plan.postponement != nil {
      plan.kept += plan.remote.map {
        .init(session: $0.session, reason: "\($0.explanation); put off with most others")
      }
      plan.remote = []
    }
    plan.log(to: context.logger, side: "remote")
    return plan
  }

  /// Ages of remote sessions, by trustworthy clocks only.
  private struct Ages {
    let serverNow: ServerTime
    let countsLivedTime: Bool
    let context: SyncContext

    init(_ serverNow: ServerTime, _ retention: Retention, _ context: SyncContext) {
      self.serverNow = serverNow
      self.context = context
      countsLivedTime = retention.countsLivedTime && !retention.trustsServerClock
    }

    /// Time since something was written, in whole seconds, with the age as text for a person.
    func age(since written: ServerTime) -> (age: Duration, text: String) {
      let said = (serverNow - written).inWholeSeconds
      guard countsLivedTime else {
        let text = said < .zero ? "dated \(Age.text(.zero - said)) ahead" : "\(Age.text(said)) old"
        return (said, text)
      }
      guard let lived = context.lived.age(since: written, in: context.store) else {
        return (.zero, "from a time that has not come yet, or from a clock that was never set")
      }
      guard lived < said else { return (said, "\(Age.text(said)) old") }
      let much = said - lived > .hours(1)
      let doubt =
        much ? " by the server's clock, of which this home has lived \(Age.text(lived))" : ""
      return (lived, "\(Age.text(said)) old\(doubt)")
    }
  }

  private func decide(
    _ remote: RemoteSession, _ ages: Ages, _ retention: Retention, _ plan: inout ReapPlan
  ) async throws {
    guard let newest = remote.newest else {
      return plan.keep(remote, "the server does not tell when it was written")
    }
    let local = LocalSession(context.home, remote.session)
    let own = try? Sidecar.load(local.files.sidecar)
    // The proof of a local session is checked when it is to be deleted; of one that is gone, only the
    // review of seals knows whether this home proved it.
    if own == nil, !remote.isWhole { plan.withoutCopy.insert(remote.session) }
    var (age, text) = ages.age(since: newest)
    // For its own seal, this home knows better than a date from a clock that was not set.
    if retention.countsLivedTime, age >= min(retention.remote, Retention.leftoverAge),
      let seal = own ?? trashed(remote.session), let mark = seal.agesFrom,
      let sealed = context.lived.time.age(since: mark), sealed < age
    {
      (age, text) = (sealed, "\(text), and sealed \(Age.text(sealed)) ago")
    }
    let isOpen = try own.map { $0.seal == nil } ?? (local.hasSidecar || local.logBytes() > 0)
    let holds = Holds(context.home)
    /// Announces that a session is going to expire that is kept now.
    func announce(_ plan: inout ReapPlan) {
      guard let notice = retention.warnBefore, own == nil, age >= retention.remote - notice,
        !remote.isHeld(at: ages.serverNow + notice),
        !holds.isHeld(remote.session, at: context.lived.time, for: notice)
      else { return }
      plan.expiring.append(remote.session)
    }
    do {
      if let hold = remote.holds.first(where: { $0.holds(at: ages.serverNow) }) {
        announce(&plan)
        throw Doubt("on hold until \(hold.day)")
      }
      guard !holds.isHeld(remote.session, at: context.lived.time) else {
        announce(&plan)
        throw Doubt("'tidemark keep' keeps it")
      }
      guard let revision = remote.revision else {
        guard own == nil else {
          throw Doubt(
            "no sidecar, but this home has the session; 'tidemark verify --repair' mends it")
        }
        let evidence = try Evidence.expired(
          remotely: age, limit: max(retention.remote, Retention.leftoverAge),
          "no sidecar, and newest object is \(text)",
          isOpen: isOpen || elsewhere.mayHave(remote.session, of: nil))
        return plan.remote.append(.init(remote, evidence: evidence, reason: ""))
      }
      guard age >= retention.remote else {
        plan.keep(remote, "newest object is \(text)")
        announce(&plan)
        if age > Retention.leftoverAge { try sweep(remote, own, &plan) }
        return
      }
      let sidecar: Sidecar
      do {
        sidecar = try await context.reader.read(revision, in: remote.folder)
      } catch let error as ReplicaError {
        throw Doubt("its sidecar cannot be read: \(error)")
      }
      let evidence = try Evidence.expired(
        remotely: age, limit: retention.remote, "newest object is \(text)",
        isOpen: isOpen || elsewhere.mayHave(remote.session, of: sidecar.userId))
      let said = sidecar.endedAt ?? sidecar.lastUpdatedAt
      let saidAge = (context.now() - said).inWholeSeconds
      // A date in the future proves nothing: the recorder's clock was wrong.
      if saidAge >= .zero && saidAge < retention.remote {
        throw Doubt("its sidecar says that it lived \(Age.text(saidAge)) ago")
      }
      plan.remote.append(.init(remote, evidence: evidence, reason: ""))
    } catch let doubt as Doubt {
      plan.keep(remote, doubt.reason)
    }
  }

  /// Whether only this device's ledger may know what the stream, or a former one, needs of earlier
  /// generations.
  private func isRewritten(_ remote: RemoteSession) -> Bool {
    remote.folder.device == context.device.deviceId && remote.seal?.generation ?? 1 > 1
      && !LocalSession(context.home, remote.session).hasSidecar
  }

  /// The sessions that lack a segment of an earlier generation that their local copies were deleted
  /// upon; reads the ledger if there are any sessions.
  private func withoutBasis(_ sessions: [RemoteSession]) throws -> [SessionID] {
    let basis = try DeletionLedger(context.home).basis(of: Set(sessions.map(\.session)))
    return sessions.filter { !$0.fileNames.isSuperset(of: basis[$0.session] ?? []) }
      .map(\.session)
  }

  /// The sidecar of a session in this home's trash.
  private func trashed(_ session: SessionID) -> Sidecar? {
    (try? Trash(context.home).sidecarPath(of: session)).flatMap { try? Sidecar.load($0) }
  }

  /// Plans the deletion of objects that an earlier sweep left of a session that stays.
  private func sweep(
    _ remote: RemoteSession, _ own: Sidecar?, _ plan: inout ReapPlan
  ) throws {
    // Anyone with write access may have put a seal there: only this home's own counts.
    guard let seal = remote.seal, let own, own.isSealed(by: seal, in: context.store.location)
    else { return }
    let put = try context.manifest.putNames(of: remote.session)
    let (keys, evidence, _) = Evidence.replaced(in: remote, by: own, put: put)
    guard let evidence else { return }
    plan.superseded.append(
      .init(
        remote, keys: keys, evidence: evidence,
        reason: "its seal has made \(Plural.text(keys.count, "object")) obsolete"))
  }
}
