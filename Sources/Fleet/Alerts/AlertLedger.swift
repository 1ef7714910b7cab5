package import Platform

/// The state of alerts between passes, beside the cursors; times are the server's, except the ends of
/// silences.
package struct AlertLedger: Sendable, Codable, Equatable {
  /// Silences that began before this time are not reported; set by the first pass.
  package var newsSince: ServerTime?
  /// Alerts by fingerprint.
  package var alerts: [String: Alert] = [:]
  /// Counts of rates, by rule and by the key of its alerts.
  package var rates: [String: [String: RateWindow]] = [:]
  /// Time of a rule's last message.
  package var toldAt: [String: ServerTime] = [:]
  /// Alerts that are muted at present.
  package var silences: [AlertSilence] = []

  /// An empty ledger.
  package init() {}
}
