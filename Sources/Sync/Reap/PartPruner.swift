import Logging
import ObjectStore
import Platform
import Replica
package import SessionLog

/// Deletes old rotated parts of this machine's sessions, running ones included.
///
/// A part is deleted if a listing of the same pass shows all its bytes, and their content is
/// proven: by the seal, by the answer to a PUT, or by reading it back here, once. Parts are deleted
/// in stream order, and the last one stays: the live log begins at its end.
package struct PartPruner: Sendable {
  let context: SyncContext

  /// Makes a pruner.
  package init(_ context: SyncContext) { self.context = context }

  /// Plans.
  ///
  /// Reads nothing unless the retention sets an age for parts.
  ///
  /// - Throws: ``Platform/SystemError``; ``ObjectStore/StoreError`` when the proof cannot be read;
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
    guard !Holds(context.home).isHeld(session, at: context.lived.time) else { return }
    let local = LocalSession(context.home, session)
    // An unsent log is never proven: skip it without a request.
    let sidecar = try? Sidecar.load(local.files.sidecar)
    guard context.consent == .logs, sidecar.map({ $0.seal == nil || !$0.withholdsLog }) ?? true
    else { return }
    var proof: PartProof?
    var waiting: [PrunePlan.Removal] = []
    for part in try local.files.parts().dropLast() {
      guard let status = try FileStatus(part.compressed) ?? FileStatus(part.plain) else { break }
      guard let lived = context.lived.time.age(since: status.modifiedAt), lived >= age else {
        break
      }
      let old = PrunePlan.Part(
        session: session, start: part.start, bytes: ByteCount(status.length),
        age: "written \(Age.text(lived)) ago")
      do {
        if proof == nil { proof = try await PartProof(context, local, folders) }
        guard let evidence = try await proof?.evidence(for: part) else { break }
        let end = part.start + (try local.files.open(part).length)
        waiting.append(.init(part: old, end: end, evidence: evidence))
        if try proof?.endsApart(part) == true {
          plan.pruned += waiting
          waiting = []
        }
      } catch let doubt as Doubt {
        plan.kept.append(.init(part: old, reason: doubt.reason))
        break
      } catch let error as SystemError {
        plan.kept.append(.init(part: old, reason: "\(error)"))
        break
      }
    }
    for removal in waiting {
      plan.kept.append(
        .init(part: removal.part, reason: "it shows whether what follows is a private key"))
    }
  }

  /// Carries out a plan.
  ///
  /// If a part cannot be removed, those after it stay: the stream has no holes.
  ///
  /// - Returns: one outcome per part, in the plan's order.
  package func execute(_ plan: PrunePlan, holding lock: HomeLock) -> [DeletionOutcome] {
    let deleter = Deleter(context)
    return plan.pruned.chunked(by: \.part.session).flatMap {
      deleter.deleteParts($0, holding: lock)
    }
  }
}

extension Array {
  /// Runs of adjacent elements with the same key.
  fileprivate func chunked(by key: (Element) -> some Equatable) -> [[Element]] {
    reduce(into: []) { chunks, element in
      if let last = chunks.last?.last, key(last) == key(element) {
        chunks[chunks.count - 1].append(element)
      } else {
        chunks.append([element])
      }
    }
  }
}
