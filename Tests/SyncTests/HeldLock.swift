import ObjectStore
import Platform
import Replica
import SessionLog

@testable import Sync

/// Acquires the home's lock, like a command that changes it.
private func held(_ home: Home) throws -> HomeLock {
  guard let lock = try HomeLock.acquire(home) else {
    throw SystemError(operation: "lock", path: home.lockPath, errno: 11)
  }
  return lock
}

extension Uploader {
  func execute(
    _ plan: UploadPlan, within time: Duration? = nil,
    report: @escaping @Sendable (UploadEvent) -> Void = { _ in }
  ) async throws -> UploadReport {
    try await execute(plan, within: time, holding: held(context.home), report: report)
  }

  func retry(_ session: SessionID, isNamed: Bool = false) throws {
    try retry(session, isNamed: isNamed, holding: held(context.home))
  }
}

extension LocalReaper {
  func execute(
    _ plan: ReapPlan, _ retention: Retention = Retention()
  ) throws -> [DeletionOutcome] {
    execute(plan, retention, holding: try held(home))
  }
}

extension SealReview {
  func runIfDue(
    _ retention: Retention = Retention(), doubting doubted: Set<SessionID> = []
  ) async throws -> VanishedCopies {
    try await runIfDue(retention, doubting: doubted, holding: held(context.home))
  }
}

extension Deletion {
  func delete(
    _ session: SessionID, local isLocal: Bool, remote: RemoteSession?, isRemoteGone: Bool = false
  ) async throws -> [DeletionOutcome] {
    try await delete(
      session, local: isLocal, remote: remote, isRemoteGone: isRemoteGone, holding: held(home))
  }
}

extension RemoteReaper {
  func execute(
    _ plan: ReapPlan, spared: (ReapPlan.Kept) -> Void = { _ in }
  ) async throws -> [DeleteOutcome] {
    try await execute(plan, holding: held(context.home), spared: spared)
  }
}

extension PartPruner {
  func execute(_ plan: PrunePlan) throws -> [DeletionOutcome] {
    execute(plan, holding: try held(context.home))
  }
}

extension Attacher {
  @discardableResult
  func execute(_ plan: AttachPlan) throws -> [String: String] {
    try execute(plan, holding: held(context.home))
  }

  @discardableResult
  func adopt(_ path: String, as source: LogSource) throws -> (session: SessionID, isNew: Bool) {
    try adopt(path, as: source, holding: held(context.home))
  }
}

extension SyncContext {
  func saveLivedTime() throws { try saveLivedTime(holding: held(home)) }
}

extension LivedClock {
  func save() throws { try save(holding: held(home)) }
}

extension Verifier {
  func reopen(_ session: SessionID) throws -> Bool {
    try reopen(session, holding: held(context.home))
  }

  func reopen(_ session: SessionID, having remote: RemoteSession) async throws -> Bool {
    try await reopen(session, having: remote, holding: held(context.home))
  }
}

extension RemoteRedaction {
  func begin(_ item: Item) throws { try begin(item, holding: held(context.home)) }
}
