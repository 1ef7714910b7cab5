import Logging
import ObjectStore
import Platform
import Replica
package import SessionLog

/// Deletes old rotated parts of this machine's sessions, running ones too.
///
/// A part goes when a listing of the same pass shows its bytes whole, and their content is proven:
/// by the seal, by the answer to a PUT, or by reading it back here, once. Parts go in stream order,
/// and the last one stays: where it ends, the live log begins.
package struct PartPruner: Sendable {
  let context: SyncContext

  /// Makes a planner.
  package init(_ context: SyncContext) { self.context = context }

  /// Plans.
  ///
  /// Without an age for parts in the retention it looks at nothing.
  ///
  /// - Throws: ``Platform/SystemError``; ``ObjectStore/StoreError`` when the proof cannot be had;
  ///   errors of the manifest.
  package func plan(_ retention: Retention) async throws -> PrunePlan {
    var plan = PrunePlan()
    guard let age = retention.pruneAfter else { return plan }
    let folders = FolderListings(context.store)
    for day in try context.home.days() {
      for session in try context.home.rotatedSessions(day: day) {
        try await decide(session, age, folders, &plan)
      }
    }
    return plan
  }

  private func decide(
    _ session: SessionID, _ age: Duration, _ folders: FolderListings, _ plan: inout PrunePlan
  ) async throws {
    let local = LocalSession(context.home, session)
    // What is not sent is never proven, and does not cost a look each time.
    let sidecar = try? Sidecar.load(local.files.sidecar)
    guard context.consent == .logs, sidecar.map({ $0.seal == nil || !$0.withholdsLog }) ?? true
    else { return }
    var proof: PartProof?
    var waiting: [PrunePlan.Decision] = []
    for part in try local.files.parts().dropLast() {
      guard let status = try FileStatus(part.compressed) ?? FileStatus(part.plain) else { break }
      guard let lived = context.lived.time.age(since: status.modifiedAt), lived >= age else {
        break
      }
      var decision = PrunePlan.Decision(
        session: session, start: part.start, bytes: ByteCount(status.length),
        reason: "written \(Age.text(lived)) ago")
      do {
        if proof == nil { proof = try await PartProof(context, local, folders) }
        if let reason = try await proof?.unproven(part) {
          decision.reason += ", but \(reason)"
          plan.kept.append(decision)
          break
        }
        waiting.append(decision)
        if try proof?.endsApart(part) == true {
          plan.pruned += waiting
          waiting = []
        }
      } catch let error as SystemError {
        decision.reason += ", but \(error)"
        plan.kept.append(decision)
        break
      }
    }
    for var decision in waiting {
      decision.reason += ", but tells whether what follows is a private key"
      plan.kept.append(decision)
    }
  }

  /// Carries out a plan.
  ///
  /// Where a part cannot be removed, those behind it stay: the stream has no holes.
  ///
  /// - Returns: one outcome a part, in the plan's order; nil where it went well.
  package func execute(
    _ plan: PrunePlan, holding lock: HomeLock
  ) -> [(decision: PrunePlan.Decision, error: (any Error)?)] {
    lock.expect(context.home)
    var failed: [SessionID: any Error] = [:]
    return plan.pruned.map { decision in
      if let error = failed[decision.session] { return (decision, error) }
      do {
        let part = context.home.files(for: decision.session).part(at: decision.start)
        try File.remove(part.compressed)
        // A power loss must not bring back a part before one that is gone.
        try AtomicFile.syncDirectory(of: part.compressed)
        context.logger.info(
          "\(decision.session): rotated part \(decision.start) deleted: \(decision.reason)")
        return (decision, nil)
      } catch {
        failed[decision.session] = error
        return (decision, error)
      }
    }
  }
}
