import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Deletes what holds bytes of logs, each with evidence, which is written to the ledger first.
///
/// Whether something is deleted is decided before; see ``Evidence``.
struct Deleter {
  let home: Home
  let store: (any ObjectStore)?
  let lived: LivedClock
  private let now: Timestamp
  let logger: Logger

  /// Deletes for a home that sends to a store.
  init(_ context: SyncContext) {
    (home, store, lived) = (context.home, context.store, context.lived)
    (now, logger) = (context.now(), context.logger)
  }

  /// Deletes local copies of a home.
  init(home: Home, lived: LivedClock) {
    (self.home, store, self.lived, now, logger) = (home, nil, lived, lived.now, .off)
  }

  // MARK: The ledger

  func entry(
    _ removal: ReapPlan.Removal, _ copy: DeletionLedger.Entry.Copy, what: String,
    isInTrash: Bool? = nil
  ) -> DeletionLedger.Entry {
    .init(
      at: now, session: removal.session, copy: copy, what: what, bytes: removal.bytes,
      isInTrash: isInTrash, ground: removal.evidence.ground, finding: removal.evidence.finding)
  }

  /// Writes deletions to the ledger that are about to be made.
  ///
  /// - Throws: ``Platform/SystemError`` when they must not be made.
  func record(_ entries: [DeletionLedger.Entry]) throws -> RecordedDeletions {
    try RecordedDeletions(entries, in: DeletionLedger(home), at: lived.time, logger)
  }
}
