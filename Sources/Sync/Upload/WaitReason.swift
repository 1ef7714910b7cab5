import ObjectStore
package import Platform
import Replica
package import SessionLog

/// Why bytes of a log, or a whole session, have not been sent: each unsent byte has exactly one
/// reason.
package enum WaitReason: Hashable, Sendable {
  /// The next upload sends them.
  case nextUpload
  /// An attempt failed, probably transiently; the detail gives the failure and the time of the next
  /// attempt.
  case backoff(String)
  /// The store refused them, or the two copies contradict each other.
  case refused(String)
  /// The configured store does not exist.
  case storeMissing(String)
  /// The pass reached its request limit.
  case budget
  /// The last line is unfinished.
  case unfinishedLine
  /// The last lines may be the start of text that the rules mask.
  case heldBackSecret
  /// The consent allows metadata only.
  case consent
  /// The sidecar that said whether the log may be sent is lost, and nothing else says so.
  case consentUnknown(String)
  /// No store is configured.
  case disabled
  /// The remote copy was deleted on request.
  case withdrawn
  /// The log, or a file beside it, cannot be read.
  case unreadable(String)
  /// The log at this path is gone.
  case logGone(String)
  /// The foreign file at this path is currently missing.
  case fileAbsent(String)
  /// The recorder has not opened the log yet.
  case starting
  /// Nothing is unsent: the session is sealed.
  case sealed
  /// Nothing is unsent: the log has not grown.
  case nothingNew
  /// Nothing is unsent: the session's files were deleted.
  case deleted

  /// The reason for a store that is not tried after a failure.
  static func store(_ error: StoreError, until next: Timestamp) -> WaitReason {
    let text = "tried again after \(next): \(error)"
    return switch error.code {
    case .configuration: .storeMissing(text)
    case .authentication, .full: .refused(text)
    default: .backoff(text)
    }
  }

  /// The reason that corresponds to an error.
  init(_ error: any Error) {
    let text = "\(error)"
    self =
      switch error {
      case let error as StoreError where error.code == .exhausted: .budget
      case let error as StoreError where error.code == .configuration: .storeMissing(text)
      case let error as StoreError where error.isTransient: .backoff(text)
      case let error as ReplicaError where error.code == .unknownConsent: .consentUnknown(text)
      case is SystemError: .unreadable(text)
      default: .refused(text)
      }
  }

  /// A stable code for programs.
  package var code: String {
    switch self {
    case .nextUpload: "turn"
    case .backoff: "backoff"
    case .refused: "refused"
    case .storeMissing: "store-missing"
    case .budget: "budget"
    case .unfinishedLine: "unfinished-line"
    case .heldBackSecret: "held-back-secret"
    case .consent: "consent"
    case .consentUnknown: "consent-unknown"
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

  /// The reason for one session, for a person.
  package var text: String {
    switch self {
    case .nextUpload: "the next upload sends it"
    case .backoff(let detail), .refused(let detail), .unreadable(let detail): detail
    case .storeMissing(let detail), .consentUnknown(let detail): detail
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

  /// The reason for all sessions that share it, for a person.
  package var summary: String {
    switch self {
    case .nextUpload: "waiting for the next upload"
    case .backoff: "waiting for the next attempt after a failure"
    case .refused: "rejected by the store, or in conflict with it"
    case .storeMissing: "the store is missing, or cannot be written to"
    case .budget: "the requests of one upload are used up"
    case .unfinishedLine: "the last line is not finished"
    case .heldBackSecret: "held back: may turn out to be a secret"
    case .consent: "withheld: consent is not 'logs'"
    case .consentUnknown: "the lost sidecar said whether it may be sent"
    case .disabled: "no store is configured"
    case .withdrawn: "withdrawn with 'tidemark delete --remote'"
    case .unreadable: "cannot be read"
    case .logGone: "the local log is gone"
    case .fileAbsent: "the file is not there at present"
    case .starting: "the recorder is starting"
    case .sealed, .nothingNew, .deleted: text
    }
  }

  /// The command, or the event, that ends the wait.
  package var remedy: String {
    switch self {
    case .nextUpload: "tidemark upload"
    case .backoff: "tidemark upload --now"
    case .refused: "tidemark retry, once the cause in 'tidemark status' is mended"
    case .storeMissing:
      "mount the store, or fix its permissions; or tidemark init URL, --restore-marker if it was in use before"
    case .budget: "the next upload; or raise max-requests"
    case .unfinishedLine: "the end of the line, or a minute without growth"
    case .heldBackSecret: "the next lines, or the end of the session"
    case .consent:
      "consent: logs in the configuration; after 'metadata' only for sessions still running"
    case .disabled: "tidemark init URL"
    case .consentUnknown: "tidemark retry ID, or tidemark delete ID"
    case .withdrawn: "tidemark retry ID"
    case .unreadable: "read permission, or 'exclude' in 'sources'; then tidemark upload"
    case .logGone: "tidemark delete ID"
    case .fileAbsent: "the next upload once the file is back; or its removal from 'sources'"
    case .starting: "the next upload"
    case .sealed, .nothingNew, .deleted: "nothing"
    }
  }

  /// The consequence of the wait.
  package var kind: Kind {
    switch self {
    case .backoff, .budget: .transient
    case .refused, .storeMissing, .unreadable, .logGone, .consentUnknown: .problem
    default: .idle
    }
  }

  /// The consequence of a wait.
  package enum Kind: Sendable {
    /// No action: it is not to be sent, or not yet.
    case idle
    /// A failure that is likely to be transient.
    case transient
    /// A problem that requires a person.
    case problem
  }
}

/// Bytes of one session that wait for one reason.
package struct WaitingBytes: Sendable {
  /// The session.
  package let session: SessionID
  /// The reason.
  package let reason: WaitReason
  /// Number of log bytes; 0 if none are known to wait.
  package let bytes: ByteCount
}

/// The sum of bytes that wait for the same reason.
package struct WaitingSum: Sendable {
  /// The reason; details are those of one of the sessions.
  package let reason: WaitReason
  /// Number of log bytes.
  package var bytes: ByteCount = 0
  /// Number of sessions.
  package var sessions = 0

  /// Sums by reason, most bytes first.
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
