import Platform
import Replica
import SessionLog

/// Compares the world before and after a command.
struct Judge {
  /// Age at which remote copies may be deleted, in milliseconds.
  private static let remoteAge: Int64 = 30 * 86_400_000
  /// Lived time is exact to two minutes, in milliseconds.
  static let slack: Int64 = 180_000
  /// Minimum time between a session's seal and a pass that deletes its local copy, in milliseconds.
  private static let sealPause: Int64 = 3_600_000

  let oracle: Oracle
  let before: Holdings
  let after: Holdings
  /// The homes of commands that change homes or the store.
  let homes: [SimulatedHome]
  /// The homes whose ledgers may name what was deleted from the store: a deletion may arrive late,
  /// while another home's command runs.
  let ledgers: [SimulatedHome]
  /// Whether a person named an age.
  let isHasty: Bool

  /// Reports forbidden effects of the command.
  func judge() {
    for session in before.sessions.sorted() { judge(session) }
    for home in homes { judgeTrash(of: home) }
    judgeMirrors()
    judgeLines()
    judgeMarker()
  }

  /// Reports losses of recorded sessions while no command ran, new bytes included.
  func judgeWritten() {
    for (session, length) in after.written.sorted(by: { $0.key < $1.key }) {
      var expected = before.local(session)
      expected.insert(contentsOf: (before.written[session] ?? 0)..<length)
      let lost = expected.subtracting(after.local(session))
      guard !lost.isEmpty else { continue }
      oracle.report(
        .init(.durability, "bytes \(lost.text) of \(session) were written and are not in its log"))
    }
  }

  private func judgeMarker() {
    guard after.hasMarker, !before.hasMarker, oracle.store.isMounted else {
      if !oracle.store.isMounted, after.hasMarker {
        oracle.report(.init(.marker, "a folder that is not mounted was made a store"))
      }
      return
    }
    // A home that has never used the store may put the first marker into an empty one.
    if homes.allSatisfy({ before.users.contains($0.home.path) }) {
      oracle.report(.init(.marker, "the marker of a store that was used has been put back"))
    }
  }

  private func judge(_ session: SessionID) {
    judgeRunning(session)
    judgeHolds(session)
    judgeLedger(session)
    guard !oracle.isAsked(session) else { return }
    if !isHasty {
      if !oracle.isAging(session), !oracle.isCopied(session) { judgePause(session) }
      if !oracle.isCopied(session) { judgeAge(session) }
    }
    let isOld = isExpired(session)
    let remote = after.remote(session)
    let lost = young(lostRemotely(session), of: session)
    if !lost.isEmpty {
      let there =
        after.local(session).isSuperset(of: lost) ? "they are still local" : "they are lost"
      oracle.report(
        .init(.evidence, "remote bytes \(lost.text) of \(session) were deleted; \(there)"))
    }
    if !isOld, !oracle.isCopied(session) { judgeRevisions(session) }
    let gone = before.local(session).subtracting(after.local(session))
    guard !gone.isEmpty else { return }
    let isLawful = isOld || oracle.hasExpired(session) || oracle.isAging(session)
    if !remote.isSuperset(of: gone), !isLawful {
      oracle.report(
        .init(
          .durability,
          "local bytes \(gone.subtracting(remote).text) of \(session) were deleted and are not remote"
        ))
    }
  }

  /// The positions of a session's stream that the store had, and has no longer.
  ///
  /// An object that was sent again, and damaged or cut on its way, is not deleted: the local copy heals it.
  func lostRemotely(_ session: SessionID) -> RangeSet<Int> {
    let damaged = (after.damaged[session] ?? RangeSet()).intersection(after.local(session))
    return before.remote(session).subtracting(after.remote(session)).subtracting(damaged)
  }

  /// The part of deleted remote positions that a device's copy had which is not old enough.
  private func young(_ lost: RangeSet<Int>, of session: SessionID) -> RangeSet<Int> {
    guard !lost.isEmpty else { return lost }
    return (before.remote[session] ?? [:]).reduce(into: RangeSet()) { young, copy in
      guard !isExpired(session, since: before.newest[session]?[copy.key]) else { return }
      young.formUnion(copy.value.intersection(lost))
    }
  }

  /// A session being recorded keeps its objects at any age, unless a clone has sealed or deleted it, or
  /// may take it for one that nobody records any more.
  private func judgeRunning(_ session: SessionID) {
    guard after.running.contains(session) else { return }
    if oracle.isCopied(session), oracle.isAsked(session) { return }
    let lost = lostRemotely(session)
    if lost.isEmpty || oracle.hasClones && isExpired(session) { return }
    oracle.report(
      .init(
        .evidence, "remote bytes \(lost.text) of \(session) were deleted, which is still recorded"))
  }

  /// The newest revision goes with the session only; one that was sent again, and damaged on its way, is
  /// not deleted.
  private func judgeRevisions(_ session: SessionID) {
    for (folder, newest) in (before.revisions[session] ?? [:]).sorted(by: { $0.key < $1.key })
    where after.namedRevisions[session]?[folder] ?? 0 < newest {
      oracle.report(
        .init(.evidence, "revision \(newest) of \(session) in \(folder) was deleted"))
    }
  }

