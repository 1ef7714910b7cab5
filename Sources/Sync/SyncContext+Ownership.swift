package import Replica
import SessionLog

extension SyncContext {
  /// Whether a session in the store was sent from this home, rather than by another device under the
  /// same session id.
  package func isOwn(_ session: DeviceSession) throws -> Bool {
    guard !device.ids.contains(session.device) else { return true }
    // A home that lost its device record does not know its former ids, but its sidecars do.
    let local = LocalSession(home, session.session)
    return try local.sidecar(device: device).sidecar.deviceId == session.device
  }
}
