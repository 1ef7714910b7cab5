import Logging
import ObjectStore
package import Platform
import Replica
package import SessionLog

/// The local side of retention: deletes sealed sessions that are old enough and proven remote.
package struct LocalReaper: Sendable {
  let home: Home
  let context: SyncContext?
  let lived: LivedClock
  let now: Timestamp
  /// The start of this pass.
  let begun: LivedTime.Mark
  /// Why age alone is not enough without a store; nil if it is.
  let unproven: String?
  /// The measure of free disk space.
  var space = FreeSpace.system

  /// Makes a reaper that proves against a store.
  package init(_ context: SyncContext) {
    (home, lived, now) = (context.home, context.lived, context.now())
    begun = context.lived.begun
    (self.context, unproven) = (context, nil)
  }

  /// Makes a reaper for a home that sends nothing: there age alone is enough, unless the home has
  /// used a store.
  ///
  /// - Parameter unproven: why the home may only appear to send nothing, for a person; then all
  ///   sessions stay. Nil if the configuration disables sending.
  package init(home: Home, lived: LivedClock, now: Timestamp, unproven: String? = nil) {
    (self.home, self.lived, self.now, self.unproven) = (home, lived, now, unproven)
    begun = lived.begun
    context = nil
  }

  /// An ended session, and how its local copy could be proven deletable.
  private struct Candidate: Sendable {
    let session: SessionID
    let ended: Timestamp
    let bytes: ByteCount
    let age: Duration?
    /// Its age, for a person.
    let text: String
    let proof: LocalProof
    /// Whether it is the unpacked copy of a file that is still there.
    let isUnpacked: Bool

    var isWithheld: Bool { if case .age(.withheld) = proof { true } else { false } }

    func removal(on evidence: Evidence, toMakeRoom why: String? = nil) -> ReapPlan.Removal {
      .init(
        session, bytes: bytes, evidence: evidence,
        reason: why.map { "\(text); \($0)" } ?? text, makesRoom: why != nil,
        keepsSidecar: isUnpacked)
    }
  }

  /// The size to which sessions are reduced, below a limit, so that new ones have room until the
  /// next pass: recorders drop records beyond the limit.
  private static func target(of limit: ByteCount) -> ByteCount { limit - limit / 8 }

  /// Plans.
  ///
  /// Reads only day folders that can contain something old enough, so that a pass with nothing due
  /// costs one directory listing; reads all if sessions exceed the retention's size limit.
  ///
  /// - Throws: ``Platform/SystemError``; ``ObjectStore/StoreError`` when the proof cannot be read.
  package func plan(_ retention: Retention) async throws -> ReapPlan {
    var plan = ReapPlan()
    let limit = now - retention.local
    let sessionBytes = try retention.localMax.map { _ in try home.sessionBytes() }
    let tooMuch = retention.localMax.map { (sessionBytes ?? 0) - Self.target(of: $0) } ?? 0
    let excess = max(tooMuch, retention.room ?? 0)
    var due: [Candidate] = []
    var spared: [Candidate] = []
    let days = try home.days()
    let prover = try LocalProver(self, retention, days)
    let (holds, time) = (Holds(home), lived.time)
    // A day in the future comes from a wrong clock.
    for day in days where excess > 0 || day <= limit.day || day > now.day {
      for session in try home.sessions(day: day) {
        let local = LocalSession(home, session)
        guard let (sidecar, ended, bytes) = try ending(of: local) else { continue }
        let age = age(of: sidecar, ended: ended, retention)
        if age == nil && retention.countsLivedTime { plan.undated.append(session) }
        let isDue = age.map { $0 >= retention.local } ?? false
        let text = description(of: age, ended: ended, retention)
        guard !holds.isHeld(session, at: time) else {
          plan.kept.append(.init(session: session, reason: "\(text); 'tidemark keep' keeps it"))
          continue
        }
        do {
          let proof = try await prover.proof(of: local, sidecar)
          let candidate = Candidate(
            session: session, ended: ended, bytes: bytes, age: age, text: text, proof: proof,
            isUnpacked: try sidecar.source.map(local.hasUnpackedCopy) ?? false)
          if isDue { due.append(candidate) } else { spared.append(candidate) }
        } catch let doubt as Doubt {
          if doubt.isCopyGone { plan.withoutCopy.insert(session) }
          guard isDue || ended <= limit else { continue }
          plan.kept.append(.init(session: session, reason: "\(text); \(doubt.reason)"))
        }
      }
    }
    plan.postponement = try postponement(of: due.count, days, retention)
    if plan.postponement != nil {
      spared += due
    } else if !due.isEmpty {
      try await due.concurrentForEach({ ($0, try await prover.evidence($0.proof, age: $0.age)) }) {
        candidate, evidence in
        switch evidence {
        case .success(let evidence): plan.local.append(candidate.removal(on: evidence))
        case .failure(let doubt):
          plan.kept.append(
            .init(session: candidate.session, reason: "\(candidate.text); \(doubt.reason)"))
        }
      }
    }
    try await shrink(by: excess, &plan, spared, prover)
    let isTight = try space.isShort(in: home.path) || isTooFull(sessionBytes, retention)
    try await planTrash(retention, isTight: isTight, &plan, prover)
    if let logger = context?.logger { plan.log(to: logger, side: "local") }
    return plan
  }

  /// Counts sessions that ended, and were sealed, longer ago than an age by the wall clock but not
  /// by the home's lived time.
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
          return now - max(ended, sidecar.seal?.sealedAt ?? ended) >= limit
            && age(of: sidecar, ended: ended, retention) ?? .zero < limit
        }
    }
  }

  private func postponement(
    of count: Int, _ days: [String], _ retention: Retention
  ) throws -> ReapPlan.Postponement? {
    // Count all sessions only if that can change the result.
    let canBeBold = count * 2 > BoldPlan.smallestTotal
    let total = canBeBold ? try days.reduce(0) { try $0 + home.sessions(day: $1).count } : count
    return BoldPlan(count: count, total: total, side: "local")
      .postponement(lived, "local", retention)
  }

  /// Plans the oldest remaining sessions for deletion until the others fit the limit.
  private func shrink(
    by excess: ByteCount, _ plan: inout ReapPlan, _ spared: [Candidate], _ prover: LocalProver
  ) async throws {
    var excess = excess - plan.local.compactMap(\.bytes).total
    let waits = plan.postponement == nil ? "" : "; put off with most others"
    for candidate in spared.sorted(by: { $0.ended < $1.ended }) {
      let isDue = candidate.age.map { $0 >= prover.retention.local } ?? false
      var reason = candidate.text + (isDue ? waits : "")
      if excess > 0 {
        switch try await prover.evidence(candidate.proof, age: nil) {
        case .success(let evidence):
          excess -= candidate.bytes
          let why = prover.retention.room == nil ? "local-max is exceeded" : "the disk is full"
          plan.local.append(candidate.removal(on: evidence, toMakeRoom: why))
          continue
        case .failure(let doubt): reason += "; \(doubt.reason)"
        }
      } else if candidate.isWithheld {
        reason += "; its log was not sent"
      }
      plan.kept.append(.init(session: candidate.session, reason: reason))
    }
  }

  /// Finds the evidence for what was in the trash long enough and, where room is wanted, for all of
  /// it: since it got there, its remote copy may have gone.
  private func planTrash(
    _ retention: Retention, isTight: Bool, _ plan: inout ReapPlan, _ prover: LocalProver
  ) async throws {
    let trash = Trash(home)
    let ages = try trash.sessions(at: lived.time.mark) { _ in }
    let (holds, time) = (Holds(home), lived.time)
    for (session, age) in ages.sorted(by: { $0.key < $1.key })
    where isTight || age >= retention.trash {
      guard !holds.isHeld(session, at: time) else { continue }
      // A move there or back that was interrupted has left it in the home.
      let path = try trash.sidecarPath(of: session) ?? home.files(for: session).sidecar
      let result: Result<Evidence, Doubt>
      if let sidecar = try? Sidecar.load(path) {
        result = try await prover.evidence(inTrash: sidecar)
      } else {
        result = .failure(Doubt("its sidecar cannot be read"))
      }
      switch result {
      case .success(let evidence): plan.trash[session] = evidence
      case .failure(let doubt):
        if doubt.isCopyGone { plan.withoutCopy.insert(session) }
        plan.kept.append(.init(session: session, reason: "in the trash; \(doubt.reason)"))
      }
    }
  }

  // MARK: Ages

  /// The end of a session by the wall clock; nil if it is open or cannot be read.
  private func ending(of local: LocalSession) throws -> (Sidecar, Timestamp, ByteCount)? {
    guard let sidecar = try? Sidecar.load(local.files.sidecar) else { return nil }
    let log = try? local.openLog(sidecar.source)
    let modified = try log?.status().modified ?? sidecar.lastUpdatedAt
    guard sidecar.status != .active || context == nil else { return nil }
    if sidecar.seal == nil {
      guard let lock = try FileLock.tryExclusive(local.files.lock) else { return nil }
      withExtendedLifetime(lock) {}
    }
    return (sidecar, sidecar.endedAt ?? modified, try local.apparentLogBytes())
  }

  /// Time since a session ended and was sealed, in whole seconds; nil if unknown.
  private func age(of sidecar: Sidecar, ended: Timestamp, _ retention: Retention) -> Duration? {
    let last = max(ended, sidecar.seal?.sealedAt ?? ended)
    guard retention.countsLivedTime else {
      let age = (now - last).inWholeSeconds
      return age >= .zero ? age : nil
    }
    return lived.age(of: sidecar, since: last)
  }

  private func description(of age: Duration?, ended: Timestamp, _ retention: Retention) -> String {
    let wall = (now - ended).inWholeSeconds
    let text = "ended \(Age.ago(wall))"
    guard let age else { return "\(text) by the clock, which it is too early to believe" }
    guard age < retention.local, wall >= retention.local else { return text }
    return "\(text) by the clock, but has aged only \(Age.text(age)) since its seal"
  }
}
