import Foundation
public import ObjectStore
import Replica
import SessionLog

/// The remote side of retention: sessions that are old by the server's clock and by their sidecar.
public struct RemoteReaper: Sendable {
  private let context: SyncContext
  private let devices: [String]

  /// Makes a planner for the sessions of these devices.
  public init(_ context: SyncContext, devices: [String]) {
    self.context = context
    self.devices = devices
  }

  /// The devices that have a folder in a store, in order.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  public static func devices(in store: any ObjectStore) async throws -> [String] {
    let key = SessionFolder.devicesKey
    return try await store.listAll(key).directories.map {
      String($0.dropFirst(key.count).dropLast())
    }
    .filter(SessionFolder.isDevice).sorted()
  }

  /// Clocks further apart than this are not believed without force, in seconds.
  private static let clockTolerance: TimeInterval = 300
  /// A plan for fewer sessions is never refused.
  private static let refusalThreshold = 20

  /// Plans.
  ///
  /// - Parameters:
  ///   - retention: how long sessions are kept.
  ///   - skipsRecent: whether folders of days are left alone in which nothing is old enough yet; what
  ///     they hold is then not among what is kept.
  /// - Throws: ``ObjectStore/StoreError``, ``ReplicaError``.
  public func plan(_ retention: Retention, skipsRecent: Bool = false) async throws -> ReapPlan {
    var plan = ReapPlan()
    let now = context.now()
    let youngest = min(retention.remote, Retention.orphanAge)
    let limit = Timestamp(milliseconds: now.milliseconds - youngest * 1000).day
    // A day that has not come yet is that of a wrong clock: the server's tells how old it is.
    let isRecent = { (folder: SessionFolder) in folder.day > limit && folder.day <= now.day }
    var clockDifference: TimeInterval = 0
    try await FolderListing.forEach(
      of: devices, in: context.store, where: { !skipsRecent || !isRecent($0) }
    ) { listing in
      let serverNow = listing.serverDate ?? now.date
      clockDifference = max(clockDifference, abs(serverNow.timeIntervalSince(now.date)))
      for remote in listing.sessions.values.sorted(by: { $0.session < $1.session }) {
        try await decide(remote, serverNow, now, retention, &plan)
      }
    }
    let seen = plan.remote.count + plan.kept.count
    let isBold = plan.remote.count * 2 > seen && seen >= Self.refusalThreshold
    let isDoubtful = clockDifference > Self.clockTolerance
    if isBold && (isDoubtful || retention.remote < 86_400) {
      // What was left alone counts too.
      if skipsRecent { return try await self.plan(retention) }
      let cause =
        isDoubtful
        ? "our clock and the server's differ by \(Int(clockDifference)) s"
        : "the age asked for is under a day"
      plan.refusal =
        "refused to delete \(plan.remote.count) of \(seen) remote sessions: \(cause). "
        + "Look at it with --dry-run --explain, then use --force."
    }
    return plan
  }

  private func decide(
    _ remote: RemoteSession, _ serverNow: Date, _ now: Timestamp, _ retention: Retention,
    _ plan: inout ReapPlan
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
    let age = Int64(serverNow.timeIntervalSince(newest))
    guard let revision = remote.revision else {
      if age > Retention.orphanAge {
        plan.remote.append(decision("no sidecar, and newest object is \(Age.text(age)) old"))
      } else {
        plan.kept.append(decision("no sidecar yet, newest object is \(Age.text(age)) old"))
      }
      return
    }
    guard age >= retention.remote else {
      plan.kept.append(decision("newest object is \(Age.text(age)) old"))
      if age > Retention.orphanAge { try await sweep(remote, &plan) }
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
    let saidAge = (now.milliseconds - said.milliseconds) / 1000
    // A time in the future says nothing: the recorder's clock was wrong.
    if saidAge >= 0 && saidAge < retention.remote {
      plan.kept.append(decision("its sidecar says that it lived \(Age.text(saidAge)) ago"))
    } else {
      plan.remote.append(decision("newest object is \(Age.text(age)) old"))
    }
  }

  /// Plans to delete what the pass that sealed a session should have been followed by.
  private func sweep(_ remote: RemoteSession, _ plan: inout ReapPlan) async throws {
    guard !isOpenHere(remote) else { return }
    let keys: [String]
    do {
      keys = try await remote.superseded(in: context.store)
    } catch is ReplicaError {
      // A seal that cannot be read is the verifier's; until it can be, everything stays.
      return
    }
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
  public func execute(_ plan: ReapPlan) async throws -> [DeleteOutcome] {
    var outcomes = try await context.store.delete(plan.superseded.flatMap(\.keys))
    for decision in plan.remote {
      outcomes += try await context.store.delete(decision.keys)
      if outcomes.suffix(decision.keys.count).allSatisfy({ $0.error == nil }) {
        try LocalSession(context.home, decision.session).noteRemoteRemoval(at: context.now())
      }
    }
    return outcomes
  }
}

extension LocalSession {
  /// Remembers that the remote copy is gone on purpose, so that age alone decides here.
  func noteRemoteRemoval(at now: Timestamp) throws {
    guard hasSidecar, var sidecar = try? Sidecar.load(files.sidecar) else { return }
    sidecar.remoteReapedAt = now
    try sidecar.save(files.sidecar)
  }
}
