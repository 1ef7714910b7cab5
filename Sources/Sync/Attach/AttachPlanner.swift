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
  /// another without pause, the files of their owners are left to the next pass.
  func plan() throws -> AttachPlan {
    var last: AttachObservation?
    var proven: Set<SessionID> = []
    var doubtful: Set<String> = []
    var before: [String: FolderEntries] = [:]
    for number in 1...Self.attempts {
      proven = last?.undisturbedLosses ?? []
      doubtful.formUnion(last.map { $0.disturbed.union($0.losses.values) } ?? [])
      if number == Self.attempts {
        for folder in doubtful { before[folder] = FolderEntries(of: folder) }
      }
      last = try observe()
      guard let last, last.disturbed.isEmpty, last.losses.keys.allSatisfy(proven.contains) else {
        continue
      }
      return last.plan
    }
    guard let last else { return try nothing() }
    let owners = last.disturbed.map { folder in
      (folder, Self.owners(ofChangesIn: folder, since: before[folder], last))
    }
    return try plan(
      of: last, without: Dictionary(uniqueKeysWithValues: owners), proven: proven)
  }

  /// Whose files were renamed or truncated in a folder; root's, which may be anybody's, if that is
  /// unknown.
  private static func owners(
    ofChangesIn folder: String, since before: FolderEntries?, _ last: AttachObservation
  ) -> Set<UInt32> {
    guard let before, let now = FolderEntries(of: folder) else { return [0] }
    return before.owners(ofChangesTo: now).union(last.unsettled[folder] ?? [])
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

  /// A plan without what is in doubt.
  ///
  /// - Parameters:
  ///   - disturbed: by folder, whose files were renamed or truncated during the observation.
  ///   - proven: losses that an undisturbed observation has found before.
  private func plan(
    of observation: AttachObservation, without disturbed: [String: Set<UInt32>],
    proven: Set<SessionID>
  ) throws -> AttachPlan {
    var (plan, disturbed) = (observation.plan, disturbed)
    // What seems lost may be what another file in its folder has become.
    for change in plan.changes where change.loss.map({ !proven.contains($0) }) ?? false {
      guard let folder = change.folder else { continue }
      disturbed[folder, default: []].insert(change.owner)
    }
    guard !disturbed.isEmpty else { return plan }
    var left: Set<String> = []
    plan.changes.removeAll { change in
      // Growth in place has no new path and stays: who renames others all the time cannot hold it back.
      guard let folder = change.folder, let owners = disturbed[folder],
        change.loss != nil || mayConcern(change, owners)
      else { return false }
      left.insert(folder)
      return true
    }
    plan.pass.since = .epoch
    // A rotation may take as long as a pass, but not as long as two.
    let before = try files.problems()
    for folder in left where plan.problems[folder] == nil {
      plan.problems[folder] = .disturbed(isAgain: before[folder] != nil)
    }
    return plan
  }

  /// Whether renames or truncations of some users' files may concern a change: root and the user who uploads
  /// may move those of others.
  private func mayConcern(_ change: AttachPlan.Change, _ owners: Set<UInt32>) -> Bool {
    !owners.isDisjoint(with: [change.owner, 0, Account.effective])
  }
}
