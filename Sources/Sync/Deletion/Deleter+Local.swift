import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Deletes copies on this machine.
extension Deleter {
  /// Deletes local copies, or moves them to the trash.
  ///
  /// - Parameter trashes: whether a session goes to the trash.
  /// - Returns: one outcome per session, in their order.
  func deleteLocal(
    _ removals: [ReapPlan.Removal], trashing trashes: (ReapPlan.Removal) -> Bool,
    holding lock: HomeLock
  ) -> [DeletionOutcome] {
    lock.expect(home)
    func entry(_ removal: ReapPlan.Removal) -> DeletionLedger.Entry {
      let isTrashed = !removal.keepsSidecar && trashes(removal)
      return self.entry(removal, .local, what: "log", isInTrash: isTrashed ? true : nil)
    }
    let recorded: RecordedDeletions
    do {
      recorded = try record(removals.map(entry))
    } catch {
      return removals.map { DeletionOutcome($0.session, "\($0.session)", error) }
    }
    return removals.map { removal in
      let local = LocalSession(home, removal.session)
      do {
        if removal.keepsSidecar {
          try recorded.removeLog(of: local)
          logger.info("\(removal.session): unpacked copy deleted; its compressed file stays")
        } else {
          let isTrashed = try trashes(removal) && moveToTrash(local)
          if trashes(removal), !isTrashed {
            recorded.add(self.entry(removal, .local, what: "log"))
          }
          try recorded.removeFiles(of: local)
          logger.info(
            "\(removal.session): local copy \(isTrashed ? "moved to the trash" : "deleted")")
        }
        recorded.succeeded(entry(removal))
        return DeletionOutcome(removal.session, "\(removal.session)")
      } catch {
        recorded.failed(entry(removal), error)
        return DeletionOutcome(removal.session, "\(removal.session)", error)
      }
    }
  }

  /// Moves a local copy to the trash.
  ///
  /// - Returns: false if the disk has no room for that, or the trash is on another.
  private func moveToTrash(_ local: LocalSession) throws -> Bool {
    do {
      try Trash(home).add(local.files, at: lived.markToSave())
      return true
    } catch let error as SystemError where error.isDiskFull || error.isAcrossFileSystems {
      return false
    }
  }

  // MARK: Parts

  /// Deletes rotated parts of one session, durably and in stream order: a power failure must not
  /// bring back a part whose successor is gone.
  ///
  /// - Returns: one outcome per part; if one stays, so do those after it.
  func deleteParts(
    _ removals: [PrunePlan.Removal], holding lock: HomeLock
  ) -> [DeletionOutcome] {
    lock.expect(home)
    func entry(_ removal: PrunePlan.Removal) -> DeletionLedger.Entry {
      let part = removal.part
      var entry = self.entry(
        .init(part.session, bytes: part.bytes, evidence: removal.evidence, reason: ""), .local,
        what: DeletionLedger.part(at: part.start))
      entry.end = removal.end
      return entry
    }
    let recorded: RecordedDeletions?
    var failure: (any Error)?
    do {
      recorded = try record(removals.map(entry))
    } catch {
      (recorded, failure) = (nil, error)
    }
    return removals.map { removal in
      let part = removal.part
      if failure == nil {
        do {
          let path = home.files(for: part.session).part(at: part.start).compressed
          try File.remove(path)
          try AtomicFile.syncDirectory(of: path)
        } catch {
          failure = error
        }
      }
      if let failure {
        recorded?.failed(entry(removal), failure)
      } else {
        recorded?.succeeded(entry(removal))
        logger.info(
          "\(part.session): rotated part \(part.start) deleted: \(removal.evidence.finding)")
      }
      return DeletionOutcome(part.session, "part \(part.start) of \(part.session)", failure)
    }
  }

  // MARK: The trash

  /// Deletes a copy in the trash, if there is one.
  ///
  /// - Throws: ``Platform/SystemError``.
  func deleteTrashed(
    _ session: SessionID, on evidence: Evidence, holding lock: HomeLock
  ) throws {
    lock.expect(home)
    guard try Trash(home).sessions(at: lived.time.mark)[session] != nil else { return }
    try deleteTrashed([session: evidence]) { _ = try Trash(home).remove(session) }
  }

  /// Deletes copies that were in the trash long enough, and more until enough space is free.
  ///
  /// - Parameter proofs: the evidence of this pass; a copy without any stays.
  /// - Throws: ``Platform/SystemError``.
  func emptyTrash(
    after life: Duration, on proofs: [SessionID: Evidence], whereTight isTight: () throws -> Bool,
    holding lock: HomeLock
  ) throws {
    lock.expect(home)
    let (holds, time) = (Holds(home), lived.time)
    try Trash(home).empty(
      after: life, at: time.mark, whereTight: isTight,
      unlessHeld: { holds.isHeld($0, at: time) || proofs[$0] == nil }
    ) { sessions, reason, remove in
      try deleteTrashed(
        proofs.filter { sessions.contains($0.key) }.mapValues { $0.whereTrashed(reason) }, remove)
    }
  }

  private func deleteTrashed(
    _ proofs: [SessionID: Evidence], _ remove: () throws -> Void
  ) throws {
    let entries = proofs.sorted { $0.key < $1.key }.map { session, evidence in
      entry(.init(session, bytes: nil, evidence: evidence, reason: ""), .trash, what: "log")
    }
    let recorded = try record(entries)
    do {
      try remove()
    } catch {
      for entry in entries { recorded.failed(entry, error) }
      throw error
    }
    for entry in entries { recorded.succeeded(entry) }
  }
}
