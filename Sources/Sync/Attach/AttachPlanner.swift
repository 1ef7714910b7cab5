import Platform
import SessionLog

/// Makes the plan of a pass over attached files.
struct AttachPlanner {
  let context: SyncContext
  let sources: [LogSource]
  let files: AttachedFiles

  /// How often it is tried to see a folder without anything being renamed meanwhile.
  private static let attempts = 4

  /// Looks again when a rotation got in between, or a file seems to be gone: a loss counts when two
  /// looks, one after the other and both undisturbed, find it. Where rotations follow each other
  /// without a pause, what they touch is left to the next pass.
  func plan() throws -> AttachPlan {
    var observation = try AttachObservation(self)
    var proven: Set<SessionID> = []
    for _ in 1..<Self.attempts {
      let isProven = observation.losses.keys.allSatisfy(proven.contains)
      if observation.restless.isEmpty, isProven { return observation.plan }
      proven = Set(observation.losses.filter { !observation.restless.contains($0.value) }.keys)
      observation = try AttachObservation(self)
    }
    let doubtful = observation.losses.filter { !proven.contains($0.key) }.values
    return plan(of: observation, without: observation.restless.union(doubtful))
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
