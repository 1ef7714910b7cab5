import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Deletes what holds bytes of logs: the one way for them to go, each with evidence, which is written
/// to the ledger first.
///
/// Whether something is deleted is decided before; see ``Evidence``.
struct Deleter {
  private let home: Home
  private let store: (any ObjectStore)?
  private let lived: LivedClock
  private let now: Timestamp
  private let logger: Logger

  /// Deletes for a home that sends to a store.
  init(_ context: SyncContext) {
    (home, store, lived) = (context.home, context.store, context.lived)
    (now, logger) = (context.now(), context.logger)
  }

  /// Deletes local copies of a home.
  init(home: Home, lived: LivedClock) {
    (self.home, store, self.lived, now, logger) = (home, nil, lived, lived.now, .off)
  }

  /// What became of one deletion.
  typealias Outcome = (removal: ReapPlan.Removal, error: (any Error)?)

  // MARK: Local copies

  /// Deletes local copies, or moves them to the trash.
  ///
  /// - Parameter trashes: whether a session goes to the trash.
  /// - Returns: one outcome a session, in their order.
  func deleteLocal(
    _ removals: [ReapPlan.Removal], trashing trashes: (ReapPlan.Removal) -> Bool,
    holding lock: HomeLock
  ) -> [Outcome] {
    lock.expect(home)
    do {
      try record(
        removals.map { entry($0, .local, what: "log", isInTrash: trashes($0) ? true : nil) })
    } catch {
      return removals.map { ($0, error) }
    }
    let outcomes: [Outcome] = removals.map { removal in
      let local = LocalSession(home, removal.session)
      do {
        if trashes(removal), try isTrashed(local) {
          logger.info("\(removal.session): local copy moved to the trash")
        } else {
          try local.removeFiles()
          logger.info("\(removal.session): local copy deleted")
        }
        return (removal, nil)
      } catch {
        return (removal, error)
      }
    }
    for case (let removal, let error?) in outcomes {
      recordFailure(entry(removal, .local, what: "log"), "\(error)")
    }
    return outcomes
  }

  /// Moves a local copy to the trash, unless the disk has no room for that.
  private func isTrashed(_ local: LocalSession) throws -> Bool {
    do {
      try Trash(home).take(local, at: lived.time.mark)
      return true
    } catch let error as SystemError where error.isDiskFull {
      return false
    }
  }

  /// Deletes for good a copy that is in the trash, where there is one.
  ///
  /// - Throws: ``Platform/SystemError``.
  func deleteTrashed(
    _ session: SessionID, on evidence: Evidence, holding lock: HomeLock
  ) throws {
    lock.expect(home)
    guard try Trash(home).sessions(at: lived.time.mark)[session] != nil else { return }
    let removal = ReapPlan.Removal(session, bytes: nil, evidence: evidence, reason: "")
    try record([entry(removal, .trash, what: "log")])
    _ = try Trash(home).remove(session)
  }

  /// Deletes a rotated part of a session, durably: a power loss must not bring back one before another
  /// that is gone.
  ///
  /// - Throws: ``Platform/SystemError``.
  func delete(
    _ part: LogPart, of session: SessionID, bytes: ByteCount, on evidence: Evidence,
    holding lock: HomeLock
  ) throws {
    lock.expect(home)
    let removal = ReapPlan.Removal(session, bytes: bytes, evidence: evidence, reason: "")
    let entry = entry(removal, .local, what: "part \(part.start)")
    try record([entry])
    do {
      try File.remove(part.compressed)
      try AtomicFile.syncDirectory(of: part.compressed)
    } catch {
      recordFailure(entry, "\(error)")
      throw error
    }
    logger.info("\(session): rotated part \(part.start) deleted: \(evidence.finding)")
  }

