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
    // Those where something may have to wait: it is known at the last look who disturbs them.
    var watched: Set<String> = []
    var entries: [String: FolderEntries] = [:]
    for number in 1...Self.attempts {
      proven = last?.undisturbedLosses ?? []
      watched.formUnion(last?.doubtful ?? [])
      watched.formUnion(last?.plan.changes.compactMap(\.folder) ?? [])
      if number == Self.attempts {
        for folder in watched { entries[folder] = FolderEntries(of: folder) }
      }
      last = try observe()
      guard let last, last.disturbed.isEmpty, last.losses.keys.allSatisfy(proven.contains) else {
        continue
      }
      return last.plan
    }
    guard let last else { return try nothing() }
    return try plan(of: last, proven, since: entries)
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
    plan.awaited = try files.awaited()
    plan.linked = try files.linked()
    if let error { plan.problems[error.path] = .unreadable(error.reason) }
    plan.pass = try files.pass()
    plan.pass.since = .epoch
    return plan
  }

  /// A plan without what the last observation leaves in doubt.
  ///
  /// - Parameters:
  ///   - proven: losses that an undisturbed observation has found before.
  ///   - entries: those of folders before the observation.
  private func plan(
    of last: AttachObservation, _ proven: Set<SessionID>, since entries: [String: FolderEntries]
  ) throws -> AttachPlan {
    var disturbers: [String: Set<UInt32>] = [:]
    for folder in last.disturbed {
      disturbers[folder] = try owners(ofChangesIn: folder, since: entries[folder], last)
        .union(last.unsettled[folder] ?? [])
    }
    func isUnproven(_ loss: AttachedFile) -> Bool {
      last.disturbed.contains(loss.folder) || !proven.contains(loss.session)
    }
    let lost = Dictionary(
      grouping: last.plan.changes.compactMap(\.loss).filter(isUnproven), by: \.folder)
    var plan = last.plan
    var left: Set<String> = []
    plan.changes.removeAll { change in
      // Growth in place has no new path and stays: who renames others all the time cannot hold it back.
      guard let folder = change.folder else { return false }
      let isLeft =
        change.loss.map(isUnproven) ?? false
        || disturbers[folder].map { Self.mayConcern(change, $0) } ?? false
        || lost[folder]?.contains { Self.mayHaveBecome(change, $0) } ?? false
      if isLeft { left.insert(folder) }
      return isLeft
    }
    plan.pass.since = .epoch
    // A rotation may take as long as a pass, but not as long as two.
    let before = try files.problems()
    for folder in left where plan.problems[folder] == nil {
      plan.problems[folder] = .disturbed(isAgain: before[folder] != nil)
    }
    return plan
  }

  /// Whose files were renamed in a folder; root's, which may be anybody's, if that is unknown.
  private func owners(
    ofChangesIn folder: String, since before: FolderEntries?, _ last: AttachObservation
  ) throws -> Set<UInt32> {
    guard let before, let now = FolderEntries(of: folder) else { return [0] }
    let statuses = last.changed.values.filter { AttachedFile.folder(of: $0.path) == folder }
      .map(\.status)
    let known =
      try files.inFolder(folder).map { ($0.source.inode, $0.source.owner ?? 0) }
      + statuses.map { ($0.inode, $0.owner) }
    return before.owners(
      ofChangesTo: now, Dictionary(known, uniquingKeysWith: { _, latest in latest }))
  }

  /// Whether renames or truncations of some users' files may concern a change: root and the user who uploads
  /// may move those of others.
  private static func mayConcern(_ change: AttachPlan.Change, _ owners: Set<UInt32>) -> Bool {
    !owners.isDisjoint(with: [change.owner, 0, Account.effective])
  }

  /// Whether the file of a new session may be what a lost one has become: its copy.
  private static func mayHaveBecome(_ change: AttachPlan.Change, _ lost: AttachedFile) -> Bool {
    guard case .begin(let new) = change, new.base == 0, lost.mayBelong(to: new.status) else {
      return false
    }
    return (try? FileContent(new.path).hasHead(of: lost)) ?? true
  }
}