  /// A local copy is deleted at the earliest one hour after its seal.
  private func judgePause(_ session: SessionID) {
    let sealed = max(before.sealed[session] ?? .min, after.sealed[session] ?? .min)
    for home in homes where isDeleted(session, in: home) {
      guard sealed > .min,
        before.time - sealed + credit(of: home, since: sealed) + Self.slack < Self.sealPause
      else { continue }
      oracle.report(
        .init(
          .pause,
          "the local copy of \(session) in home \(home.number) was deleted within an hour of its "
            + "seal"))
    }
  }

  /// A local copy is deleted only when it is old enough.
  private func judgeAge(_ session: SessionID) {
    guard let sealed = before.sealed[session] else { return }
    // On a full disk all that was proven an hour ago may go.
    for home in homes where isDeleted(session, in: home) && !home.disk.isShort {
      let age = oracle.time.milliseconds - sealed
      guard age + credit(of: home, since: sealed) + Self.slack < home.retention.milliseconds else {
        continue
      }
      oracle.report(
        .init(
          .pause,
          "the local copy of \(session) in home \(home.number) was deleted \(age / 1000) s after its "
            + "seal, and stays for \(home.retention)"))
    }
  }

  private func isDeleted(_ session: SessionID, in home: SimulatedHome) -> Bool {
    before.local[home.number]?[session]?.isEmpty == false
      && after.local[home.number]?[session]?.isEmpty ?? true
  }

  /// The most that restarts may add to lived time, in milliseconds: a day each, because only the
  /// clocks show how long the machine was off.
  func credit(of home: SimulatedHome, since time: Int64) -> Int64 {
    Int64(home.machine.restarts(since: time)) * (86_400_000 + oracle.serverSteps)
  }

  /// The most that a restart may add to the age of remote copies, in milliseconds: after it, the clocks
  /// of the machine and of the server are believed where both say the same.
  private func credit(since time: Int64) -> Int64 {
    let isMisled = ledgers.contains { $0.machine.hasErred && $0.machine.restarts(since: time) > 0 }
    return isMisled ? oracle.serverSteps : 0
  }

  private func isExpired(_ session: SessionID) -> Bool {
    isExpired(session, since: before.newest(session))
  }

  private func isExpired(_ session: SessionID, since newest: Int64?) -> Bool {
    guard let newest,
      oracle.time.milliseconds - newest + credit(since: newest) + Self.slack >= Self.remoteAge
    else { return false }
    oracle.expire(session)
    return true
  }

  private func judgeMirrors() {
    for (home, sessions) in before.mirrored.sorted(by: { $0.key < $1.key }) {
      for (session, positions) in sessions.sorted(by: { $0.key < $1.key }) {
        let lost = positions.subtracting(after.mirrored[home]?[session] ?? RangeSet())
        if !lost.isEmpty {
          oracle.report(
            .init(.growth, "the mirror of home \(home) lost bytes \(lost.text) of \(session)"))
        }
      }
    }
  }

  /// Lines that were remote or local remain so, unless their session may be deleted.
  func judgeLines() {
    let deleted = before.remoteLines.subtracting(after.remoteLines)
    oracle.retire(deleted.filter(mayGo))
    let lost = deleted.filter { !mayGo($0) && !isDamaged($0) }
    if let first = lost.min() {
      oracle.report(
        .init(
          .evidence,
          "\(lost.count) remote lines of other programs were deleted, from line \(first) of "
            + "\(before.sessionsOfLines[first]?.first?.name ?? "") on"))
    }
    for (home, lines) in before.localLines.sorted(by: { $0.key < $1.key }) {
      let gone = lines.subtracting(after.localLines[home] ?? []).subtracting(after.remoteLines)
        .filter { !oracle.isRetired($0) && !mayGo($0) }
      if let first = gone.min() {
        oracle.report(
          .init(
            .durability,
            "\(gone.count) local lines of other programs were deleted in home \(home), from line "
              + "\(first) on, and are not remote"))
      }
    }
  }

  /// Whether a line was in an object that was sent again, and damaged on its way: it is not deleted,
  /// and the local copy heals it.
  private func isDamaged(_ line: Int) -> Bool {
    let copies = before.sessionsOfLines[line] ?? []
    return after.localLines.values.contains { $0.contains(line) }
      && copies.contains { after.damaged[$0.session] != nil }
  }

  /// Whether all sessions with a line are old enough to be deleted, or were deleted on request.
  private func mayGo(_ line: Int) -> Bool {
    before.sessionsOfLines[line]?.allSatisfy { copy in
      oracle.isAsked(copy.session) || isExpired(copy.session, since: before.newest(copy))
    } ?? false
  }
}

extension Holdings {
  /// All sessions of recorders.
  var sessions: Set<SessionID> {
    local.values.reduce(into: Set(remote.keys)) { $0.formUnion($1.keys) }
  }
}

extension RangeSet<Int> {
  /// For messages: `0..<12, 40..<50`.
  var text: String { ranges.map { "\($0.lowerBound)..<\($0.upperBound)" }.joined(separator: ", ") }
}
