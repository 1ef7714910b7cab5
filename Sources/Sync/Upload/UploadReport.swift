package import Platform
package import SessionLog

/// The result of a pass.
package struct UploadReport: Sendable {
  /// A session that could not be finished, and why.
  package struct Failure: Sendable {
    /// The session.
    package let session: SessionID
    /// The error.
    package let error: any Error
  }

  /// Log bytes sent.
  package var logBytes: ByteCount = 0
  /// Bytes of the objects sent.
  package var storedBytes: ByteCount = 0
  /// Objects sent.
  package var objects = 0
  /// Sessions sealed.
  package private(set) var sealedSessions: Set<SessionID> = []
  /// Number of sessions sealed.
  package var sealed: Int { sealedSessions.count }
  /// Sessions that failed individually; the others continued.
  package var failures: [Failure] = []
  /// The error that ended the pass for all sessions: the store refused us or was unreachable.
  package var stoppedBy: (any Error)?
  /// Whether ``stoppedBy`` is the failure of the first session and no session could be sent;
  /// sessions of other homes may still succeed.
  package var isStoppedBySessions = false
  /// Sessions with superseded objects that could not be deleted, with the reason.
  package var supersededLeft: [SessionID: String] = [:]
  /// Sessions that were sealed as they had been sent, or as they are left, with what became of the
  /// rest.
  package var sealedAsSent: [SessionID: String] = [:]
  /// Number of sessions to send again because they were recorded under another device id, by that
  /// id.
  package var formerDevices: [String: Int] = [:]
  /// Log bytes unsent at the end of the pass, each with the reason.
  package var waiting: [WaitingBytes] = []
  /// Sessions that were sent as far as planned.
  private var finished: Set<SessionID> = []
  /// Log bytes left to later passes, by session, because the time of this one was over.
  package private(set) var leftToNextPass: [SessionID: ByteCount] = [:]
  /// Skipped sessions with the reasons.
  package var skipped: [UploadPlan.Skipped] = []

  /// Whether the next pass may continue at once.
  package var isCutShort: Bool { stoppedBy == nil && !leftToNextPass.isEmpty }

  /// Whether a session was sent as far as planned.
  package func hasFinished(_ session: SessionID) -> Bool {
    finished.contains(session) && leftToNextPass[session] == nil
  }

  /// An empty report.
  package init() {}

  /// A report of a plan of which nothing has been sent.
  init(of plan: UploadPlan) {
    (skipped, formerDevices, waiting) = (plan.skipped, plan.formerDevices, plan.waiting)
  }

  mutating func record(_ event: UploadEvent) {
    switch event {
    case .sent(_, let log, let stored):
      logBytes += log
      storedBytes += stored
      objects += 1
    case .sealed(let session, _, _): sealedSessions.insert(session)
    case .supersededLeft(let session, let reason): supersededLeft[session] = reason
    case .sealedAsSent(let session, let reason): sealedAsSent[session] = reason
    case .leftToNextPass(let session, let rest): leftToNextPass[session] = rest
    case .failed: break
    }
  }

  /// Records that a session was sent as far as planned.
  mutating func finish(_ session: SessionID) { finished.insert(session) }

  /// Adds the results of an earlier attempt of the same pass.
  package mutating func precede(by first: UploadReport) {
    logBytes += first.logBytes
    storedBytes += first.storedBytes
    objects += first.objects
    sealedSessions.formUnion(first.sealedSessions)
  }

  /// The results of both this pass and another one that followed at once to clean up.
  package func followed(by next: UploadReport) -> UploadReport {
    var both = self
    both.logBytes += next.logBytes
    both.storedBytes += next.storedBytes
    both.objects += next.objects
    both.sealedSessions.formUnion(next.sealedSessions)
    both.failures += next.failures
    both.stoppedBy = next.stoppedBy
    both.supersededLeft.merge(next.supersededLeft) { _, last in last }
    both.sealedAsSent.merge(next.sealedAsSent) { _, last in last }
    return both
  }

  /// Gives a reason for everything planned but not sent.
  mutating func giveReasons() {
    let errors = Dictionary(failures.map { ($0.session, $0.error) }) { first, _ in first }
    waiting.removeAll {
      $0.reason == .nextUpload
        && (finished.contains($0.session) || leftToNextPass[$0.session] != nil)
    }
    for (session, rest) in leftToNextPass where rest > 0 {
      waiting.append(WaitingBytes(session: session, reason: .nextUpload, bytes: rest))
    }
    waiting = waiting.map { one in
      guard one.reason == .nextUpload, leftToNextPass[one.session] == nil,
        let error = errors[one.session] ?? stoppedBy
      else { return one }
      return WaitingBytes(session: one.session, reason: WaitReason(error), bytes: one.bytes)
    }
  }
}
