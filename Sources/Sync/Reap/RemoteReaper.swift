import Foundation
package import ObjectStore
import Platform
import Logging
import Replica
package import SessionLog

/// The remote side of retention: sessions that are old by the server's clock and by their sidecar.
package struct RemoteReaper: Sendable {
  let context: SyncContext
  private let devices: [String]

  /// Makes a planner for the sessions of these devices.
  package init(_ context: SyncContext, devices: [String]) {
    self.context = context
    self.devices = devices
  }

  /// The devices that have a folder in a store, in order.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  package static func devices(in store: any ObjectStore) async throws -> [String] {
    let key = SessionFolder.devicesKey
    return try await store.listAll(key).directories.map {
      String($0.dropFirst(key.count).dropLast())
    }
    .filter(SessionFolder.isDevice).sorted()
  }

  /// Plans.
  ///
  /// - Parameters:
  ///   - retention: how long sessions are kept.
  ///   - skipsRecent: whether folders of days are left alone in which nothing is old enough yet; what
  ///     they hold is then not among what is kept.
  /// - Throws: ``ObjectStore/StoreError``, ``ReplicaError``.
  package func plan(_ retention: Retention, skipsRecent: Bool = false) async throws -> ReapPlan {
    var plan = ReapPlan()
    let now = context.now()
    let youngest = min(retention.remote, Retention.orphanAge)
    let limit = (now - youngest).day
    // A day that has not come yet is that of a wrong clock: the server's tells how old it is.
    let isRecent = { (folder: SessionFolder) in folder.day > limit && folder.day <= now.day }
    try await FolderListing.forEach(
      of: devices, in: context.store, where: { !skipsRecent || !isRecent($0) }
    ) { listing in
      // Where the store sends no date, this machine's clock is the only one to tell ages by. That is as
      // safe as a local age: no object counts as older than this home has lived since, unless a person
      // named the age or trusts the clock.
      let serverNow = listing.serverDate ?? now.assumingSynchronizedClocks
      context.lived.hear(serverNow, from: context.store.location)
      for remote in listing.sessions.values.sorted(by: { $0.session < $1.session }) {
        try await decide(remote, Ages(serverNow, retention, context), retention, &plan)
      }
    }
    let bold = BoldPlan(
      count: plan.remote.count, total: plan.remote.count + plan.kept.count, side: "remote")
    // What was left alone counts too.
    if skipsRecent && bold.isBold { return try await self.plan(retention) }
    let key = (["remote"] + devices.filter { $0 != context.device.deviceId }).joined(separator: " ")
    plan.postponement = bold.postponement(context.lived, key, retention)
    if plan.postponement != nil {
      plan.kept += plan.remote.map { $0.adding("put off with most others") }
      plan.remote = []
    }
    plan.log(to: context.logger, side: "remote")
    return plan
  }

  /// How old remote sessions are, by what may be believed.
  private struct Ages {
    let serverNow: ServerTime
    let countsLivedTime: Bool
    let context: SyncContext

    init(_ serverNow: ServerTime, _ retention: Retention, _ context: SyncContext) {
      self.serverNow = serverNow
      self.context = context
      countsLivedTime = retention.countsLivedTime && !retention.trustsServerClock
    }

    /// Time since something was written, in whole seconds, and what it is taken by.
    func age(since written: ServerTime) -> (age: Duration, text: String) {
      let said = (serverNow - written).inWholeSeconds
      guard countsLivedTime else { return (said, "\(Age.text(said)) old") }
      let time = context.lived.time
      guard let lived = time.age(since: written, by: context.store.location) else {
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
    func decision(_ reason: String) -> ReapPlan.Decision {
      .init(
        session: remote.session, folder: remote.folder, keys: remote.keys,
        bytes: remote.storedBytes, reason: reason)
    }
    guard let newest = remote.newest else {
      plan.kept.append(decision("the server does not tell when it was written"))
      return
    }
    let (age, text) = ages.age(since: newest)
    guard let revision = remote.revision else {
      if LocalSession(context.home, remote.session).hasSidecar {
        plan.kept.append(
          decision("no sidecar, but this home has the session; 'tidemark verify --repair' mends it")
        )
      } else if age > Retention.orphanAge {
        plan.remote.append(decision("no sidecar, and newest object is \(text)"))
      } else {
        plan.kept.append(decision("no sidecar yet, newest object is \(text)"))
      }
      return
    }
    guard age >= retention.remote else {
      plan.kept.append(decision("newest object is \(text)"))
      if age > Retention.orphanAge { sweep(remote, &plan) }
      return
    }
    guard !isOpenHere(remote) else {
      plan.kept.append(decision("it is still open on this device"))
      return
    }
    let sidecar: Sidecar
    do {
      sidecar = try await RemoteReader(context.store).read(revision, in: remote.folder)
    } catch let error as ReplicaError {
      plan.kept.append(decision("its sidecar cannot be read: \(error)"))
      return
    }
    let said = sidecar.endedAt ?? sidecar.lastUpdatedAt
    let saidAge = (context.now() - said).inWholeSeconds
    // A time in the future says nothing: the recorder's clock was wrong.
    if saidAge >= .zero && saidAge < retention.remote {
      plan.kept.append(decision("its sidecar says that it lived \(Age.text(saidAge)) ago"))
    } else {
      plan.remote.append(decision("newest object is \(text)"))
    }
  }

  /// Plans to delete what an earlier sweep has left.
  private func sweep(_ remote: RemoteSession, _ plan: inout ReapPlan) {
    // Anybody who may write to the store may have put a seal there: only this home's own counts.
    guard
      let sidecar = LocalSession(context.home, remote.session).sidecar(sealedBy: remote, context)
    else { return }
    let keys = remote.superseded(by: sidecar).keys
    guard !keys.isEmpty else { return }
    plan.superseded.append(
      .init(
        session: remote.session, folder: remote.folder, keys: keys, bytes: 0,
        reason: "its seal has made \(keys.count) objects superfluous"))
  }

  private func isOpenHere(_ remote: RemoteSession) -> Bool {
    let local = LocalSession(context.home, remote.session)
    guard local.hasSidecar else { return false }
    return (try? Sidecar.load(local.files.sidecar))?.seal == nil
  }

  /// Carries out the remote part of a plan: sidecars before segments, so that what is left after
  /// an interruption is known to be on its way out.
  ///
  /// - Returns: one outcome an object.
  /// - Throws: ``ObjectStore/StoreError`` when the store cannot be asked at all.
  package func execute(
    _ plan: ReapPlan, holding lock: HomeLock
  ) async throws -> [DeleteOutcome] {
    lock.expect(context.home)
    var outcomes = try await context.store.delete(plan.superseded.flatMap(\.keys))
    for decision in plan.remote {
      outcomes += try await context.store.delete(decision.keys)
      if outcomes.suffix(decision.keys.count).allSatisfy({ $0.error == nil }) {
        try LocalSession(context.home, decision.session)
          .noteRemoteRemoval(
            of: decision.keys, in: context.store.location, at: context.now())
      }
    }
    return outcomes
  }
}

extension LocalSession {
  /// Remembers that the remote copy is gone on purpose, so that age alone decides here.
  ///
  /// Only where the very seal went with it that this home put: what lacked it was no whole copy, and
  /// what other devices have under this session's id is theirs.
  func noteRemoteRemoval(of keys: [String], in store: String, at now: Timestamp) throws {
    guard hasSidecar, var sidecar = try? Sidecar.load(files.sidecar) else { return }
    let folder = SessionFolder(device: sidecar.deviceId, session: session)
    if let seal = sidecar.seal {
      guard seal.store == store, keys.contains(folder.key + seal.revision) else { return }
    } else {
      guard keys.allSatisfy({ $0.hasPrefix(folder.key) }) else { return }
    }
    sidecar.remoteReapedAt = now
    try sidecar.save(files.sidecar)
  }
}
