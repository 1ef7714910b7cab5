import Platform
import Replica
import SessionLog
import Sync

/// Judges holds, the trash and the ledger.
extension Judge {
  /// How long the trash keeps sessions, in milliseconds.
  private static let trashLife: Int64 = 7 * 86_400_000

  /// A session with a hold stays, at any age and under any command.
  func judgeHolds(_ session: SessionID) {
    for (home, sessions) in before.held.sorted(by: { $0.key < $1.key })
    where sessions.contains(session) {
      var gone = (before.local[home]?[session] ?? RangeSet())
        .subtracting(after.local[home]?[session] ?? RangeSet())
      gone.formUnion(
        (before.copies(home)[session] ?? RangeSet())
          .subtracting(after.copies(home)[session] ?? RangeSet()))
      guard !gone.isEmpty else { continue }
      oracle.report(
        .init(
          .hold,
          "local bytes \(gone.text) of \(session) were deleted in home \(home), which keeps it"))
    }
    for copy in before.heldRemotely where copy.session == session {
      let gone = before.remote(copy).subtracting(after.remote(copy))
      guard !gone.isEmpty else { continue }
      oracle.report(
        .init(
          .hold,
          "remote bytes \(gone.text) of \(copy.name) were deleted, which is kept in the store"))
    }
  }

  /// A home that has deleted bytes recorded that in its ledger.
  func judgeLedger(_ session: SessionID) {
    if !lostRemotely(session).isEmpty,
      !ledgers.contains(where: { $0.disk.isShort || isRecorded(session, [.remote], in: $0) })
    {
      oracle.report(
        .init(.ledger, "remote bytes of \(session) were deleted, and no ledger says so"))
    }
    for home in homes where !home.disk.isShort {
      let there = (before.copies(home.number)[session] ?? RangeSet())
        .subtracting(after.copies(home.number)[session] ?? RangeSet())
      guard !there.isEmpty, !isRecorded(session, [.local, .trash], in: home) else { continue }
      oracle.report(
        .init(
          .ledger,
          "bytes \(there.text) of \(session) were deleted in home \(home.number), and its ledger "
            + "does not say so"))
    }
  }

  private func isRecorded(
    _ session: SessionID, _ copies: [DeletionLedger.Entry.Copy], in home: SimulatedHome
  ) -> Bool {
    let entries = try? DeletionLedger(home.home).entries { $0 == session }
    return entries?.contains { copies.contains($0.copy) } == true
  }

  /// Complete local copies go to the trash, and stay there for a week of lived time.
  ///
  /// On a full disk it need not have room for them.
  func judgeTrash(of home: SimulatedHome) {
    let trashed = before.trashed[home.number] ?? [:]
    if !home.disk.isShort { judgeTrash(of: home, trashed) }
    for session in (after.trashed[home.number] ?? [:]).keys {
      oracle.recordTrash(session, in: home.home, isNew: trashed[session] == nil)
    }
  }

  private func judgeTrash(of home: SimulatedHome, _ trashed: [SessionID: RangeSet<Int>]) {
    for (session, positions) in (before.local[home.number] ?? [:]).sorted(by: { $0.key < $1.key }) {
      // A pass that died has left the sidecar, by which the next one continues.
      let isGone =
        (after.local[home.number]?[session]?.isEmpty ?? true)
        && !File.exists(home.home.files(for: session).sidecar)
      guard isGone, !oracle.isAsked(session) else { continue }
      let lost = positions.subtracting(after.trashed[home.number]?[session] ?? RangeSet())
      guard !lost.isEmpty else { continue }
      oracle.report(
        .init(
          .trash,
          "the local copy of \(session) in home \(home.number) has gone, and bytes \(lost.text) "
            + "are not in the trash"))
    }
    for (session, positions) in trashed.sorted(by: { $0.key < $1.key }) {
      let lost = positions.subtracting(after.copies(home.number)[session] ?? RangeSet())
      guard !lost.isEmpty, !oracle.isAsked(session) else { continue }
      // A concurrent upload may prune a restored copy.
      let isRestored = after.local[home.number]?[session]?.isEmpty == false
      if isRestored, after.remote(session).isSuperset(of: lost) { continue }
      let since = oracle.trashed(session, in: home.home)
      let age = oracle.time.milliseconds - since
      guard age + credit(of: home, since: since) + Self.slack < Self.trashLife else { continue }
      oracle.report(
        .init(
          .trash,
          "\(session) went from the trash of home \(home.number) \(age / 1000) s after it was put "
            + "there"))
    }
  }
}

extension Holdings {
  /// Positions of sessions in a home, including its trash.
  func copies(_ home: Int) -> [SessionID: RangeSet<Int>] {
    (local[home] ?? [:]).merging(trashed[home] ?? [:]) { $0.union($1) }
  }
}
