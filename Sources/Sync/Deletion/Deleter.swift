import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Deletes log bytes, each with evidence, which it writes to the ledger first.
///
/// The caller decides whether to delete; see ``Evidence``.
struct Deleter {
  let home: Home
  let store: (any ObjectStore)?
  let lived: LivedClock
  private let now: Timestamp
  let logger: Logger

  /// Makes a deleter for a home that sends to a store.
  init(_ context: SyncContext) {
    (home, store, lived) = (context.home, context.store, context.lived)
    (now, logger) = (context.now(), context.logger)
  }

  /// Makes a deleter for a home's local copies.
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
      isInTrash: isInTrash, ground: removal.evidence.ground, finding: removal.evidence.finding,
      basis: removal.evidence.basis)
  }

  /// Writes planned deletions to the ledger.
  ///
  /// - Throws: ``Platform/SystemError`` if they must not be carried out.
  func record(_ entries: [DeletionLedger.Entry]) throws -> RecordedDeletions {
    try RecordedDeletions(entries, in: DeletionLedger(home), at: lived.time, logger)
  }
}
