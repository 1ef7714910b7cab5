import Platform
package import SessionLog

/// A session of a device.
///
/// An id alone names no session in a store: whoever may write under one device's id can put another
/// device's session id there.
package struct DeviceSession: Sendable, Hashable {
  /// The device's id.
  package let device: String
  /// The session's id.
  package let session: SessionID

  /// Names a session of a device.
  package init(device: String, session: SessionID) {
    (self.device, self.session) = (device, session)
  }

  /// How a person names it.
  package var name: String { "\(String(oneLine: device, limit: 80))/\(session)" }
}
