import Logging
import ObjectStore
package import Platform
import Replica
package import SessionLog

/// The local side of retention: sealed sessions that are old enough and proven remote.
package struct LocalReaper: Sendable {
  let home: Home
  private let context: SyncContext?
  private let lived: LivedClock
  private let now: Timestamp
  /// When this pass began.
  private let begun: LivedTime.Mark

  /// Makes a planner that proves against a store.
  package init(_ context: SyncContext) {
    (home, lived, now) = (context.home, context.lived, context.now())
    begun = context.lived.begun
    self.context = context
  }

  /// Makes a planner for a home whose sessions go nowhere: age alone decides there, unless it has
  /// used a store.
  package init(home: Home, lived: LivedClock, now: Timestamp) {
    (self.home, self.lived, self.now) = (home, lived, now)
    begun = lived.begun
    context = nil
  }

  /// How long after its seal a session's local copy stays at least, in lived time.
  private static let sealPause = Duration.hours(1)

  /// Plans.
  ///
  /// Only day folders that can hold something old enough are read, so a pass with nothing due
  /// costs one directory listing.
  ///
  /// - Throws: ``Platform/SystemError``; ``ObjectStore/StoreError`` when the proof cannot be had.
  package func plan(_ retention: Retention) async throws -> ReapPlan {
    var plan = ReapPlan()
    let limit = now - retention.local
    var due: [(Decision, Timestamp)] = []
    var spared: [(Decision, Timestamp)] = []
    let folders = context.map { FolderListings($0.store) }
    // A day that has not come yet is that of a wrong clock.
    let days = try home.days()
    let hasUsedStore = try context == nil && hasUsedStore(days)
    for day in days where retention.localMax != nil || day <= limit.day || day > now.day {
      for session in try home.sessions(day: day) {
        let local = LocalSession(home, session)
        guard let (sidecar, ended, bytes) = try ending(of: local) else { continue }
        let age = age(of: sidecar, ended: ended, retention)
        if age == nil && retention.countsLivedTime { plan.undated.append(session) }
        let isDue = age.map { $0 >= retention.local } ?? false
        func decision(_ reason: String) -> Decision {
          Decision(session: session, folder: nil, keys: [], bytes: bytes, reason: reason)
        }
        let how = description(of: age, ended: ended, retention)
        if let reason = try await unproven(
          sidecar, local, folders, retention, hasUsedStore: hasUsedStore)
        {
          if isDue || ended <= limit { plan.kept.append(decision("\(how); \(reason)")) }
        } else if isDue {
          due.append((decision(how), ended))
        } else if context != nil, sidecar.withholdsLog {
          plan.kept.append(decision("\(how); its log was not sent"))
        } else {
          spared.append((decision(how), ended))
        }
      }
    }
    plan.postponement = try postponement(of: due.count, days, retention)
    if plan.postponement == nil {
      plan.local = due.map(\.0)
    } else {
      spared += due.map { ($0.0.adding("put off with most others"), $0.1) }
    }
    try shrink(to: retention.localMax, &plan, spared)
    if let logger = context?.logger { plan.log(to: logger, side: "local") }
    return plan
  }

  private typealias Decision = ReapPlan.Decision

  /// How many sessions are over an age by the wall clock, and below it by the home's lived time.
  ///
  /// - Parameter limit: the age.
  /// - Throws: ``Platform/SystemError``.
  package func countDoubtful(_ limit: Duration) throws -> Int {
    let day = (now - limit).day
    var retention = Retention()
    retention.local = limit
    return try home.days().filter { $0 <= day }.reduce(0) { count, day in
      try count
        + home.sessions(day: day).count {
          guard let (sidecar, ended, _) = try ending(of: LocalSession(home, $0)) else {
            return false
          }
          return now - ended >= limit
            && age(of: sidecar, ended: ended, retention) ?? .zero < limit
        }
    }
  }

  private func postponement(
    of count: Int, _ days: [String], _ retention: Retention
  ) throws -> ReapPlan.Postponement? {
    // All sessions are counted only where that can matter.
    let canBeBold = count * 2 > BoldPlan.smallestTotal
    let total = canBeBold ? try days.reduce(0) { try $0 + home.sessions(day: $1).count } : count
    return BoldPlan(count: count, total: total, side: "local")
      .postponement(lived, "local", retention)
  }

  /// Takes the oldest of the rest until what stays fits.
  private func shrink(
    to limit: ByteCount?, _ plan: inout ReapPlan, _ spared: [(Decision, Timestamp)]
  ) throws {
    let reaped = plan.local.reduce(0) { $0 + $1.bytes }
    var excess = try limit.map { try home.sessionBytes() - reaped - $0 } ?? 0
    for (decision, _) in spared.sorted(by: { $0.1 < $1.1 }) {
      if excess > 0 {
        excess -= decision.bytes
        plan.local.append(decision.adding("local-max is exceeded"))
      } else {
        plan.kept.append(decision)
      }
    }
  }

  // MARK: Ages

  /// When a session ended by the wall clock; nil while it goes on or cannot be read.
  private func ending(of local: LocalSession) throws -> (Sidecar, Timestamp, ByteCount)? {
    guard let sidecar = try? Sidecar.load(local.files.sidecar) else { return nil }
    let log = try? local.openLog(sidecar.source)
    let modified = try log?.status().modified ?? sidecar.lastUpdatedAt
    guard sidecar.status != .active || context == nil else { return nil }
    if sidecar.seal == nil {
      guard let lock = try FileLock.tryExclusive(local.files.lock) else { return nil }
      withExtendedLifetime(lock) {}
    }
    return (sidecar, sidecar.endedAt ?? modified, try local.logBytes())
  }

  /// Time since a session ended and was sealed, in whole seconds; nil when that is not known.
  private func age(of sidecar: Sidecar, ended: Timestamp, _ retention: Retention) -> Duration? {
    let last = max(ended, sidecar.seal?.sealedAt ?? ended)
    guard retention.countsLivedTime else {
      let age = (now - last).inWholeSeconds
      return age >= .zero ? age : nil
    }
    return livedAge(of: sidecar, since: last)
  }

  /// Lived time since the seal where it was counted, else since a date of the wall clock.
  private func livedAge(of sidecar: Sidecar, since date: Timestamp) -> Duration? {
    let time = lived.time
    return sidecar.agesFrom.flatMap { time.age(since: $0) } ?? time.age(since: date)
  }

  private func description(of age: Duration?, ended: Timestamp, _ retention: Retention) -> String {
    let wall = (now - ended).inWholeSeconds
    let text = "ended \(Age.text(wall)) ago"
    guard let age else { return "\(text) by the clock, which it is too early to believe" }
    guard age < retention.local, wall >= retention.local else { return text }
    return "\(text) by the clock, but has aged only \(Age.text(age)) since its seal"
  }

  // MARK: Proof

  /// Whether a foreign file is certain to be gone: its folder is there, on the file system where it was.
  private static func isGone(_ source: Sidecar.Source) throws -> Bool {
    let folder = AttachedFile.folder(of: source.path)
    guard let place = try? FileStatus(folder), place.device == source.device else { return false }
    return try FileStatus(source.path).map { $0.inode != source.inode } ?? true
  }

  /// Why a session's local bytes must stay; nil when every one is proven remote, in this pass.
  private func unproven(
    _ sidecar: Sidecar, _ local: LocalSession, _ folders: FolderListings?, _ retention: Retention,
    hasUsedStore: Bool
  ) async throws -> String? {
    guard let context, let folders else {
      guard hasUsedStore else { return nil }
      return "this home has used a store, and none is configured to prove its remote copy against"
    }
    guard let seal = sidecar.seal else { return "it is not sealed yet" }
    if let source = sidecar.source, source.inode != 0, try !Self.isGone(source) {
      return "its file is still there: without this note it would be taken for a new one"
    }
    // Nobody is to have the log: its age alone decides.
    if sidecar.remoteReapedAt != nil || sidecar.withholdsLog { return nil }
    guard retention.asked != nil || isSettled(sidecar, seal) else {
      return "it was sealed less than an hour before this pass"
    }
    guard seal.store == context.store.location else {
      return "it was sent to \(seal.store), not to the configured store"
    }
    do {
      if let length = try local.openLog(sidecar.source)?.status().length, length != seal.length {
        return "its log has \(length) bytes, not the \(seal.length) that were sealed"
      }
    } catch let error as SystemError {
      return "\(error)"
    }
    let folder = SessionFolder(device: sidecar.deviceId, session: local.session)
    let remote = try await folders.session(local.session, in: folder)
    guard remote.seal?.fileName == seal.revision else { return "its seal is not there any more" }
    guard remote.holds(sidecar.objects ?? [], length: seal.length),
      remote.holds(sidecar.basis ?? [])
    else {
      return "its remote copy is not whole; 'tidemark verify --repair \(local.session)' mends it"
    }
    return nil
  }

  /// Whether a session was sealed by an earlier pass, and long enough before this one.
  private func isSettled(_ sidecar: Sidecar, _ seal: Sidecar.Seal) -> Bool {
    let age = livedAge(of: sidecar, since: seal.sealedAt) ?? .zero
    return age - (lived.time.age(since: begun) ?? .zero) >= Self.sealPause
  }

  /// Whether the home has used a store: its record says so, or a session was sealed.
  private func hasUsedStore(_ days: [String]) throws -> Bool {
    if try !UsedStores.load(home).isEmpty { return true }
    return try days.contains { day in
      try home.sessions(day: day).contains {
        (try? Sidecar.load(home.files(for: $0).sidecar))?.seal != nil
      }
    }
  }

  // MARK: Execute

  /// Carries out the local part of a plan, removes what killed processes left of the home's own files,
  /// and lets unknown ages count from now on.
  ///
  /// - Returns: one outcome a session, in the plan's order; nil where it went well.
  package func execute(
    _ plan: ReapPlan, holding lock: HomeLock
  ) -> [(decision: ReapPlan.Decision, error: (any Error)?)] {
    lock.expect(home)
    for folder in [home.path, home.rulesPath, home.quarantinePath] {
      AtomicFile.sweep(folder, now: now)
    }
    for session in plan.undated { date(session) }
    return plan.local.map { decision in
      do {
        _ = try LocalSession(home, decision.session).removeFiles()
        context?.logger.info("\(decision.session): local copy deleted")
        return (decision, nil)
      } catch {
        return (decision, error)
      }
    }
  }

  /// Notes from when on a session ages; where that fails, the next pass does it.
  private func date(_ session: SessionID) {
    let path = home.files(for: session).sidecar
    guard var sidecar = try? Sidecar.load(path) else { return }
    sidecar.agesFrom = lived.time.mark
    try? sidecar.saveForNow(path)
  }
}
