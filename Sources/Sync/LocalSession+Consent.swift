import SessionLog

/// Whether a session's log may leave.
extension LocalSession {
  /// What was last said of the log's leaving: in the store, else by whoever began the session.
  func saidConsent(_ sidecar: Sidecar) throws -> Consent {
    let noted = sidecar.seal == nil ? try sentNote()?.consent : nil
    return noted ?? sidecar.consent ?? .logs
  }

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
