import Logging
import Platform
import SessionLog

/// Makes the plan of a pass over attached files.
struct AttachPlanner {
  let context: SyncContext
  let sources: [LogSource]
  let files: AttachedFiles

  /// How often it is tried to see a folder without anything being renamed meanwhile.
  private static let attempts = 4

  /// Looks again when a rotation got in between, or a file seems to be gone.
  ///
  /// A loss counts when two looks, one after the other and both undisturbed, find it. Where rotations
  /// follow each other without a pause, what they touch is left to the next pass.
  func plan() throws -> AttachPlan {
    var last: AttachObservation?
    var proven: Set<SessionID> = []
    for _ in 0..<Self.attempts {
      proven = last?.undisturbedLosses ?? []
      last = try look()
      guard let last, last.restless.isEmpty, last.losses.keys.allSatisfy(proven.contains) else {
        continue
      }
      return last.plan
    }
    guard let last else { return try nothing() }
    let doubtful = last.losses.filter { !proven.contains($0.key) }.values
    return plan(of: last, without: last.restless.union(doubtful))
  }

  /// Looks; nil where a file was renamed or removed between two looks at it.
  private func look() throws -> AttachObservation? {
    do {
      return try AttachObservation(self)
    } catch let error as SystemError where error.isNotFound {
      context.logger.info("attached files are looked at again: \(error)")
      return nil
    }
  }

  /// Leaves everything to the next pass.
  private func nothing() throws -> AttachPlan {
    var plan = AttachPlan()
    plan.problems = try files.problems()
    plan.pass = try files.pass()
    plan.pass.since = .epoch
    return plan
  }

  private func plan(
    of observation: AttachObservation, without folders: Set<String>
  ) -> AttachPlan {
    var plan = observation.plan
    guard !folders.isEmpty else { return plan }
    plan.changes.removeAll { change in
      change.path.map { folders.contains(AttachedFile.folder(of: $0)) } ?? false
    }
    plan.pass.since = .epoch
    return plan
  }
}
