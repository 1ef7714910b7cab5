import ObjectStore
package import Platform
package import Replica
package import SessionLog
package import Sync

/// Reads sessions back from the store, remembers which are damaged, and repairs them.
package struct VerificationPass: Sendable {
  /// A session to verify.
  package struct Candidate: Sendable {
    /// The session.
    package let session: SessionID
    /// The id of the device that recorded it.
    package let device: String
    /// Its objects in the store; nil if there are none.
    package let remote: RemoteSession?
    /// Whether its remote copy was deleted on purpose.
    package let isReaped: Bool
    /// The session, and the device under whose id it is in the store.
    package var deviceSession: DeviceSession {
      remote?.deviceSession ?? DeviceSession(device: device, session: session)
    }

    /// Describes a session.
    package init(_ session: SessionID, of device: String, remote: RemoteSession?, isReaped: Bool) {
      (self.session, self.device) = (session, device)
      (self.remote, self.isReaped) = (remote, isReaped)
    }
  }

  /// The result for one session.
  package struct Finding: Sendable, Encodable {
    /// What became of it.
    package enum Result: String, Sendable, Encodable { case ok, withheld, reaped, failed, repaired }

    /// The session.
    package let session: SessionID
    /// What became of it.
    package private(set) var result: Result
    /// Stream bytes compared.
    package let bytes: ByteCount?
    /// Whether a local log was compared as well.
    package let comparedLocally: Bool?
    /// Last bytes of the stream that only the store has; nil if there are none.
    package let lostLocally: ByteCount?
    /// Last bytes of the local log that wait for an upload; nil if there are none.
    package let waiting: ByteCount?
    /// The problem; nil if there is none.
    package let problem: String?
    /// The id of its device, if several devices' sessions with this id were verified.
    package fileprivate(set) var deviceId: String?

    /// Describes a result.
    package init(
      session: SessionID, result: Result, bytes: ByteCount? = nil, comparedLocally: Bool? = nil,
      lostLocally: ByteCount? = nil, waiting: ByteCount? = nil, problem: String? = nil
    ) {
      (self.session, self.result, self.bytes) = (session, result, bytes)
      self.comparedLocally = comparedLocally
      (self.lostLocally, self.waiting, self.problem) = (lostLocally, waiting, problem)
    }

    /// The same session, of which the store had more.
    fileprivate var withoutSeal: Finding {
      Finding(
        session: session, result: .failed, bytes: bytes, comparedLocally: comparedLocally,
        lostLocally: lostLocally, waiting: waiting,
        problem: "the store has lost its seal, and perhaps its end: 'tidemark status' says what is "
          + "left on this machine")
    }

    /// The same session, found whole after a repair.
    fileprivate var repaired: Finding {
      var finding = self
      finding.result = .repaired
      return finding
    }
  }

  private let context: SyncContext
  private let isDeep: Bool
  private let retention: Duration

  /// Makes a pass.
  ///
  /// - Parameters:
  ///   - context: the home and its store.
  ///   - isDeep: whether to read whole objects even if deltas copy only parts of them; those of sessions
  ///     that are known as damaged are read in any case.
  ///   - retention: how long sessions are kept in the store.
  package init(_ context: SyncContext, deeply isDeep: Bool, retention: Duration) {
    (self.context, self.isDeep, self.retention) = (context, isDeep, retention)
  }

  /// Verifies sessions.
  ///
  /// - Parameters:
  ///   - candidates: the sessions.
  ///   - begin: called before each of them, with its index.
  ///   - report: called with each result.
  /// - Returns: those in which something is wrong.
  /// - Throws: errors of the store and of the local files, and of `report`.
  package func run(
    _ candidates: [Candidate], begin: (Int) -> Void, report: (Finding) throws -> Void
  ) async throws -> [DeviceSession] {
    let damaged = DamagedCopies(of: context)
    let known = Set(damaged.copies.map(\.session))
    let vanished = Set(VanishedCopies(of: context).copies.map(\.session))
    var own: [Finding] = []
    var broken: [DeviceSession] = []
    let counts = Dictionary(grouping: candidates, by: \.session).mapValues(\.count)
    for (index, candidate) in candidates.enumerated() {
      begin(index)
      // What only a deep verification found must not be forgotten by one that does not look there.
      var finding = try await verify(
        candidate, deeply: isDeep || known.contains(candidate.session))
      // What is left of it may be whole in itself.
      if finding.result == .ok, candidate.remote?.seal == nil,
        vanished.contains(candidate.session)
      {
        finding = finding.withoutSeal
      }
      if counts[candidate.session] ?? 1 > 1 { finding.deviceId = candidate.deviceSession.device }
      if finding.result == .failed { broken.append(candidate.deviceSession) }
      if context.device.ids.contains(candidate.device) { own.append(finding) }
      try report(finding)
    }
    try remember(own)
    return broken
  }

  /// Expects the store that this home uses: damage is repaired in no other.
  ///
  /// - Throws: as ``Replica/FormatMarker/check(_:isUsed:create:)`` does.
  package func expectUsedStore() async throws {
    let isUsed = try UsedStores.load(context.home).contains(context.store.location)
    try await FormatMarker.check(context.store, isUsed: isUsed, create: false)
  }

  /// Sends sessions again, and verifies those that could be.
  ///
  /// - Parameters:
  ///   - broken: the sessions in which something is wrong.
  ///   - lock: the home's lock.
  ///   - lookUp: finds sessions in the store as it is then.
  ///   - refused: called with each session that cannot be sent again, or not with everything that it
  ///     had, and the reason.
  ///   - sent: called with what was sent, if anything could be.
  ///   - report: called with the result of each session that was sent.
  /// - Returns: those in which something is still wrong.
  /// - Throws: errors of the store and of the local files, and of `lookUp` and `report`.
  package func repair(
    _ broken: [DeviceSession], holding lock: HomeLock,
    lookUp: ([SessionID]) async throws -> [Candidate],
    refused: (SessionID, String) -> Void, sent: (UploadReport) -> Void,
    report: (Finding) throws -> Void
  ) async throws -> [DeviceSession] {
    // The local log of a session with the same id cannot repair another device's.
    let own = try broken.filter { try context.isOwn($0) }
    let foreign = Set(broken).subtracting(own)
    for session in broken where foreign.contains(session) {
      refused(session.session, "no local log to re-send: device \(session.device) sent it")
    }
    var left: Set<SessionID> = []
    var shortened: Set<SessionID> = []
    let sessions = own.map(\.session)
    let upload = try await Repair(context).run(sessions, holding: lock) { session, reason in
      refused(session, reason)
      left.insert(session)
    } givenUp: { session, what in
      refused(session, what)
      shortened.insert(session)
    }
    for failure in upload.failures { refused(failure.session, "\(failure.error)") }
    if let error = upload.stoppedBy { throw error }
    let again = sessions.filter { !left.contains($0) }
    guard !again.isEmpty else { return broken }
    sent(upload)
    var findings: [Finding] = []
    for candidate in try await lookUp(again) {
      var finding = try await verify(candidate, deeply: true)
      if finding.result == .failed { left.insert(candidate.session) }
      if finding.result == .ok { finding = finding.repaired }
      findings.append(finding)
      try report(finding)
    }
    try remember(findings)
    left.formUnion(shortened)
    return broken.filter { foreign.contains($0) || left.contains($0.session) }
  }

  private func verify(_ candidate: Candidate, deeply isDeep: Bool) async throws -> Finding {
    let session = candidate.session
    guard let remote = candidate.remote else {
      if candidate.isReaped { return Finding(session: session, result: .reaped) }
      return Finding(
        session: session, result: .failed, problem: "nothing of it is in the store")
    }
    let found = try await Verifier(context).verify(remote, deeply: isDeep)
    return Finding(
      session: session,
      result: found.problem != nil ? .failed : found.isLogWithheld ? .withheld : .ok,
      bytes: found.bytes, comparedLocally: found.comparedLocally,
      lostLocally: found.lostLocally > 0 ? found.lostLocally : nil,
      waiting: found.waiting > 0 ? found.waiting : nil, problem: found.problem)
  }

  /// Records for 'tidemark status' what is wrong with this home's sessions.
  private func remember(_ findings: [Finding]) throws {
    var damaged = DamagedCopies(of: context)
    let results = findings.map { finding in
      DamagedCopies.Result(
        finding.session,
        problem: finding.result == .failed ? finding.problem ?? "damaged" : nil)
    }
    try damaged.record(results, keptFor: retention, at: context.now())
  }
}
