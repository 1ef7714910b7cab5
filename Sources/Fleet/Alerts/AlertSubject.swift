import LogRecords
import Platform
package import SessionLog

/// Whom or what an alert is about.
///
/// The texts come from sidecars, which anybody may have written who can write to the store: they are
/// made harmless for one line of a terminal or a message, and cut, before they are kept.
package struct AlertSubject: Sendable, Codable, Hashable {
  /// The device's id.
  package let device: String
  /// Its name for people.
  package var deviceName: String
  /// The session's id; nil for all that a device sends.
  package var session: String?
  /// The program; nil where it is not known.
  package var app: String?
  /// The program's version.
  package var version: String?
  /// The user who ran it.
  package var user: String?

  /// A device.
  package init(device: String, deviceName: String) {
    self.device = device
    self.deviceName = Self.harmless(deviceName)
  }

  /// A session.
  package init(_ sidecar: Sidecar) {
    self.init(device: sidecar.deviceId, deviceName: sidecar.deviceName)
    session = sidecar.sessionId.description
    app = Self.harmless(sidecar.appName)
    version = sidecar.appVersion.map(Self.harmless)
    user = Self.harmless(sidecar.userId)
  }

  /// Scalars that a name may have.
  private static let longestName = 128

  private static func harmless(_ text: String) -> String {
    String(oneLine: text, limit: longestName)
  }
}
