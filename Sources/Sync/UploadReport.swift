public import SessionLog

/// What a pass came to.
public struct UploadReport: Sendable {
  /// A session that could not be finished, and why.
  public struct Failure: Sendable {
    /// The session.
    public let session: SessionID
    /// What happened.
    public let error: any Error
  }

  /// Log bytes sent.
  public var logBytes: Int64 = 0
  /// Bytes of the objects sent.
  public var storedBytes: Int64 = 0
  /// Objects sent.
  public var objects = 0
  /// Sessions sealed.
  public var sealed = 0
  /// Sessions that failed by themselves; the others went on.
  public var failures: [Failure] = []
  /// What ended the pass for all sessions: the store refused us or was not to be reached.
  public var stoppedBy: (any Error)?
  /// Sessions of which superfluous objects could not be deleted, with the reason.
  public var leftBehind: [SessionID: String] = [:]
  /// How many sessions were to be sent anew because they were recorded under another device id, by
  /// that id.
  public var formerDevices: [String: Int] = [:]
  /// Sessions left alone, with reasons.
  public var held: [UploadPlan.Held] = []

  /// An empty report.
  public init() {}

  mutating func note(_ event: UploadEvent) {
    switch event {
    case .sent(_, let log, let stored):
      logBytes += log
      storedBytes += Int64(stored)
      objects += 1
    case .sealed: sealed += 1
    case .leftBehind(let session, let reason): leftBehind[session] = reason
    case .failed: break
    }
  }
}
