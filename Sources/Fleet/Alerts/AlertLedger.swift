package import Platform

/// What a pass leaves for the next one to decide with, beside the cursors.
package struct AlertLedger: Sendable, Codable, Equatable {
  /// Whoever fell silent before this time is not reported; set by the first pass.
  package var newsSince: Timestamp?
  /// Alerts by fingerprint.
  package var alerts: [String: Alert] = [:]
  /// What rates have counted, by rule and by what separates its alerts.
  package var rates: [String: [String: RateWindow]] = [:]
  /// When something of a rule was told last.
  package var toldAt: [String: Timestamp] = [:]
  /// Alerts that are not told at present.
  package var silences: [AlertSilence] = []

  /// Knows nothing.
  package init() {}
}
