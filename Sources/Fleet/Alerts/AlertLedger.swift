package import Platform

/// What a pass leaves for the next one to decide with, beside the cursors.
package struct AlertLedger: Sendable, Codable, Equatable {
  /// When the cursors began: what was silent before then is no news.
  package var began: Timestamp?
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