  /// Deletes for good what has been in the trash long enough, and as much as makes the room wanted.
  ///
  /// - Throws: ``Platform/SystemError``.
  func emptyTrash(
    after life: Duration, whereTight isTight: () throws -> Bool, holding lock: HomeLock
  ) throws {
    lock.expect(home)
    let (holds, time) = (Holds(home), lived.time)
    try Trash(home).empty(
      after: life, at: time.mark, whereTight: isTight,
      unlessHeld: { holds.isHeld($0, at: time) }
    ) { sessions, reason in
      let evidence = Evidence.expired(inTrash: reason)
      try record(
        sessions.sorted().map {
          entry(.init($0, bytes: nil, evidence: evidence, reason: ""), .trash, what: "log")
        })
    }
  }

  // MARK: Objects

  /// Deletes objects of a store.
  ///
  /// - Parameter each: gets the outcomes of each session's objects.
  /// - Returns: one outcome an object.
  /// - Throws: ``ObjectStore/StoreError`` when the store cannot be asked at all;
  ///   ``Platform/SystemError`` when the ledger cannot be written.
  @discardableResult
  func deleteObjects(
    _ removals: [ReapPlan.Removal], holding lock: HomeLock? = nil,
    each: (ReapPlan.Removal, [DeleteOutcome]) throws -> Void = { _, _ in }
  ) async throws -> [DeleteOutcome] {
    guard let store else { return [] }
    lock?.expect(home)
    try record(removals.map { entry($0, .remote, what: "\($0.keys.count) objects") })
    var outcomes: [DeleteOutcome] = []
    for (index, removal) in removals.enumerated() {
      let new: [DeleteOutcome]
      do {
        new = try await store.delete(removal.keys)
      } catch {
        for removal in removals[index...] {
          recordFailure(entry(removal, .remote, what: "\(removal.keys.count) objects"), "\(error)")
        }
        throw error
      }
      logger.info(
        "\(removal.session): \(removal.keys.count) objects deleted: \(removal.evidence.finding)")
      let failures = new.compactMap(\.error)
      if let first = failures.first {
        recordFailure(entry(removal, .remote, what: "\(failures.count) objects"), "\(first)")
      }
      try each(removal, new)
      outcomes += new
    }
    return outcomes
  }

  /// Deletes segments of an open session whose bytes larger ones have.
  ///
  /// - Parameter segments: at least one, each with its evidence.
  /// - Returns: one outcome a segment, in their order.
  /// - Throws: as ``deleteObjects(_:holding:each:)`` does.
  func deleteCovered(
    _ segments: [(name: SegmentName, evidence: Evidence)], in folder: SessionFolder
  ) async throws -> [DeleteOutcome] {
    guard let first = segments.first, let last = segments.last else { return [] }
    let keys = segments.map { folder.key + $0.name.fileName }
    let remote = RemoteSession(folder: folder, session: first.name.session)
    let evidence = segments.count == 1 ? first.evidence : first.evidence.through(last.evidence)
    return try await deleteObjects([
      .init(remote, keys: keys, evidence: evidence, reason: "larger objects cover them")
    ])
  }

  // MARK: The ledger

  private func entry(
    _ removal: ReapPlan.Removal, _ copy: DeletionLedger.Entry.Copy, what: String,
    isInTrash: Bool? = nil
  ) -> DeletionLedger.Entry {
    .init(
      at: now, session: removal.session, copy: copy, what: what, bytes: removal.bytes,
      isInTrash: isInTrash, ground: removal.evidence.ground, finding: removal.evidence.finding)
  }

  /// Adds to the ledger that a deletion that it names has failed.
  private func recordFailure(_ entry: DeletionLedger.Entry, _ reason: String) {
    var failed = entry
    failed.failure = reason
    do {
      try DeletionLedger(home).append([failed], isDurable: false)
    } catch {
      logger.warning("\(entry.session): a failed deletion is not in the ledger: \(error)")
    }
  }

  /// A full disk is what deletions end: there they need no entry.
  private func record(_ entries: [DeletionLedger.Entry]) throws {
    do {
      // What is replaced is still there: its entry need not survive a power cut.
      let isDurable = entries.contains { $0.ground != .replaced }
      let ledger = DeletionLedger(home)
      if try ledger.append(entries, isDurable: isDurable) { try ledger.removeOld(at: lived.time) }
    } catch let error as SystemError where error.isDiskFull {
      logger.warning("deletions are not written to the ledger: \(error)")
    }
  }
}
