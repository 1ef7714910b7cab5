/// The data that may be sent from this machine.
public enum Consent: String, Sendable, Codable {
  /// Nothing.
  case none
  /// Sidecar revisions: who, where, when, and how it ended; no text of a log.
  case metadata
  /// Logs too, redacted.
  case logs
}
