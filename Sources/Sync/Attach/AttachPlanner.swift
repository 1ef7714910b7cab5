import Logging
import Platform
import SessionLog

/// Plans a pass over attached files.
struct AttachPlanner {
  let context: SyncContext
  let sources: [LogSource]
  let files: AttachedFiles
  /// How much may be compared whole.
  let budget = ComparisonBudget()

  /// Attempts to observe the folders without a rename in between.
  private static let attempts = 4

  /// Observes again after a rotation during the observation, or an apparent loss.
  ///
  /// A loss counts if two consecutive, undisturbed observations find it. Where rotations follow one
  /// another without pause, the affected files are left to the next pass.
  func plan() throws -> AttachPlan {
    var last: AttachObservation?
    var proven: Set<SessionID> = []
    for _ in 0..<Self.attempts {
      proven = last?.undisturbedLosses ?? []
      last = try observe()
      guard let last, last.disturbed.isEmpty, last.losses.keys.allSatisfy(proven.contains) else {
        continue
      }
      return last.plan
    }
    guard let last else { return try nothing() }
    let doubtful = last.losses.filter { !proven.contains($0.key) }.values
    return plan(of: last, without: last.disturbed.union(doubtful))
  }

  /// Observes once; nil if a file was renamed or removed meanwhile.
  private func observe() throws -> AttachObservation? {
    do {
      return try AttachObservation.observe(for: self)
    } catch let error as SystemError where error.isNotFound {
      context.logger.info("attached files changed during the scan, scanning again: \(error)")
      return nil
    }
  }

  /// A plan that leaves everything to the next pass.
  ///
  /// - Parameter error: why, if that is a problem.
  func nothing(because error: SystemError? = nil) throws -> AttachPlan {
    var plan = AttachPlan()
    plan.problems = try files.problems()
    if let error { plan.problems[error.path] = .unreadable(error.reason) }
    plan.pass = try files.pass()
    plan.pass.since = .epoch
    return plan
  }

  private func plan(
    of observation: AttachObservation, without folders: Set<String>
  ) -> AttachPlan {
    var plan = observation.plan
    guard !folders.isEmpty else { return plan }
    // Growth in place has no new path and stays: who renames others all the time cannot hold it back.
    plan.changes.removeAll { change in
      change.path.map { folders.contains(AttachedFile.folder(of: $0)) } ?? false
    }
    plan.pass.since = .epoch
    return plan
  }
}
