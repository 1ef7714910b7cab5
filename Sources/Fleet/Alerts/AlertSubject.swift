import LogRecords
import Platform
package import SessionLog

/// The device, session or program that an alert is about.
///
/// The texts come from sidecars, which any writer of the store may have written: they are sanitized
/// for one line of a terminal or a message, and truncated, before they are kept.
package struct AlertSubject: Sendable, Codable, Hashable {
  /// The device's id.
  package let device: String
  /// Its name for people.
  package var deviceName: String
  /// The session's id; nil for all that a device sends.
  package var session: String?
  /// The program; nil if unknown.
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

  /// Maximum number of scalars of a name, and of its bytes in the file between passes.
  private static let longestName = (scalars: 128, bytes: 160)

  private static func harmless(_ text: String) -> String {
    String(storedLine: text, limit: longestName.scalars, bytes: longestName.bytes)
  }
}
