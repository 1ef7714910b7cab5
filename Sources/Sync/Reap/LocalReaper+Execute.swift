import Platform
import Replica
package import SessionLog

extension LocalReaper {
  /// Carries out the local part of a plan, empties the trash, removes files of the home that killed
  /// processes left, and starts the age of sessions without one.
  ///
  /// - Parameters:
  ///   - plan: from ``plan(_:)``.
  ///   - retention: how long the trash is kept; sessions deleted to free space skip the trash.
  ///   - lock: the home's lock.
  /// - Returns: one outcome per session, in the plan's order; then one for each other step that
  ///   failed.
  package func execute(
    _ plan: ReapPlan, _ retention: Retention, holding lock: HomeLock
  ) -> [DeletionOutcome] {
    lock.expect(home)
    // Credit the time that this plan's listings confirm before anything enters the trash.
    context?.hearServer()
    for folder in [home.path, home.rulesPath, home.quarantinePath, home.cachePath] {
      AtomicFile.sweep(folder, now: now)
    }
    // Where sessions are sent, their daily review does that, which reads these folders anyway.
    if context == nil { home.sweepDays(at: now) }
    if !plan.undated.isEmpty || !plan.local.isEmpty {
      // Saved before what it dates; on a full disk it is saved with the next pass.
      _ = lived.markToSave()
      try? lived.save(holding: lock)
    }
    for session in plan.undated { date(session) }
    let deleter = context.map(Deleter.init) ?? Deleter(home: home, lived: lived)
    let isShort = space.isShort(in: home.path)
    let trashes = retention.trash > .zero && !isShort
    var outcomes = deleter.deleteLocal(
      plan.local, trashing: { !$0.makesRoom && trashes }, holding: lock)
    // What this pass moved there was proven by it, too.
    let proofs = plan.trash.merging(plan.local.map { ($0.session, $0.evidence) }) { $1 }
    do {
      // Measured once, and only if there is a trash.
      var sessionBytes: ByteCount?
      try deleter.emptyTrash(
        after: retention.trash, on: proofs,
        whereTight: {
          let sessions = try retention.localMax.map { _ in try sessionBytes ?? home.sessionBytes() }
          sessionBytes = sessions
          if try isTooFull(sessions, retention) { return true }
          return isShort && space.isShort(in: home.path)
        }, holding: lock)
    } catch {
      outcomes.append(DeletionOutcome(nil, "what is old in the trash", error))
    }
    do {
      try Holds(home).removeEnded(at: lived.time)
    } catch {
      outcomes.append(DeletionOutcome(nil, "holds that are over", error))
    }
    return outcomes
  }

  /// Whether sessions and the trash together exceed the retention's size limit.
  ///
  /// - Parameter sessions: size of the home's sessions in bytes; nil if there is no limit.
  func isTooFull(_ sessions: ByteCount?, _ retention: Retention) throws -> Bool {
    guard let sessions, let limit = retention.localMax else { return false }
    return try [sessions, Trash(home).bytes()].total > limit
  }

  /// Records when a session's age starts; after a failure, the next pass does it.
  private func date(_ session: SessionID) {
    let path = home.files(for: session).sidecar
    guard var sidecar = try? Sidecar.load(path) else { return }
    sidecar.agesFrom = lived.markToSave()
    try? sidecar.saveForNow(path)
  }
}
