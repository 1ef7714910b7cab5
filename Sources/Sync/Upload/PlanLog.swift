import Logging
import Platform
import SessionLog

/// Why nothing, or no more, of a session is sent in this pass.
enum WaitReason: String {
  case sealed = "it is sealed"
  case nothingNew = "nothing new"
  case unfinishedLine = "its last line is not finished"
  case heldBackSecret = "its last lines may turn out to be a secret"
  case consent = "consent is 'metadata', and its metadata is sent"
  case starting = "its recorder has not opened the log yet"
  case deleted = "its files were deleted"
}

/// Logs what a pass decided of each session, at level info.
struct PlanLog {
  let logger: Logger

  /// A session that is worked on.
  ///
  /// - Parameter rest: why a part of the log stays for a later pass; nil where none does.
  func item(_ item: UploadPlan.Item, rest: WaitReason?) {
    logger.info("\(item.session): \(Self.text(item, rest: rest))")
  }

  /// A session of which nothing is to be sent.
  func waits(_ session: SessionID, _ reason: WaitReason) {
    logger.info("\(session): waits: \(reason.rawValue)")
  }

  /// A session that is left alone.
  func skips(_ held: UploadPlan.Held) {
    switch held.kind {
    case .idle: logger.info("\(held.session): waits: \(held.reason)")
    case .passing, .problem: logger.warning("\(held.session): waits: \(held.reason)")
    }
  }

  private static func text(_ item: UploadPlan.Item, rest: WaitReason?) -> String {
    var parts: [String] = []
    if let former = item.formerDevice { parts.append("recorded as device \(former), sent again") }
    if item.consent == .metadata {
      parts.append("send metadata only (consent: metadata)")
    } else if let sent = item.sent {
      let new = max(0, (item.sendableEnd ?? item.length) - sent)
      parts.append("send \(new) B from byte \(sent)")
    } else {
      parts.append("\(item.length) B of log; list the store, then send what it lacks")
    }
    if let rest { parts.append("the rest waits: \(rest.rawValue)") }
    if let verdict = item.verdict { parts.append("seal as \(verdict.status.rawValue)") }
    return parts.joined(separator: "; ")
  }
}
