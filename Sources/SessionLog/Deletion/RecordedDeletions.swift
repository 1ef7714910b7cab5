package import Logging
import Platform

/// Deletions that the ledger names before they are carried out, and again if they fail.
///
/// A deletion that fails in each pass would fill the ledger: it is not repeated in a file whose
/// last entry for it is a failure. If it succeeds later, that is recorded afterwards.
package struct RecordedDeletions {
  private let ledger: DeletionLedger
  private let failedBefore: Set<DeletionLedger.Entry.Kind>
  private let logger: Logger
  private let sessions: Set<SessionID>

  /// Appends planned deletions.
  ///
  /// - Throws: ``Platform/SystemError`` if they must not be carried out. On a full disk, which
  ///   deletions relieve, no entry is needed.
  package init(
    _ entries: [DeletionLedger.Entry], in ledger: DeletionLedger, at time: LivedTime,
    _ logger: Logger
  ) throws {
    (self.ledger, self.logger, sessions) = (ledger, logger, Set(entries.map(\.session)))
    let day = entries.first?.at.day ?? ""
    let failed = try ledger.failures(among: Set(entries.map(\.kind)), on: day)
    failedBefore = failed
    let new = entries.filter { !failed.contains($0.kind) }
    // Replaced bytes still exist elsewhere: the entry need not survive a power failure.
    let isDurable = new.contains { $0.ground != .replaced }
    let isNewFile: Bool
    do {
      isNewFile = try ledger.append(new, isDurable: isDurable)
    } catch let error as SystemError where error.isDiskFull {
      logger.warning("deletions are not written to the ledger: \(error)")
      return
    }
    guard isNewFile else { return }
    do {
      try ledger.removeOld(at: time, on: day)
    } catch {
      logger.warning("old files of the ledger were not removed: \(error)")
    }
  }

  /// Records that a deletion failed.
  package func failed(_ entry: DeletionLedger.Entry, _ error: any Error) {
    guard !failedBefore.contains(entry.kind) else { return }
    var failed = entry
    failed.failure = "\(error)"
    add(failed)
  }

  /// Records the success of a deletion that had failed before.
  package func succeeded(_ entry: DeletionLedger.Entry) {
    if failedBefore.contains(entry.kind) { add(entry) }
  }

  /// Records what a deletion became that was to be another one.
  package func add(_ entry: DeletionLedger.Entry) {
    do {
      try ledger.append([entry], isDurable: false)
    } catch {
      logger.warning("\(entry.session): the outcome of a deletion is not in the ledger: \(error)")
    }
  }

  /// Removes all files of a session whose deletion is recorded.
  ///
  /// The sidecar goes last: while it exists, so does the record of the session. The log goes in stream
  /// order, so that the next pass can prove what an interrupted deletion has left of it.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func removeFiles(of local: LocalSession) throws {
    try removeLog(of: local)
    for path in try local.traces() + [local.files.sidecar] { try File.remove(path) }
    Directory.removeIfEmpty(local.files.directory)
  }

  /// Removes the log of a session whose deletion is recorded, in stream order.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func removeLog(of local: LocalSession) throws {
    precondition(sessions.contains(local.session), "\(local.session) is not in the ledger")
    let files = local.files
    let parts = try files.namedParts().flatMap { [$0.plain, $0.compressed] }
    for path in parts + [files.log] { try File.remove(path) }
  }
}
