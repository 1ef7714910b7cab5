/// What may leave this machine.
public enum Consent: String, Sendable, Codable {
  /// Nothing.
  case none
  /// Sidecar revisions: who, where, when, what became of it; nothing that stands in a log.
  case metadata
  /// Logs too, redacted.
  case logs
}
