package import Platform

/// Mutes alerts until a time.
package struct AlertSilence: Sendable, Codable, Equatable {
  /// The rule's name.
  package let alert: String
  /// Only for this device, by id or name; nil for all.
  package let device: String?
  /// When it ends, by the clock of this machine; every silence has an end.
  package let until: Timestamp
  /// The reason, for people.
  package let reason: String

  /// Makes a silence.
  package init(alert: String, device: String?, until: Timestamp, reason: String) {
    (self.alert, self.device, self.until, self.reason) = (alert, device, until, reason)
  }

  /// Whether it mutes an alert at a time.
  package func covers(_ rule: String, _ subject: AlertSubject, at now: Timestamp) -> Bool {
    now < until && alert == rule
      && (device.map { $0 == subject.device || $0 == subject.deviceName } ?? true)
  }
}
