import Replica
import SessionLog

/// Whether a session's log may leave.
extension LocalSession {
  /// What binds a session in a pass.
  ///
  /// One that goes on follows the configuration. One that has ended follows what was last said:
  /// whoever allows logs later does not allow that of what was over by then.
  func consent(_ sidecar: Sidecar, hasEnded: Bool, configured: Consent) throws -> Consent {
    if configured == .logs, hasEnded { return try saidConsent(sidecar) }
    return configured
  }

  /// Notes what the newest revision in the store says.
  func note(_ consent: Consent) throws {
    var note = try sentNote() ?? SentNote()
    note.consent = consent
    try write(note, isDurable: true)
  }
}
