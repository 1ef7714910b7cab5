/// What a sidecar says where its log does not leave the machine.
extension Sidecar {
  /// The form that leaves the machine where the log does not: without what was taken from the log's
  /// text, and without the places of files.
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

  /// Whether the log does not leave the machine, or not beyond what the store has of it.
  public var withholdsLog: Bool { consent == .metadata }
}
