package import Platform
package import SessionLog

/// What a pass came to.
package struct UploadReport: Sendable {
  /// A session that could not be finished, and why.
  package struct Failure: Sendable {
    /// The session.
    package let session: SessionID
    /// What happened.
    package let error: any Error
  }

  /// Log bytes sent.
  package var logBytes: ByteCount = 0
  /// Bytes of the objects sent.
  package var storedBytes: ByteCount = 0
  /// Objects sent.
  package var objects = 0
  /// Sessions sealed.
  package var sealed = 0
  /// Sessions that failed by themselves; the others went on.
  package var failures: [Failure] = []
  /// What ended the pass for all sessions: the store refused us or was not to be reached.
  package var stoppedBy: (any Error)?
  /// Whether ``stoppedBy`` is what the first of the sessions failed with, none of which could be sent;
  /// then sessions of other homes may still go through.
  package var isStoppedBySessions = false
  /// Sessions of which superfluous objects could not be deleted, with the reason.
  package var leftBehind: [SessionID: String] = [:]
  /// How many sessions were to be sent anew because they were recorded under another device id, by
  /// that id.
  package var formerDevices: [String: Int] = [:]
  /// Log bytes that were still not sent when the pass ended, each with its reason.
  package var waiting: [WaitingBytes] = []
  /// Sessions that were sent as far as was planned.
  private var finished: Set<SessionID> = []
  /// Sessions left alone, with reasons.
  package var held: [UploadPlan.Held] = []

  /// An empty report.
  package init() {}

  mutating func note(_ event: UploadEvent) {
    switch event {
    case .sent(_, let log, let stored):
      logBytes += log
      storedBytes += stored
      objects += 1
    case .sealed: sealed += 1
    case .leftBehind(let session, let reason): leftBehind[session] = reason
    case .failed: break
    }
  }

  /// Notes that a session was sent as far as was planned.
  mutating func finish(_ session: SessionID) { finished.insert(session) }

  /// Says of what was to be sent, and was not, why.
  mutating func giveReasons() {
    let errors = Dictionary(failures.map { ($0.session, $0.error) }) { first, _ in first }
    waiting.removeAll { $0.reason == .turn && finished.contains($0.session) }
    waiting = waiting.map { one in
      guard one.reason == .turn, let error = errors[one.session] ?? stoppedBy else { return one }
      return WaitingBytes(session: one.session, reason: WaitReason(error), bytes: one.bytes)
    }
  }
}
