import ObjectStore
package import Platform
package import SessionLog

/// Why bytes of a log have not been sent, or nothing of a session is: each unsent byte has exactly one
/// reason.
package enum WaitReason: Hashable, Sendable {
  /// The next upload sends them.
  case turn
  /// An attempt failed in a way that is likely to go away by itself; the detail says when it is
  /// repeated, and what failed.
  case backoff(String)
  /// The store refused them, or the two copies contradict each other.
  case refused(String)
  /// The store as configured is not there.
  case storeMissing(String)
  /// The requests that one pass may send were sent.
  case budget
  /// The last line has no end yet.
  case unfinishedLine
  /// The last lines may be the beginning of something that the rules mask.
  case heldBackSecret
  /// Only metadata may leave.
  case consent
  /// No store is configured.
  case disabled
  /// The remote copy was deleted on request.
  case withdrawn
  /// The log, or a file beside it, cannot be read.
  case unreadable(String)
  /// The log at this path is gone.
  case logGone(String)
  /// The foreign file at this path is not there at present.
  case fileAbsent(String)
  /// The recorder has not opened the log yet.
  case starting
  /// Nothing is unsent: the session is sealed.
  case sealed
  /// Nothing is unsent: the log has not grown.
  case nothingNew
  /// Nothing is unsent: the session's files were deleted.
  case deleted

  /// That the store is left alone after it failed.
  static func store(_ error: StoreError, until next: Timestamp) -> WaitReason {
    let text = "tried again after \(next): \(error)"
    return switch error.code {
    case .configuration: .storeMissing(text)
    case .authentication, .full: .refused(text)
    default: .backoff(text)
    }
  }

  /// What an error lets a session wait for.
  init(_ error: any Error) {
    let text = "\(error)"
    self =
      switch error {
      case let error as StoreError where error.code == .exhausted: .budget
      case let error as StoreError where error.code == .configuration: .storeMissing(text)
      case let error as StoreError where error.isTransient: .backoff(text)
      case is SystemError: .unreadable(text)
      default: .refused(text)
      }
  }

  /// A stable word for programs.
  package var code: String {
    switch self {
    case .turn: "turn"
    case .backoff: "backoff"
    case .refused: "refused"
    case .storeMissing: "store-missing"
    case .budget: "budget"
    case .unfinishedLine: "unfinished-line"
    case .heldBackSecret: "held-back-secret"
    case .consent: "consent"
    case .disabled: "disabled"
    case .withdrawn: "withdrawn"
    case .unreadable: "unreadable"
    case .logGone: "log-gone"
    case .fileAbsent: "file-absent"
    case .starting: "starting"
    case .sealed: "sealed"
    case .nothingNew: "nothing-new"
    case .deleted: "deleted"
    }
  }

  /// For a person, of one session.
  package var text: String {
    switch self {
    case .turn: "the next upload sends it"
    case .backoff(let detail), .refused(let detail), .unreadable(let detail): detail
    case .storeMissing(let detail): detail
    case .budget: "this upload has sent as many requests as it may"
    case .unfinishedLine: "its last line is not finished"
    case .heldBackSecret: "its last lines may turn out to be a secret"
    case .consent: "consent is 'metadata', and its metadata is sent"
    case .disabled: "no store is configured"
    case .withdrawn: "its remote copy was deleted with 'tidemark delete --remote'"
    case .logGone(let path): "its log \(path) is gone"
    case .fileAbsent(let path): "its file \(path) is not there at present"
    case .starting: "its recorder has not opened the log yet"
    case .sealed: "it is sealed"
    case .nothingNew: "nothing new"
    case .deleted: "its files were deleted"
    }
  }

  /// What it comes to, for a person, of all sessions that wait for the same.
  package var summary: String {
    switch self {
    case .turn: "waiting for the next upload"
    case .backoff: "waiting for the next attempt after a failure"
    case .refused: "refused, or contradicting what the store has"
    case .storeMissing: "the store is missing"
    case .budget: "the requests of one upload are used up"
    case .unfinishedLine: "the last line is not finished"
    case .heldBackSecret: "held back: may turn out to be a secret"
    case .consent: "withheld: consent is not 'logs'"
    case .disabled: "no store is configured"
    case .withdrawn: "withdrawn with 'tidemark delete --remote'"
    case .unreadable: "cannot be read"
    case .logGone: "the local log is gone"
    case .fileAbsent: "the file is not there at present"
    case .starting: "the recorder is starting"
    case .sealed, .nothingNew, .deleted: text
    }
  }

  /// The command, or the event, that ends it.
  package var remedy: String {
    switch self {
    case .turn: "tidemark upload"
    case .backoff: "tidemark upload --now"
    case .refused: "tidemark retry, once the cause in 'tidemark status' is mended"
    case .storeMissing: "mount the store, or tidemark init URL"
    case .budget: "the next upload; or raise max-requests"
    case .unfinishedLine: "the end of the line, or a minute without growth"
    case .heldBackSecret: "the next lines, or the end of the session"
    case .consent: "consent: logs in the configuration; not for sessions that have ended"
    case .disabled: "tidemark init URL"
    case .withdrawn: "tidemark retry ID"
    case .unreadable: "read permission for the file, then tidemark upload"
    case .logGone: "tidemark delete ID"
    case .fileAbsent: "the next upload once the file is back; or its removal from 'sources'"
    case .starting: "the next upload"
    case .sealed, .nothingNew, .deleted: "nothing"
    }
  }

  /// What it means that a session is left alone.
  package var kind: Kind {
    switch self {
    case .backoff, .budget: .passing
    case .refused, .storeMissing, .unreadable, .logGone: .problem
    default: .idle
    }
  }

  /// What it means that a session is left alone.
  package enum Kind: Sendable {
    /// Nothing: it is not for this device to send, or not yet.
    case idle
    /// A failure that is likely to go away by itself.
    case passing
    /// Somebody has to do something about it.
    case problem
  }
}

/// Bytes of one session that wait for one reason.
package struct WaitingBytes: Sendable {
  /// The session.
  package let session: SessionID
  /// Why.
  package let reason: WaitReason
  /// How many log bytes; 0 where none are known to wait.
  package let bytes: ByteCount
}

/// Bytes that wait for the same reason.
package struct WaitingSum: Sendable {
  /// Why; details are those of one of the sessions.
  package let reason: WaitReason
  /// Log bytes.
  package var bytes: ByteCount = 0
  /// Sessions.
  package var sessions = 0

  /// Adds up, most bytes first.
  package static func sums(of waiting: [WaitingBytes]) -> [WaitingSum] {
    var sums: [String: WaitingSum] = [:]
    for one in waiting {
      var sum = sums[one.reason.code] ?? WaitingSum(reason: one.reason)
      sum.bytes += one.bytes
      sum.sessions += 1
      sums[one.reason.code] = sum
    }
    return sums.values.sorted { ($1.bytes, $0.reason.code) < ($0.bytes, $1.reason.code) }
  }
}
