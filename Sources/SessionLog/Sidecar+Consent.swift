/// The sidecar of a session whose log is not sent.
extension Sidecar {
  /// The form that is sent without the log: without text taken from the log, and without file
  /// paths.
  public var metadataForm: Sidecar {
    var copy = remoteForm
    copy.consent = .metadata
    copy.fileName = "\(sessionId).log"
    copy.scenarios = []
    copy.categories = []
    copy.crash = nil
    copy.digest = nil
    copy.redacted = nil
    return copy
  }

  /// Whether the log is not sent, or not beyond the part that the store has.
  public var withholdsLog: Bool { consent == .metadata }
}
