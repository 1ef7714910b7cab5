import Foundation
package import Platform
package import SessionLog

/// The standard input of a home's command.
///
/// It contains no line of a log: local logs are not redacted.
package struct HookInput: Sendable, Encodable, Equatable {
  /// The event: `crash` or `stale`.
  package let event: String
  package let device: AlertNotification.Device
  package var session: String?
  package var app: String?
  package var version: String?
  package var user: String?
  package var cause: String?
  package var core: String?
  package var startedAt: Timestamp?
  package var endedAt: Timestamp?
  /// When something last reached the store; only for a stall.
  package var lastSuccess: Timestamp?
  /// Why nothing does; only for a stall.
  package var error: String?
  /// A command that shows more.
  package let command: String

  /// Reports that a session has crashed.
  package init(crash sidecar: Sidecar) {
    let subject = AlertSubject(sidecar)
    event = "crash"
    device = .init(id: subject.device, name: subject.deviceName)
    (session, app, version, user) = (subject.session, subject.app, subject.version, subject.user)
    cause = sidecar.cause?.description
    core = sidecar.crash?.core
    (startedAt, endedAt) = (sidecar.startedAt, sidecar.endedAt)
    command = "tidemark show \(sidecar.sessionId)"
  }

  /// Reports that nothing reaches the store.
  package init(staleSince lastSuccess: Timestamp?, _ error: String?, device: Device) {
    event = "stale"
    self.device = .init(id: device.deviceId, name: device.deviceName)
    (self.lastSuccess, self.error) = (lastSuccess, error)
    command = "tidemark status"
  }

  /// The JSON, keys sorted, and a newline.
  ///
  /// - Throws: `EncodingError`.
  package func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(self)) + [0x0a]
  }
}
