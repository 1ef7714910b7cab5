import Replica
package import SessionLog
package import Sync

/// Applies the current rules to data that was uploaded before they were configured.
package struct RemoteRedactionPass: Sendable {
  private let context: SyncContext

  /// Makes a pass.
  package init(_ context: SyncContext) { self.context = context }

  /// Finds the sessions in which the rules mask more, or less, than the store's copy does.
  ///
  /// - Parameters:
  ///   - sessions: the sessions to examine.
  ///   - refused: called with each session that cannot be sent again, or of which the store has something
  ///     that cannot be checked, and the reason.
  /// - Throws: errors of the store and of the home.
  package func plan(
    _ sessions: [SessionID], refused: (SessionID, String) -> Void
  ) async throws -> [RemoteRedaction.Item] {
    var items: [RemoteRedaction.Item] = []
    for session in sessions {
      do {
        let redaction = RemoteRedaction(context)
        if let reason = try await redaction.unchecked(session) { refused(session, reason) }
        if let item = try await redaction.plan(session) { items.append(item) }
      } catch let error as ReplicaError {
        refused(session, error.detail)
      }
    }
    return items
  }

  /// Finds sessions with segments in the store that a redaction has replaced.
  ///
  /// - Parameter sessions: the sessions to examine.
  /// - Returns: the number of segments of each.
  /// - Throws: errors of the store and of the home.
  package func replaced(_ sessions: [SessionID]) async throws -> [SessionID: Int] {
    var found: [SessionID: Int] = [:]
    for session in sessions {
      let count = try await RemoteRedaction(context).replaced(session)
      if count > 0 { found[session] = count }
    }
    return found
  }

  /// Begins a new generation of each session, and sends it; deletes what is replaced.
  ///
  /// - Parameters:
  ///   - items: from ``plan(_:refused:)``.
  ///   - replaced: sessions from ``replaced(_:)``.
  ///   - lock: the home's lock.
  /// - Returns: the result; ``Sync/UploadReport/stoppedBy`` is set if the store failed.
  /// - Throws: as ``Sync/Uploader/execute(_:within:holding:report:)`` does; errors of the home.
  package func run(
    _ items: [RemoteRedaction.Item], removing replaced: [SessionID] = [], holding lock: HomeLock
  ) async throws -> UploadReport {
    let redaction = RemoteRedaction(context)
    for session in replaced { try redaction.recallReplaced(session, holding: lock) }
    for item in items { try redaction.begin(item, holding: lock) }
    let uploader = Uploader(context)
    func run(_ scope: RetryScope) async throws -> UploadReport {
      var plan = try uploader.plan(scope)
      plan.leaveAttached(besides: items.map(\.session))
      return try await uploader.execute(plan, holding: lock)
    }
    let report = try await run(.all)
    guard report.stoppedBy == nil, report.sealed > 0 else { return report }
    // What a seal replaces is deleted by a pass that lists the seal.
    return report.followed(by: try await run(.due))
  }
}
