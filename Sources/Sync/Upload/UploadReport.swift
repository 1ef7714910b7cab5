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
  /// Sessions of which superfluous objects could not be deleted, with the reason.
  package var leftBehind: [SessionID: String] = [:]
  /// How many sessions were to be sent anew because they were recorded under another device id, by
  /// that id.
  package var formerDevices: [String: Int] = [:]
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
}
