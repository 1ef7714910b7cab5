import Logging
import Platform
import SessionLog

/// Logs a pass's decision for each session, at level info.
struct PlanLog {
  let logger: Logger

  /// Logs a session that is uploaded.
  func item(_ item: UploadPlan.Item) {
    logger.info("\(item.session): \(Self.text(item))")
  }

  /// Logs a session that waits, or has nothing to send.
  func waits(_ session: SessionID, _ reason: WaitReason) {
    switch reason.kind {
    case .idle: logger.info("\(session): waits: \(reason.text)")
    case .transient, .problem: logger.warning("\(session): waits: \(reason.text)")
    }
  }

  private static func text(_ item: UploadPlan.Item) -> String {
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
    if let rest = item.rest { parts.append("the rest waits: \(rest.text)") }
    if let verdict = item.verdict { parts.append("seal as \(verdict.status.rawValue)") }
    return parts.joined(separator: "; ")
  }
}
