import ObjectStore
import Platform
import SessionLog
import Sync

extension UploadPass {
  /// Finds new bytes in the logs of other programs.
  ///
  /// - Returns: paths that cannot be read, with the reason; none unless logs may be sent.
  func attach(holding lock: HomeLock, _ observe: Observer) throws -> [String: String] {
    // Keep following files that were attached before, until they are gone.
    guard !policy.sources.isEmpty || Attacher.hasRemembered(context.home) else { return [:] }
    let attacher = try Attacher(context, sources: policy.sources)
    let new = try attacher.execute(attacher.plan(holding: lock), holding: lock)
    for (path, reason) in new.sorted(by: { $0.key < $1.key }) {
      observe(.unreadable(path: path, reason: reason))
    }
    // Otherwise none of their bytes is to be sent.
    return context.consent == .logs ? try attacher.unreadable() : [:]
  }

  /// Deletes old local copies that are proven remote.
  ///
  /// - Parameter room: bytes to free regardless of age; nil for none.
  func reapLocal(
    holding lock: HomeLock, making room: ByteCount? = nil, _ report: inout UploadPassReport,
    _ observe: Observer
  ) async throws {
    let reaper = LocalReaper(context)
    var retention = policy.retention
    retention.room = room
    let plan = try await reaper.plan(retention)
    if let postponement = plan.postponement { observe(.postponed(postponement)) }
    report.withoutCopy.formUnion(plan.withoutCopy)
    for outcome in reaper.execute(plan, retention, holding: lock) {
      if let error = outcome.error {
        observe(.kept("cannot remove \(outcome.what): \(error)"))
      } else {
        report.reaped += 1
      }
    }
  }

  /// Time between two searches for expired remote copies.
  private static let remoteInterval = Duration.days(1)

  /// Deletes expired remote copies, if the last search was a day ago.
  func reapRemote(
    holding lock: HomeLock, _ report: inout UploadPassReport, _ observe: Observer
  ) async throws {
    let last = try context.storeEntry().remoteReapAt ?? Timestamp(milliseconds: 0)
    guard context.now() - last >= Self.remoteInterval, try isResponsible() else { return }
    let reaper = RemoteReaper(
      context, devices: [context.device.deviceId], openElsewhere: policy.openElsewhere)
    let plan = try await reaper.plan(policy.retention, skipsRecent: true)
    if let postponement = plan.postponement { observe(.postponed(postponement)) }
    report.withoutCopy.formUnion(plan.withoutCopy)
    if let notice = policy.retention.warnBefore, !plan.expiring.isEmpty {
      observe(.expiring(plan.expiring, within: notice))
    }
    var spared: Set<SessionID> = []
    _ = try await reaper.execute(plan, holding: lock) { spared.insert($0.session) }
    report.reaped += plan.remote.count { !spared.contains($0.session) }
    var entry = try context.storeEntry()
    entry.remoteReapAt = context.now()
    try context.manifest.save(entry)
  }

  /// Whether this home carries out the store's retention.
  private func isResponsible() throws -> Bool {
    switch policy.reapsRemote {
    case .always: true
    // The cache, which knows the last success, may be lost.
    case .onceUsed: try UsedStores.load(context.home).contains(context.store.location)
    case .never: false
    }
  }

  /// Deletes old rotated parts that are proven remote, of sessions that stay.
  func prune(holding lock: HomeLock, _ observe: Observer) async throws {
    let pruner = PartPruner(context)
    let plan = try await pruner.plan(policy.retention)
    for outcome in pruner.execute(plan, holding: lock) {
      guard let error = outcome.error else { continue }
      observe(.kept("cannot remove \(outcome.what): \(error)"))
    }
  }

  /// Whether to report a failure of the store: without a terminal, an unreachable store once it is
  /// stale, and every failure once an hour.
  func isReportDue(_ error: (any Error)?) throws -> Bool {
    guard let error else { return false }
    guard !policy.isWatched else { return true }
    let failure = error as? StoreError
    // Reaching the user's request limit is not a failure.
    if failure?.code == .exhausted { return false }
    var entry = try context.storeEntry()
    let now = context.now()
    if failure?.isTransient == true,
      !entry.isStale(after: policy.staleAfter, at: now, waits: true)
    {
      return false
    }
    let last = entry.lastTold ?? Timestamp(milliseconds: 0)
    guard now - last >= UploadPolicy.reportInterval else { return false }
    entry.lastTold = now
    try context.manifest.save(entry)
    return true
  }
}
