import Platform

/// Makes the plan of a pass over attached files.
struct AttachPlanner {
  let context: SyncContext
  let sources: [LogSource]
  let files: AttachedFiles

  /// How often it is tried to see a folder without anything being renamed meanwhile.
  private static let attempts = 4

  /// Looks again when a rotation got in between; where they follow each other without a pause, what
  /// they touch is left to the next pass.
  func plan() throws -> AttachPlan {
    var observation = try AttachObservation(self)
    for _ in 1..<Self.attempts where !observation.restless.isEmpty {
      observation = try AttachObservation(self)
    }
    var plan = observation.plan
    let restless = observation.restless
    guard !restless.isEmpty else { return plan }
    plan.changes.removeAll { change in
      change.path.map { restless.contains(AttachedFile.folder(of: $0)) } ?? false
    }
    plan.pass.since = .epoch
    return plan
  }
}
